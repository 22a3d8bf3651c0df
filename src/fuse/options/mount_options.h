/* What the command line asked for, as one struct before anything is done. */
#ifndef MOUNT_OPTIONS_H
#define MOUNT_OPTIONS_H

#include <fuse_opt.h>
#include <stdbool.h>

#include "option_list.h"
#include "prof.h"

enum options_action {
    OPTIONS_MOUNT,
    OPTIONS_REMOUNT, /* change the flags of a mount that is there */
    OPTIONS_HELP,
    OPTIONS_VERSION,
    OPTIONS_COMPLETE, /* tell a shell what may be written */
};

enum cache_mode {
    CACHE_AUTO,   /* the kernel may answer by itself for a second */
    CACHE_NONE,   /* every request reaches the profiler */
    CACHE_ALWAYS, /* as long as it likes: nothing changes the lower directory but this mount */
};

struct options {
    unsigned action; /* enum options_action */
    const char *lower;
    const char *mountpoint;
    const char *profile; /* NULL: the default */
    unsigned rotate_s;   /* 0: not by the clock */
    unsigned keep;       /* profiles; 0: all */
    const char *control_name;
    const char *live_directory; /* NULL: the default; "none" */
    unsigned resolution_power;  /* of two; worked out: */
    unsigned resolution;
    enum cache_mode cache;
    enum prof_timing timing;
    bool kernel_data; /* data=passthrough */
    bool plain_workers;
    bool over_ring; /* io_uring */
    bool foreground;
    bool debug;
    bool single_threaded;
    bool allow_other;
    bool default_permissions; /* worked out: on with allow_other unless told otherwise */
    bool no_default_permissions;
    bool shows_pseudo;           /* worked out: on without allow_other */
    unsigned joint[FS_OP_COUNT]; /* values that latencies are related to, as bits (1 << AGGSTATS_SIZE) */
    uint64_t interval_ns;        /* of a sampled profile; 0: none */
    unsigned intervals_max;
    unsigned groupings;         /* whose calls are profiled apart, as bits (1 << AGGSTATS_BY_PROCESS) */
    unsigned directory_depth;   /* components of paths of groups by directory; 0: any number */
    unsigned groups_max;        /* of each grouping; 0: the default */
    uint64_t slow_ns;           /* calls that take so long are slow; 0: nobody looks */
    const char *events;         /* a file of single calls; NULL: none */
    uint64_t events_size_bytes; /* of the file; 0: any */
    uint64_t events_ring_bytes; /* of the last calls, in memory; 0: all go to the file */
    bool events_names;
    const char *causes;           /* a file; NULL: none of one's own */
    const char *slow_log;         /* a file, or "syslog"; NULL: none */
    uint64_t slow_log_size_bytes; /* of the file; 0: any */
    unsigned slow_log_rate;       /* lines in the system log a minute */
    struct option_list labels;    /* KEY=VALUE */
    bool forward_posix_locks;
    bool forward_flocks;
    bool no_atime;
    bool no_directory_atime;
    bool remount;
    uint64_t given;             /* rows of the table of options, as bits */
    struct fuse_args texts;     /* what they were given: strings above point there */
    struct fuse_args fuse_args; /* what is left, for libfuse */
};

/* "auto", "none", "always" */
const char *cache_mode_name(enum cache_mode mode);

#endif
