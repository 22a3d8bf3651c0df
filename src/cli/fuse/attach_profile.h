/* The growing profile of a mount that is profiled from outside: bpftrace's output is counted in a recorder, whose live
 * file and socket are like those of a daemon that is profiled from inside. */
#ifndef ATTACH_PROFILE_H
#define ATTACH_PROFILE_H

#include <pthread.h>

#include "control_server.h"
#include "fuse_mount.h"
#include "option_list.h"
#include "saving.h"
#include "trace_counts.h"

struct attach_options {
    const char *profile; /* path of the final one; absolute */
    bool keeps_old;      /* an existing file is kept as NAME.old */
    struct option_list labels;
};

struct attach_profile {
    const struct attach_options *options; /* borrowed */
    struct fuse_mount mount;
    bool is_hidden; /* the mount has a live profile already: this one is found by its socket */
    struct trace_counts counts;
    struct aggstats_recorder *recorder;
    struct control control;
    struct saving saving;
    struct control_server socket;
    int error;       /* of counting */
    char *live_path; /* NULL: there is no live file, and nobody is answered */
    char *socket_path;
    pthread_mutex_t lock; /* protects the rest */
    pthread_cond_t has_printed;
    int64_t counted_ns; /* like that of counts */
    bool has_ended;     /* there will be no more */
};

/* Begins with nothing counted, and warns the user if it cannot be read meanwhile.
 * script: that bpftrace gets
 * Owner:   takes *mount over
 * Errors:  -errno; nothing is left behind */
int attach_profile_start(struct attach_profile *ret_profile, const struct attach_options *options,
                         struct fuse_mount *mount, const char *script);

/* Counts what can be read. Returns 1: there may be more; 0: that was all. Errors: reported to the user */
int attach_profile_read(struct attach_profile *profile, int fd);

/* Call when nothing is printed any more. Answers open questions, stops answering, and saves.
 * Errors:  reported to the user; the live file stays then */
int attach_profile_end(struct attach_profile *profile);

void attach_profile_finish(struct attach_profile *profile);

#endif
