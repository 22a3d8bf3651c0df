/* A profile as CSV (RFC 4180, but with plain newlines): a row per operation and non-empty bucket. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "values.h"
#include "views_private.h"

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

/* Two cells, empty if the clock's rate is unknown, so that all others stay in their columns. */
static void write_seconds(const struct aggstats_profile *profile, double lower_cycles, double upper_cycles,
                          FILE *stream) {
    if (!view_has_seconds(profile)) {
        fputs(",,", stream);
        return;
    }
    write_real(stream, view_seconds(profile, lower_cycles));
    write_real(stream, view_seconds(profile, upper_cycles));
}

static void write_row(const struct aggstats_profile *profile, const struct aggstats_op_profile *op, unsigned bucket,
                      FILE *stream) {
    double lower_cycles = view_bucket_lower(profile, bucket);
    double upper_cycles = aggstats_bucket_upper(bucket, profile->resolution);
    write_text(stream, op->name);
    fprintf(stream, ",%u", bucket);
    write_real(stream, lower_cycles);
    write_real(stream, upper_cycles);
    write_seconds(profile, lower_cycles, upper_cycles, stream);
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
