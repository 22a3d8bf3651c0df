/* osprof import: histograms that bpftrace and the tools of bcc print, as a profile, so that what they see of other
 * layers can be shown, compared and merged like ours (layered profiling, thesis §3.1.4). */
#include <getopt.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "imported_parse.h"
#include "imported_profile.h"
#include "output.h"

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

/* All that a stream holds. Errors: -EFBIG, -ENOMEM, those of reading */
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

static enum status import(const struct import_options *options) {
    struct aggstats_profile profile = {0};
    struct aggstats_parse_error why = {0};
    int error = make_profile(options, &profile, &why);
    if (error)
        return complain_unread(options, error, &why);
    error = output_write_profile(options->output, &profile);
    aggstats_profile_finish(&profile);
    if (!error)
        return STATUS_OK;
    complain("cannot write profile %s: %s", options->output, strerror(-error));
    return STATUS_TROUBLE;
}

/* ---- The command -------------------------------------------------------------------------------- */

enum { OPTION_LAYER = 256, OPTION_UNIT, OPTION_MAP };

static const struct option long_options[] = {
    {"layer", required_argument, NULL, OPTION_LAYER},
    {"unit", required_argument, NULL, OPTION_UNIT},
    {"map", required_argument, NULL, OPTION_MAP},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static enum status check_options(const struct command *command, const struct import_options *options, int rest_count) {
    const char *layer = options->imported.layer;
    if (rest_count > 1)
        return usage_error(command, "one text at a time, not %d", rest_count);
    if (options->imported.unit && !imported_profile_unit_valid(options->imported.unit))
        return usage_error(command, "--unit must be ns, us or ms, not '%s'", options->imported.unit);
    if (layer && (!layer[0] || strpbrk(layer, " \t\r\n,")))
        return usage_error(command, "--layer must be a word, not '%s'", layer);
    return STATUS_OK;
}

static enum status run_import(const struct command *command, int argc, char **argv) {
    struct import_options options = {.input = "-"};
    int option;
    while ((option = getopt_long(argc, argv, ":ho:", long_options, NULL)) != -1) {
        switch (option) {
        case OPTION_LAYER:
            options.imported.layer = optarg;
            break;
        case OPTION_UNIT:
            options.imported.unit = optarg;
            break;
        case OPTION_MAP:
            options.imported.map = optarg;
            break;
        case 'o':
            options.output = optarg;
            break;
        case 'h':
            command_print_help(command);
            return STATUS_OK;
        default:
            return option_error(command, option, argv, long_options);
        }
    }
    if (optind < argc)
        options.input = argv[optind];
    enum status status = check_options(command, &options, argc - optind);
    return status == STATUS_OK ? import(&options) : status;
}

const struct command command_import = {
    .name = "import",
    .summary = "makes a profile of the histograms that bpftrace or a tool of bcc printed",
    .arguments = "[--layer LAYER] [--unit UNIT] [--map MAP] [-o FILE] [TEXT]",
    .help = "Reads TEXT, or standard input: what bpftrace prints, as text or with -f json, or a tool of\n"
            "bcc. Each histogram becomes an operation, named by its key. Only hist() is by powers of two,\n"
            "as profiles are; lhist() is refused. Writes the profile to standard output.\n\n"
            "  --layer LAYER      where the latencies were taken: user, fuse, block, ...\n"
            "  --unit UNIT        their unit: ns, us or ms; needed if neither the map's name (@usecs,\n"
            "                     @read_ns) nor the table's heading tells it\n"
            "  --map MAP          the map to import, of several\n"
            "  -o, --output FILE  write the profile to FILE, whole or not at all\n",
    .run = run_import,
};
