/* The mount: made with libfuse, negotiated with the kernel, and ended. The file system is mounted first and served
 * later, so that its device number is known before the first request. All functions print errors. Before it is mounted, the
 * daemon goes into the background: the starting process waits until the mount works, and exits with its outcome. */
#ifndef MOUNTING_H
#define MOUNTING_H

#include <stdbool.h>
#include <sys/types.h>

#include "aggstats.h"
#include "glue.h"
#include "loop.h"
#include "options.h"

struct background {
    int ready_fd; /* -1: in the foreground */
};

/* Forks. The child returns here, still with the terminal's stderr; the parent waits and exits. */
int background_start(struct background *ret_background);

/* Lets the parent exit with status 0, and gives up the terminal and the current directory. */
void background_ready(struct background *background);

struct mounting {
    const struct options *options; /* borrowed, like the next three; libfuse's part of the options is changed */
    const char *lower;             /* absolute */
    const char *mountpoint;        /* absolute */
    struct glue *glue;             /* with its top layer; gets the loop */
    struct fuse_session *fuse;     /* NULL until libfuse has parsed the options */
    struct loop *loop;             /* NULL until mounting_serve() */
    dev_t device;                  /* of the mount, after mounting_mount() */
};

/* Mounts. On error nothing is mounted.
 * Errors:  -EINVAL libfuse does not know an option, and there is no mounting->fuse; others: it failed */
int mounting_mount(struct mounting *mounting);

/* Negotiates with the kernel, and begins to answer requests. On error nothing is mounted any more.
 * Errors:  -EPROTO there is no agreement, -EOPNOTSUPP or -EPERM an option cannot be fulfilled; those of threads */
int mounting_serve(struct mounting *mounting, struct aggstats_clock clock);

/* Call after loop_stop(). abort_calls: see mountpoint_unmount() */
void mounting_unmount(const struct mounting *mounting, bool abort_calls);

/* Frees all; zeroed is fine. */
void mounting_finish(struct mounting *mounting);

/* ---- Pages that programs have written through mappings, and nobody has synced, when the mount ends by a signal
 * ---- */

/* Makes the kernel write them back, while workers still serve: for two seconds at most.
 * file: in the root of the mount, absolute; one that the daemon serves itself, so that nothing is profiled
 * Returns false if that hangs: its thread stays until the connection ends */
bool write_back_pages(const char *file, dev_t device, int fuse_fd);

#endif
