/* osprof import: turns histograms of bpftrace and the tools of bcc into a profile, so that what they measure of other
 * layers can be shown, compared and merged like our profiles (layered profiling, thesis §3.1.4). */
#include <string.h>

#include "base.h"
#include "command.h"
#include "imported_parse.h"
#include "imported_profile.h"
#include "option_table.h"
#include "output.h"

#define ABSURD_DAYS 7 /* a call that takes longer is no call, but a wrong unit */

struct import_options {
    struct imported_options imported;
    const char *output; /* NULL or "-": standard output */
    const char *input;  /* "-": standard input */
};

static const char *input_name(const struct import_options *options) {
    return strcmp(options->input, "-") == 0 ? "standard input" : options->input;
}

static enum status complain_unread(const struct import_options *options, int error,
                                   const struct aggstats_parse_error *why) {
    const char *name = input_name(options);
    if (error != -EBADMSG)
        complain("cannot import %s: %s", name, strerror(-error));
    else if (why->line > 0)
        complain("cannot import %s: line %zu: %s", name, why->line, why->message);
    else
        complain("cannot import %s: %s", name, why->message);
    return STATUS_TROUBLE;
}

/* ---- Reading ------------------------------------------------------------------------------------ */

/* Reads a stream to its end. Errors: -EFBIG, -ENOMEM, those of reading */
static int read_stream(FILE *stream, char **ret_text, size_t *ret_size_bytes) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    size_t capacity_bytes = 0;
    errno = 0;
    do {
        if (size_bytes == capacity_bytes) {
            capacity_bytes = capacity_bytes > 0 ? 2 * capacity_bytes : 65536;
            char *grown = realloc(text, capacity_bytes);
            if (!grown)
                return -ENOMEM;
            text = grown;
        }
        size_bytes += fread(text + size_bytes, 1, capacity_bytes - size_bytes, stream);
        if (size_bytes > IMPORTED_SIZE_MAX_BYTES)
            return -EFBIG;
    } while (!feof(stream) && !ferror(stream));
    if (ferror(stream))
        return negative_errno();
    *ret_text = steal_pointer(&text);
    *ret_size_bytes = size_bytes;
    return 0;
}

static int read_input(const char *input, char **ret_text, size_t *ret_size_bytes) {
    if (strcmp(input, "-") == 0)
        return read_stream(stdin, ret_text, ret_size_bytes);
    CLEANUP_STREAM FILE *stream = fopen(input, "re");
    return stream ? read_stream(stream, ret_text, ret_size_bytes) : negative_errno();
}

/* ---- Importing ---------------------------------------------------------------------------------- */

static int make_profile(const struct import_options *options, struct aggstats_profile *ret_profile,
                        struct aggstats_parse_error *ret_why) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    struct imported imported = {0};
    int error = read_input(options->input, &text, &size_bytes);
    if (!error)
        error = imported_parse(text, size_bytes, &imported, ret_why);
    if (!error)
        error = imported_profile(&imported, &options->imported, ret_profile, ret_why);
    imported_finish(&imported);
    return error;
}

/* The largest latency of any call is known by its bucket. Returns the lower bound, in seconds. */
static double longest_seconds(const struct aggstats_profile *profile, const char **ret_op) {
    unsigned longest = 0;
    *ret_op = "";
    for (size_t i = 0; i < profile->op_count; i++)
        for (unsigned bucket = longest; bucket < 64 * profile->resolution; bucket++)
            if (profile->ops[i].buckets[bucket] > 0) {
                longest = bucket;
                *ret_op = profile->ops[i].name;
            }
    return aggstats_bucket_lower(longest, profile->resolution) / (double)profile->clock.frequency_hz;
}

static void remark_absurd(const struct aggstats_profile *profile) {
    const char *op;
    const double days = longest_seconds(profile, &op) / 86400;
    if (days >= 365)
        complain("note: a bucket of %s is of %.0f years; is the unit right? --unit gives another", op, days / 365.25);
    else if (days >= ABSURD_DAYS)
        complain("note: a bucket of %s is of %.0f days; is the unit right? --unit gives another", op, days);
}

static enum status import(const struct import_options *options) {
    struct aggstats_profile profile = {0};
    struct aggstats_parse_error why = {0};
    int error = make_profile(options, &profile, &why);
    if (error)
        return complain_unread(options, error, &why);
    remark_absurd(&profile);
    error = output_write_profile(options->output, &profile);
    aggstats_profile_finish(&profile);
    if (!error)
        return STATUS_OK;
    complain("cannot write profile %s: %s", options->output, strerror(-error));
    return STATUS_TROUBLE;
}

/* ---- The command -------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    {.name = "layer",
     .metavar = "LAYER",
     WORDS_OF(LAYER_WORDS),
     .help = "where the latencies were taken, such as {}",
     INTO(TEXT, struct import_options, imported.layer)},
    {.name = "unit",
     .metavar = "UNIT",
     WORDS("ns", "us", "ms"),
     .help = "their unit: {}; needed if neither the map's name (@usecs, @read_ns) nor the table's heading tells it",
     INTO(WORD, struct import_options, imported.unit)},
    {.name = "map",
     .metavar = "MAP",
     .help = "the map to import, of several",
     INTO(TEXT, struct import_options, imported.map)},
    ROW_OUTPUT("write the profile to FILE, whole or not at all", struct import_options, output),
    ROW_ARGUMENTS(FILE, "[TEXT]"),
    {.kind = OPTION_END},
};

static enum status run_import(const struct command *command, int argc, char **argv) {
    struct import_options options = {.input = "-"};
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, &options, &arguments, &status))
        return status;
    const char *layer = options.imported.layer;
    if (arguments.rest_count > 1)
        return usage_error(command, "one text at a time, not %d", arguments.rest_count);
    if (layer && (!layer[0] || strpbrk(layer, " \t\r\n,")))
        return usage_error(command, "--layer must be a word, not '%s'", layer);
    if (arguments.rest_count > 0)
        options.input = arguments.rest[0];
    return import(&options);
}

const struct command command_import = {
    .name = "import",
    .summary = "makes a profile of the histograms that bpftrace or a tool of bcc printed",
    .help = "Reads TEXT, or standard input: what bpftrace prints, as text or with -f json, or a tool of bcc. "
            "Each histogram becomes an operation, named by its key. Only hist() is by powers of two, as "
            "profiles are; lhist() is refused. Writes the profile to standard output.",
    .options = rows,
    .run = run_import,
};
