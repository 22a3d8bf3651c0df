/* Parsing the command line. libfuse's parser splits it: mount(8) and fstab give options as lists, with commas and
 * backslashes, and options that are not in our table are passed on to libfuse, which refuses those that it does not
 * know. The parser has no table of its own: it passes each option to us, and options_rows.c defines it.
 *
 * Values are read when all options are known: if an option is given twice, the later value counts, and --help reports
 * no errors. Flags, which reverse each other, are kept in the order of the command line. */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include <fuse_lowlevel.h>

#include "aggstats/user_label.h"
#include "base.h"
#include "config.h"
#include "log.h"
#include "slow_log.h"
#include "uring.h"

struct parser {
    struct options *options;
    char *values[OPTION_ROWS_MAX]; /* the last value for each row */
};

/* argument: "-d", "noatime", "cache=none" */
static bool is_of_row(const struct option_row *row, const char *argument) {
    const size_t length = row->name ? strlen(row->name) : 0;
    if (length == 0) /* a heading */
        return false;
    if (row->letter && argument[0] == '-' && argument[1] == row->letter && !argument[2])
        return true;
    return strncmp(argument, row->name, length) == 0 && argument[length] == (option_takes_argument(row) ? '=' : '\0');
}

/* NULL: there is none. */
static const struct option_row *find_row(const char *argument) {
    const struct option_row *row = options_rows;
    while (row->kind != OPTION_END && !is_of_row(row, argument))
        row++;
    return row->kind != OPTION_END ? row : NULL;
}

bool options_have(const char *argument) {
    return find_row(argument);
}

/* ---- Parsing ------------------------------------------------------------------------------------ */

/* A copy that lives as long as the options; NULL: no memory. */
static char *keep(struct options *options, const char *text) {
    struct fuse_args *texts = &options->texts;
    return fuse_opt_add_arg(texts, text) == 0 ? texts->argv[texts->argc - 1] : NULL;
}

static int take_option(struct parser *parser, const struct option_row *row, const char *argument) {
    char why[OPTION_TEXT_SIZE];
    char *text = NULL;
    parser->options->given |= UINT64_C(1) << (row - options_rows);
    if (option_takes_argument(row) && !(text = keep(parser->options, strchr(argument, '=') + 1)))
        return -1;
    if (text && row->kind != OPTION_TEXTS)
        parser->values[row - options_rows] = text;
    else if (option_take(row, &text, parser->options, why))
        return -1;
    return row->for_libfuse ? 1 : 0;
}

static int take_argument(void *data, const char *argument, int key, struct fuse_args *args) {
    struct parser *parser = data;
    (void)args;
    if (key == FUSE_OPT_KEY_NONOPT) {
        struct options *options = parser->options;
        const char **place = !options->lower ? &options->lower : !options->mountpoint ? &options->mountpoint : NULL;
        if (!place) {
            log_message("unexpected argument '%s': give one lower directory and one mount point", argument);
            return -1;
        }
        *place = keep(options, argument);
        return *place ? 0 : -1;
    }
    if (argument[0] == '\0') /* of a list with a comma too many, which mount(8) accepts */
        return 0;
    const struct option_row *row = find_row(argument);
    if (!row && strncmp(argument, "--", 2) == 0) {
        log_message("unknown option %s: options are written as -o %s, or -o %s=VALUE; 'osproffs -h' lists them",
                    argument, argument + 2, argument + 2);
        return -1;
    }
    return row ? take_option(parser, row, argument) : 1; /* libfuse's, or unknown: mounting reports it */
}

/* ---- Checks ------------------------------------------------------------------------------------- */

static int read_values(const struct parser *parser) {
    char why[OPTION_TEXT_SIZE];
    for (size_t i = 0; i < OPTION_ROWS_MAX; i++) {
        char *text = parser->values[i];
        const char *wrong = text ? option_take(&options_rows[i], &text, parser->options, why) : NULL;
        if (wrong) {
            log_message("%s=%s: %s", options_rows[i].name, text, wrong);
            return -EINVAL;
        }
    }
    return 0;
}

static int check_row(const struct parser *parser, const struct option_row *row, const char *value) {
    const struct options *options = parser->options;
    char why[OPTION_TEXT_SIZE];
    if (row->excludes && option_given(options_rows, options->given, row->excludes)) {
        log_message("%s and %s exclude each other: %s", row->name, row->excludes, row->why_excluded);
        return -EINVAL;
    }
    const char *wrong = row->check ? row->check(options, why) : NULL;
    if (!wrong)
        return 0;
    log_message("%s%s%s: %s", row->name, value ? "=" : "", value ? value : "", wrong);
    return -EINVAL;
}

/* ---- Defaults that depend on other options ------------------------------------------------------ */

