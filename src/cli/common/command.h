/* The parts of every subcommand of osprof: its row in the table of main.c, its exit statuses, its messages and its
 * options. The file cmd_<name>.c of a subcommand exports its struct command. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggstats/words.h"
#include "option_table.h"
#include "parts.h"

enum status {
    STATUS_OK = 0,
    STATUS_NOT_SO = 1,  /* the answer is no: a profile is inconsistent or different, an op was never called */
    STATUS_TROUBLE = 2, /* the question could not be answered */
};

/* For subcommands that run another program and exit with its status: as in env(1) and timeout(1). */
enum {
    RUN_FAILED = 125, /* osprof itself failed */
    RUN_CANNOT_EXECUTE = 126,
    RUN_NOT_FOUND = 127,
    RUN_SIGNALLED = 128, /* + the signal */
};

/* Options that commands have in common, as bits of command.common. */
enum common_options {
    COMMON_SCREEN = 1, /* it prints: --width, --ascii, --color */
    COMMON_FORCE = 2,  /* it writes files: --force */
    COMMON_QUIET = 4,  /* its exit status is an answer: --quiet */
};

struct command {
    const char *name;                 /* a subcommand's subcommand has both words: "events show" */
    const char *summary;              /* half a line */
    const char *help;                 /* --help wraps it into lines */
    const char *notes;                /* printed behind the options; NULL: nothing */
    const struct option_row *options; /* without -h, --help, which every command has, and those in common */
    unsigned common;
    enum status (*run)(const struct command *command, int argc, char **argv);
    const struct command *const *subcommands; /* NULL at the end; then it has no options, and nothing to run */
};

extern const struct command command_run;
extern const struct command command_attach;
extern const struct command command_fuse;
extern const struct command command_doctor;
extern const struct command command_show;
extern const struct command command_why;
extern const struct command command_top;
extern const struct command command_compare;
extern const struct command command_report;
extern const struct command command_plot;
extern const struct command command_events;
extern const struct command command_save;
extern const struct command command_ctl;
extern const struct command command_unmount;
extern const struct command command_serve;
extern const struct command command_outliers;

/* Prints one line on standard error, behind "osprof: ". */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns false, and reports it, if osprof is built without a part. what: "serve", as in "cannot serve: ..." */
bool require_part(enum part part, const char *what);

#define SCREEN_WIDTH_MIN 40
#define SCREEN_WIDTH_MAX 1000

/* How to print, by the common options. */
struct screen_choice {
    unsigned width; /* columns; 0: those of the terminal, else 80 */
    bool ascii;
    unsigned color; /* enum color_choice */
};

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Of this process. Threads: it is set while the command line is parsed */
const struct screen_choice *screen_choice(void);

/* --force: a file that is no result may be replaced. */
bool output_is_forced(void);

/* While something is tried that nobody has asked for, what fails is not reported. */
void complain_mute(bool is_muted);

/* Prints one line on standard error about wrong arguments, and where to read more.
 * Returns STATUS_TROUBLE */
enum status usage_error(const struct command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- Mistyped names -------------------------------------------------------------------------  */

#define NEAREST_NAME_SIZE 32 /* longer names are never near */

struct nearest {
    const char *word; /* what was typed */
    const char *name; /* the first of the nearest names so far; NULL: none is near */
    size_t distance;  /* of that name; then: the distance from which on none is near */
};

/* Names are near if one letter is wrong, missing, superfluous or in the place of its neighbour; of words with more than
 * four letters, two. */
struct nearest nearest_to(const char *word);

/* name: Owner: the caller; must stay */
void nearest_consider(struct nearest *nearest, const char *name);

/* ---- Options ------------------------------------------------------------------------------------ */

/* A parsed command line. */
struct arguments {
    const struct option_row *rows;
    uint64_t given; /* a bit for each row */
    char **rest;    /* the arguments behind the options; NULL at the end */
    int rest_count;
};

/* Fills *options, the struct of the command's rows, which holds the defaults.
 * Returns false if nothing is left to do: help was printed, or wrong arguments reported; *ret_status is set then */
bool options_parse(const struct command *command, int argc, char **argv, void *options, struct arguments *ret_arguments,
                   enum status *ret_status);

/* The first of these options that was given; NULL: none. names: separated by blanks */
const char *options_given(const struct arguments *arguments, const char *names);

/* How long to look: 100 ms to a day. See option_row.parse_time */
const char *options_parse_for(const char *text, uint64_t *ret_ns);

/* Reads groupings with + between them, "process+file".
 * words:   those that are allowed, NULL at the end
 * Returns NULL, or what is wrong with the text, in why; *ret_groupings, bits (1 << AGGSTATS_BY_PROCESS), is untouched then */
const char *options_parse_groupings(const char *text, const char *const *words, unsigned *ret_groupings,
                                    char why[OPTION_TEXT_SIZE]);

/* Prints usage and help of a command on standard output. */
void options_print_help(const struct command *command);

/* Prints for completions/ what is possible on the command line: see option_print_completion(). */
void options_print_completion(const struct command *command);

/* Rows that several commands have. */
#define ROW_OP(type, member)                                                                                           \
    { .name = "op", .metavar = "NAME", .help = "only this operation; may be repeated", INTO(OPS, type, member) }
#define ROW_FOR(text, type, member)                                                                                    \
    { .name = "for", .metavar = "TIME", .help = text, .parse_time = options_parse_for, INTO(TIME, type, member) }
#define ROW_NO_LABELS(type, member)                                                                                    \
    {                                                                                                                  \
        .name = "no-labels", .help = "do not say what peaks may be by the times of 'osprof doctor --calibrate'",       \
        INTO(FLAG, type, member)                                                                                       \
    }
#define ROW_LAYER(type, member)                                                                                        \
    {                                                                                                                  \
        .name = "layer", .metavar = "NAME", WORDS_OF(LAYER_WORDS),                                                     \
        .help = "this layer of a run of several layers; default: " LAYER_DEFAULT_TEXT, INTO(TEXT, type, member)        \
    }
#define LAYER_DEFAULT_TEXT "fs if it is there, else the outermost"
#define ROW_LAYER_OF_ALL(type, member)                                                                                 \
    {                                                                                                                  \
        .name = "layer", .metavar = "NAME", WORDS_OF(LAYER_WORDS),                                                     \
        .help = "only this layer of runs of several layers; default: all", INTO(TEXT, type, member)                    \
    }
#define ROW_OUTPUT(text, type, member)                                                                                 \
    { .name = "output", .letter = 'o', .metavar = "FILE", .min = 1, .help = text, INTO(FILE, type, member) }
#define ROW_MOUNT_ARGUMENTS(option_kind, text)                                                                         \
    { .kind = OPTION_##option_kind, .metavar = text, .completed_as = "mount" }
/* Profiles as for input_load_recording() (cli/read/input). */
#define ROW_PROFILE_ARGUMENTS(text)                                                                                    \
    { .kind = OPTION_FILE, .metavar = text, .completed_as = "profile" }

#endif
