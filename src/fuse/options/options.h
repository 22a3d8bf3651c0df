/* The command line: the options, parsing them, and their description for people and shells. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <fuse_opt.h>
#include <stdbool.h>

#include "control.h"
#include "option_table.h"
#include "prof.h"
#include "session.h"

enum options_action {
    OPTIONS_MOUNT,
    OPTIONS_REMOUNT, /* change the flags of an existing mount */
    OPTIONS_HELP,
    OPTIONS_VERSION,
    OPTIONS_COMPLETE, /* print completions for a shell */
};

enum cache_mode {
    CACHE_AUTO,   /* the kernel may use its caches for a second */
    CACHE_NONE,   /* every request reaches the profiler */
    CACHE_ALWAYS, /* the kernel may cache without limit: only this mount changes the lower directory */
};

enum timing {
    TIMING_OFF, /* no prof layer: a plain pass-through */
    TIMING_FULL,
};

struct options {
    unsigned action; /* enum options_action */
    const char *lower;
    const char *mountpoint;
    const char *profile; /* NULL: the default */
    uint64_t rotate_ns;  /* 0: no rotation by the clock */
    unsigned keep;       /* profiles to keep; 0: all */
    const char *control_name;
    const char *live_directory;     /* NULL: the default; "none" */
    unsigned resolution_power;      /* of two */
    struct session_options session; /* its resolution is computed, its groupings are those of groups */
    enum cache_mode cache;
    enum timing timing;
    bool kernel_data; /* data=passthrough */
    bool plain_workers;
    bool over_ring; /* io_uring */
    bool foreground;
    bool debug;
    bool single_threaded;
    bool allow_other;
    bool default_permissions; /* computed: on with allow_other unless given */
    bool no_default_permissions;
    bool shows_pseudo; /* computed: on without allow_other */
    struct control_groups groups;
    const char *events;         /* a file of single calls; NULL: none */
    uint64_t events_size_bytes; /* maximum size; 0: none */
    uint64_t events_ring_bytes; /* size of the ring in memory; 0: all calls go to the file */
    bool events_names;
    const char *causes;           /* a file; NULL: only our own */
    const char *slow_log;         /* a file, or "syslog"; NULL: none */
    uint64_t slow_log_size_bytes; /* maximum size; 0: none */
    unsigned slow_log_rate;       /* maximum number of lines in the system log a minute */
    bool forward_posix_locks;
    bool forward_flocks;
    bool no_atime;
    bool no_directory_atime;
    bool remount;
    bool defaults;              /* nothing depends on it */
    uint64_t given;             /* options given: rows of the table, as bits */
    struct fuse_args texts;     /* their values: strings above point into it */
    struct fuse_args fuse_args; /* the remaining arguments, for libfuse */
};

/* "auto", "none", "always" */
const char *cache_mode_name(enum cache_mode mode);

/* Reports errors in one line on stderr.
 * Owner:   the caller calls options_finish(), also on error
 * Errors:  -EINVAL, -ENOMEM */
int options_parse(int argc, char **argv, struct options *ret_options);
void options_finish(struct options *options);

/* True if this is one of our options: "noatime", "cache=none". */
bool options_have(const char *argument);

/* Prints to standard output. */
void options_print_help(void);
void options_print_version(void);

/* Prints for completions/ what may stand on the command line: see option_print_completion(). Options that do not begin
 * with "-" are those of -o; options with a value end with "=". */
void options_print_completion(void);

/* Private: the table of options. The rows are parsed into struct options, and stand in the order of --help. A name is
 * an argument of -o, unless it begins with "-". */
extern const struct option_row options_rows[];

#endif
