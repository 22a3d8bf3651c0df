/* What the command line asked for, as one struct before anything is done. */
#ifndef MOUNT_OPTIONS_H
#define MOUNT_OPTIONS_H

#include <fuse_opt.h>
#include <stdbool.h>

#include "prof.h"
#include "user_label.h"

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
    enum options_action action;
    char *lower;
    char *mountpoint;
    char *profile;     /* NULL: the default */
    unsigned rotate_s; /* 0: not by the clock */
    unsigned keep;     /* profiles; 0: all */
    char *control_name;
    char *live_directory; /* NULL: the default; "none" */
    unsigned resolution;
    enum cache_mode cache;
    enum prof_timing timing;
    bool kernel_data; /* data=passthrough */
    bool plain_workers;
    int over_ring; /* io_uring */
    int foreground;
    int debug;
    int single_threaded;
    int allow_other;
    int default_permissions; /* worked out: on with allow_other unless told otherwise */
    int no_default_permissions;
    int shows_pseudo;            /* worked out: on without allow_other */
    unsigned joint[FS_OP_COUNT]; /* values that latencies are related to, as bits (1 << AGGSTATS_SIZE) */
    uint64_t interval_ns;        /* of a sampled profile; 0: none */
    unsigned intervals_max;
    unsigned groupings;         /* whose calls are profiled apart, as bits (1 << AGGSTATS_BY_PROCESS) */
    unsigned directory_depth;   /* components of paths of groups by directory; 0: any number */
    unsigned groups_max;        /* of each grouping; 0: the default */
    uint64_t slow_ns;           /* calls that take so long are slow; 0: nobody looks */
    char *events;               /* a file of single calls; NULL: none */
    uint64_t events_size_bytes; /* of the file; 0: any */
    uint64_t events_ring_bytes; /* of the last calls, in memory; 0: all go to the file */
    int events_names;
    char *causes;                      /* a file; NULL: none of one's own */
    char *slow_log;                    /* a file, or "syslog"; NULL: none */
    uint64_t slow_log_size_bytes;      /* of the file; 0: any */
    unsigned slow_log_rate;            /* lines in the system log a minute */
    char *labels[USER_LABELS_MAX + 1]; /* KEY=VALUE; one more, so that too many are seen */
    size_t label_count;
    int forward_posix_locks;
    int forward_flocks;
    int no_atime;
    int no_directory_atime;
    int remount;
    struct fuse_args fuse_args; /* what is left, for libfuse */
};

#endif
