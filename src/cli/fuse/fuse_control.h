/* What asks the process that profiles a daemon: a socket, which speaks the commands of control files, "show", and
 * "handed_over".
 *
 * A connection is one question: commands, ended by closing the sending side; nothing at all only has
 * counted what has happened. The answer is a line, "0", or an error
 * number and the reason; behind it, of "show", the profile, and of "handed_over" how many requests have been answered
 * by other threads than those that took them, since the mount began. */
#ifndef FUSE_CONTROL_H
#define FUSE_CONTROL_H

#include <pthread.h>

#include "control.h"

struct fuse_control {
    int fd; /* -1: nobody listens */
    pthread_t thread;
    const struct control *control;
    void (*before)(void *context); /* what has happened up to now is counted first */
    void *context;
    const uint64_t *handed_over; /* atomic; NULL: it is not known, and not told */
    char *path;
};

/* Makes the socket, for this user alone, and a thread that answers.
 * control, context, handed_over: borrowed. Errors: -errno */
int fuse_control_start(struct fuse_control *ret_control, const char *path, const struct control *control,
                       void (*before)(void *context), void *context, const uint64_t *handed_over);

/* Ends the thread, and removes the socket. */
void fuse_control_stop(struct fuse_control *control);

#endif
