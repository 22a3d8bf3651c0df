/* A socket beside the live file, at which the process that profiles a mount is asked: nobody has to walk through the
 * mount, which may hang. It speaks the commands of control files, and "show" and "handed_over".
 *
 * Who asks "final" gets a line at once, and the outcome of the final profile in the end, when the mount has gone.
 *
 * A connection is one question: text, ended by a NUL byte or by closing the sending side; nothing at all only has
 * counted what has happened. The answer is a line, "0", or an error number and the reason; behind it, of "show", the
 * profile, and of "handed_over" how many requests have been answered by other threads than those that took them, since
 * the mount began.
 *
 * Files are opened by who asks. A command that names one follows a line "file"; when that is answered by the same line,
 * a byte is sent with the file's descriptor (SCM_RIGHTS). It is of an empty regular file outside of the mount, and its
 * name is for messages only. From who has not proved that he may ask, no descriptor is taken. Of "rotate" there are two
 * answers: the line "name", when the file is whole, which who asks then gives its name; it says so by the line "0", or
 * an error number, and gets the final answer.
 *
 * Who may ask: the owner, who runs this process, unless that is uid 0; and who has CAP_SYS_ADMIN here, which is proved
 * by credentials (SCM_CREDENTIALS) with the number of this process: the kernel lets nobody else send them. */
#ifndef CONTROL_SERVER_H
#define CONTROL_SERVER_H

#include <pthread.h>

#include "control.h"

#define CONTROL_WAITERS_MAX 8

struct control_server {
    int fd;     /* -1: nobody listens */
    int dir_fd; /* of the socket; opened first, since a mount may come to lie over it */
    char *name; /* in that directory; NULL: there is no socket */
    bool has_thread;
    pthread_t thread;
    const struct control *control;
    void (*before)(void *context); /* what has happened up to now is counted first; NULL: all is */
    void *context;
    const uint64_t *handed_over;      /* atomic; NULL: it is not known, and not told */
    int waiters[CONTROL_WAITERS_MAX]; /* connections that wait for the end; the thread's, while it runs */
    unsigned waiter_count;
};

#define CONTROL_SERVER_NONE                                                                                            \
    { .fd = -1, .dir_fd = -1 }

/* Makes the socket, for this user alone; who asks waits until the server is started. What a process that was killed has
 * left under that name is removed.
 * Errors: -errno; there is no socket then */
int control_server_listen(struct control_server *ret_server, const char *path);

/* Starts the thread that answers, if there is a socket. *server must not move.
 * control, context, handed_over: borrowed
 * Errors: those of starting a thread; there is no socket then */
int control_server_start(struct control_server *server, const struct control *control, void (*before)(void *context),
                         void *context, const uint64_t *handed_over);

/* Removes the socket, and waits for the thread, unless it hangs with a command: for two seconds at most.
 * Returns false if it hangs: all that it uses must stay */
bool control_server_stop(struct control_server *server);

/* Tells those who wait for the end what became of the final profile, in a line: "saved PATH", "elsewhere PATH", where
 * nothing could be written to its place, "live PATH", or "lost". Once the server has stopped. */
void control_server_tell_end(struct control_server *server, const char *outcome);

#endif
