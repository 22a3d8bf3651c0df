/* What every subcommand of osprof is and shares: its row in the table of main.c, its exit statuses and its
 * messages. The file cmd_<name>.c of a subcommand exports its struct command. */
#ifndef COMMAND_H
#define COMMAND_H

enum status {
    STATUS_OK = 0,
    STATUS_NOT_SO =
        1, /* what was asked about is not so: a profile is inconsistent or different, an op was never called */
    STATUS_TROUBLE = 2, /* the question could not be answered */
};

/* Of subcommands that run another program, whose own status is theirs: as those of env(1) and timeout(1). */
enum {
    RUN_FAILED = 125, /* osprof itself */
    RUN_CANNOT_EXECUTE = 126,
    RUN_NOT_FOUND = 127,
    RUN_SIGNALLED = 128, /* + the signal */
};

struct command {
    const char *name;                 /* of a subcommand's subcommand both words: "events show" */
    const char *summary;              /* half a line */
    const char *help;                 /* what it does; --help wraps it into lines */
    const char *notes;                /* what else there is to know, behind the options; NULL: nothing */
    const struct option_row *options; /* option_table.h */
    enum status (*run)(const struct command *command, int argc, char **argv);
    const struct command *const *subcommands; /* NULL at the end; it has no options, and nothing to run, then */
};

extern const struct command command_show;
extern const struct command command_why;
extern const struct command command_compare;
extern const struct command command_top;
extern const struct command command_serve;
extern const struct command command_check;
extern const struct command command_merge;
extern const struct command command_outliers;
extern const struct command command_import;
extern const struct command command_recover;
extern const struct command command_reset;
extern const struct command command_rotate;
extern const struct command command_dump;
extern const struct command command_unmount;
extern const struct command command_calibrate;
extern const struct command command_run;
extern const struct command command_fuse;
extern const struct command command_plot;
extern const struct command command_events;

/* One line on standard error, "osprof: " before it. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line on standard error about wrong arguments, with where to read more.
 * Returns STATUS_TROUBLE */
enum status usage_error(const struct command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
