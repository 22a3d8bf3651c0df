/* The mount: made with libfuse, agreed upon with the kernel, and ended. It is mounted first and serves later, so that
 * what must know its device number can be told before the first request. All say what goes wrong. */
#ifndef MOUNTING_H
#define MOUNTING_H

#include <stdbool.h>
#include <sys/types.h>

#include "aggstats.h"
#include "glue.h"
#include "mount_options.h"
#include "session.h"

struct mounting {
    const struct options *options; /* borrowed, as the next three; libfuse's part of the options is changed */
    const char *lower;             /* absolute */
    const char *mountpoint;        /* absolute */
    struct glue *glue;             /* of its top layer; is told of the session */
    struct fuse_session *fuse;     /* NULL until libfuse has taken the options */
    struct session *session;       /* NULL until mounting_serve() */
    dev_t device;                  /* of the mount, since mounting_mount() */
};

/* Mounts. On error nothing is mounted.
 * Errors: -EINVAL libfuse does not know an option, and there is no mounting->fuse; others: it failed */
int mounting_mount(struct mounting *mounting);

/* Agrees with the kernel, and begins to answer requests. On error nothing is mounted any more.
 * Errors: -EPROTO there is no agreement, -EOPNOTSUPP or -EPERM what was asked for cannot be; those of threads */
int mounting_serve(struct mounting *mounting, struct aggstats_clock clock);

/* After session_stop(). abort_calls: see mountpoint_unmount() */
void mounting_unmount(const struct mounting *mounting, bool abort_calls);

/* Frees what there is; zeroed is fine. */
void mounting_finish(struct mounting *mounting);

#endif
