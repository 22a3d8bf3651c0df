/* Views of a profile as text and as CSV, and views in memory. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "views_private.h"

const struct view view_text = {.name = "text", .write = aggstats_profile_write};

/* Beyond this a double has not all digits, and some readers take no larger integers. */
#define WHOLE_MAX 0x1p53

void format_real(double value, char ret_text[REAL_TEXT_SIZE]) {
    if (value == floor(value) && fabs(value) <= WHOLE_MAX) {
        snprintf(ret_text, REAL_TEXT_SIZE, "%.0f", value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) { /* 15 are always exact, and 17 always enough */
        snprintf(ret_text, REAL_TEXT_SIZE, "%.*g", digits, value);
        if (strtod(ret_text, NULL) == value)
            return;
    }
}

int view_finish(FILE *stream) {
    return fflush(stream) != 0 || ferror(stream) ? negative_errno() : 0;
}

/* Closes a memory stream and takes its text. error: of writing. text, size_bytes: set by closing */
static int finish_text(FILE *stream, int error, char **text, const size_t *size_bytes, char **ret_text,
                       size_t *ret_size_bytes) {
    if (fclose(stream) != 0 && error == 0)
        error = negative_errno();
    if (error < 0)
        return error;
    *ret_text = steal_pointer(text);
    *ret_size_bytes = *size_bytes;
    return 0;
}

int view_format(const struct view *view, const struct aggstats_profile *profile, char **ret_text,
                size_t *ret_size_bytes) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    FILE *stream = open_memstream(&text, &size_bytes);
    if (!stream)
        return negative_errno();
    return finish_text(stream, view->write(profile, stream), &text, &size_bytes, ret_text, ret_size_bytes);
}

int view_format_all(const struct view *view, const struct view_target *targets, size_t count, char **ret_text,
                    size_t *ret_size_bytes) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    FILE *stream = open_memstream(&text, &size_bytes);
    if (!stream)
        return negative_errno();
    return finish_text(stream, view->write_all(targets, count, stream), &text, &size_bytes, ret_text, ret_size_bytes);
}

/* ---- CSV: RFC 4180, but with plain newlines; a row per operation and non-empty bucket ---- */

static void write_text(FILE *stream, const char *text) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, stream);
        return;
    }
    putc('"', stream);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', stream);
        putc(*text, stream);
    }
    putc('"', stream);
}

static void write_real(FILE *stream, double value) {
    char text[REAL_TEXT_SIZE];
    format_real(value, text);
    fprintf(stream, ",%s", text);
}

/* If the clock's rate is unknown the cells of seconds are empty, so that all others stay in their columns. */
static void write_row(const struct aggstats_profile *profile, const struct aggstats_op_profile *op, unsigned bucket,
                      FILE *stream) {
    double lower_cycles = view_bucket_lower(profile, bucket);
    double upper_cycles = aggstats_bucket_upper(bucket, profile->resolution);
    write_text(stream, op->name);
    fprintf(stream, ",%u", bucket);
    write_real(stream, lower_cycles);
    write_real(stream, upper_cycles);
    if (view_has_seconds(profile)) {
        write_real(stream, view_seconds(profile, lower_cycles));
        write_real(stream, view_seconds(profile, upper_cycles));
    } else {
        fputs(",,", stream);
    }
    fprintf(stream, ",%" PRIu64 "\n", op->buckets[bucket]);
}

static int write_csv(const struct aggstats_profile *profile, FILE *stream) {
    if (!aggstats_resolution_valid(profile->resolution))
        return -EINVAL;
    errno = 0;
    fputs("op,bucket,lower_cycles,upper_cycles,lower_seconds,upper_seconds,count\n", stream);
    for (size_t i = 0; i < profile->op_count; i++) {
        for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++) {
            if (profile->ops[i].buckets[bucket] > 0)
                write_row(profile, &profile->ops[i], bucket, stream);
        }
    }
    return view_finish(stream);
}

const struct view view_csv = {.name = "csv", .write = write_csv};