static int settle(struct options *options) {
    options->session.resolution = 1U << options->resolution_power;
    options->session.groupings = options->groups.groupings;
    if (!options->allow_other)
        options->shows_pseudo = true; /* the user who mounts has no more access than below */
    /* The kernel checks permissions on every mount that other users may use, unless an option switches the checks off.
     * An existing mount keeps its setting. */
    if (options->action == OPTIONS_MOUNT && options->allow_other && !options->no_default_permissions &&
        !options->default_permissions) {
        options->default_permissions = true;
        if (fuse_opt_add_arg(&options->fuse_args, "-odefault_permissions") < 0)
            return -ENOMEM;
    }
    if (options->no_atime && fuse_opt_add_arg(&options->fuse_args, "-onoatime") < 0)
        return -ENOMEM; /* the mount reports it; libfuse does not know nodiratime and atime */
    options->foreground = options->foreground || options->debug;
    return 0;
}

static int check(const struct parser *parser) {
    const struct options *options = parser->options;
    char complaint[USER_LABEL_COMPLAINT_SIZE];
    int err = read_values(parser);
    for (size_t i = 0; i < OPTION_ROWS_MAX && err == 0; i++)
        if (options->given & UINT64_C(1) << i)
            err = check_row(parser, &options_rows[i], parser->values[i]);
    if (err < 0)
        return err;
    if (!user_labels_valid(options->session.labels.texts, options->session.labels.count, complaint)) {
        log_message("label=%s", complaint);
        return -EINVAL;
    }
    if (!options->mountpoint) {
        log_message("%s: usage: osproffs [options] LOWER MOUNTPOINT (osproffs -h for help)",
                    options->lower ? "no mount point given" : "no lower directory given");
        return -EINVAL;
    }
    return 0;
}

int options_parse(int argc, char **argv, struct options *ret_options) {
    struct options *options = ret_options;
    struct parser parser = {.options = options};
    static const struct fuse_opt none[] = {FUSE_OPT_END};
    *options = (struct options){.control_name = ".osprof",
                                .timing = TIMING_FULL,
                                .slow_log_size_bytes = SLOW_LOG_SIZE_DEFAULT,
                                .slow_log_rate = SLOW_LOG_RATE_DEFAULT};
    for (int index = 0; index < argc; index++)
        if (fuse_opt_add_arg(&options->fuse_args, argv[index]) < 0)
            return -ENOMEM;
    if (fuse_opt_parse(&options->fuse_args, &parser, none, take_argument) < 0)
        return -EINVAL;
    if (options->action != OPTIONS_MOUNT)
        return 0;
    if (options->remount)
        options->action = OPTIONS_REMOUNT;
    int err = check(&parser);
    return err == 0 ? settle(options) : err;
}

void options_finish(struct options *options) {
    option_list_finish(&options->session.labels);
    fuse_opt_free_args(&options->texts);
    fuse_opt_free_args(&options->fuse_args);
}

/* ---- The description for people, and for shells that complete it -------------------------------- */

void options_print_help(void) {
    static const struct option_style style = {
        .dashes = "-o ", .equals = "=", .margin = 4, .indent = 27, .columns_max = 120};
    printf("usage: osproffs [options] LOWER MOUNTPOINT\n"
           "\n"
           "Shows the directory LOWER at MOUNTPOINT and profiles every operation on it.\n"
           "Read the profile from MOUNTPOINT/.osprof, or look at it with osprof show MOUNTPOINT; other programs\n"
           "read it as MOUNTPOINT/.osprof.json and as MOUNTPOINT/.osprof.metrics (Prometheus).\n"
           "\n");
    for (const struct option_row *row = options_rows; row->kind != OPTION_END; row++)
        if (row->kind == OPTION_HEADING)
            printf("\n%s\n", row->help);
        else if (row->help)
            option_print_help(row, &style);
    printf("\nOptions of libfuse:\n");
    fuse_lowlevel_help();
}

void options_print_version(void) {
    printf("osproffs %s\n", OSPROFFS_VERSION);
    printf("libfuse %s (built against %d.%d)%s%s%s%s%s\n", fuse_pkgversion(), FUSE_MAJOR_VERSION, FUSE_MINOR_VERSION,
           OSPROFFS_HAS_TMPFILE ? " +tmpfile" : "", OSPROFFS_HAS_STATX ? " +statx" : "",
           OSPROFFS_HAS_SYNCFS ? " +syncfs" : "", OSPROFFS_HAS_PASSTHROUGH ? " +passthrough" : "",
           ring_is_built_in() ? " +io_uring" : "");
}

void options_print_completion(void) {
    static const char of_libfuse[] = "-o options\nallow_root flag\nauto_unmount flag";
    for (const struct option_row *row = options_rows; row->kind != OPTION_END; row++)
        if (row->name && !row->is_hidden)
            option_print_completion(row, "", "=");
    puts(of_libfuse);
    puts("* directory");
}
