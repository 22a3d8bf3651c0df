/* Reading a control file in a child process, so that a mount that hangs does not block this one. It must be a process.
 * A thread that waits for an answer of FUSE cannot be killed once the request is being served, and would keep its
 * process from ending; a child in that state is left behind, and ends when the mount answers. */
#ifndef CONTROL_READER_H
#define CONTROL_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "aggstats.h"
#include "str.h"

/* A zeroed one is idle, and may be finished. */
struct control_reader {
    pid_t pid; /* of the child; 0: none is running */
    int fd;    /* for reading its answer; valid while one is running */
    struct str answer;
    int64_t began_ns; /* CLOCK_MONOTONIC */
};

/* Begins to read, unless it is reading already.
 * Errors:  those of starting a process */
int control_reader_begin(struct control_reader *reader, const char *path);

/* The same, but the child reads by this function, which may hang. It has no standard streams.
 * Returns 0, with a profile as text in new memory; or -errno */
typedef int (*control_read_fn)(const char *name, char **ret_text, size_t *ret_bytes);
int control_reader_begin_with(struct control_reader *reader, control_read_fn read_name, const char *name);

/* Takes what has come so far, without waiting.
 * Owner:   the caller finishes *ret_profile
 * Errors:  -EAGAIN it is not complete; after any other it is idle: -EBADMSG the answer is no profile, -EIO the child
 *          was killed, -ENOMEM, and those of opening and reading the control file */
int control_reader_collect(struct control_reader *reader, struct aggstats_profile *ret_profile);

/* Waits until there is something to collect, with a timeout. Returns at once if it is idle. */
void control_reader_wait(const struct control_reader *reader, int64_t timeout_ns);

/* How long it has been reading. 0: it is idle. */
int64_t control_reader_age_ns(const struct control_reader *reader);

/* Kills the child, without waiting for its end. */
void control_reader_finish(struct control_reader *reader);

#endif
