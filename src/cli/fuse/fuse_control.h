/* What asks the process that profiles a daemon: a socket, which speaks the commands of control files, and "show".
 *
 * A connection is one question: commands, ended by closing the sending side; nothing at all only has
 * counted what has happened. The answer is a line, "0", or an error
 * number and the reason; behind it, of "show", the profile. */
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
    char *path;
};

/* Makes the socket, for this user alone, and a thread that answers.
 * control, context: borrowed. Errors: -errno */
int fuse_control_start(struct fuse_control *ret_control, const char *path, const struct control *control,
                       void (*before)(void *context), void *context);

/* Ends the thread, and removes the socket. */
void fuse_control_stop(struct fuse_control *control);

#endif
