/* A Unix socket beside the live file, through which the process that profiles a mount is controlled: nobody has to walk
 * through the mount, which may hang. It accepts the commands of control files, and "show", "handed_over" and "final".
 *
 * A connection is one question: text, ended by a NUL byte or by closing the sending side. The empty question makes sure
 * that everything up to now has been counted. The answer is a line: "0", or an error number and the reason. For "show"
 * the profile follows; for "handed_over" the number of requests since the mount began that another thread answered than
 * the one that took them. "final" is answered by a line at once, and by the outcome of the final profile when the mount
 * has gone.
 *
 * This process opens no file by a name that comes from the socket: the client opens it. A command that names a file
 * follows a line "file". When the server answers with the same line, the client sends a byte with the file's descriptor
 * (SCM_RIGHTS). It must be an empty regular file outside the mount; its name is for messages only. The server receives
 * a descriptor only from a client that has proved that it may ask. For "rotate" there are two answers: the line "name"
 * when the file is complete. The client then gives the file its name, answers with the line "0" or an error number, and
 * gets the final answer. So the file is named between its writing and the beginning of the next span; if the client is
 * killed there, the file itself shows whether it has got its name.
 *
 * Who may ask: the owner, who runs this process, unless that is uid 0; and a process with CAP_SYS_ADMIN in this user
 * namespace. It proves that by credentials (SCM_CREDENTIALS) with the number of this process, which the kernel lets
 * nobody else send: so there is no race, and it needs no right to trace. (In a control file /proc of the caller is read
 * instead: process_rights.h.) */
#ifndef CONTROL_SERVER_H
#define CONTROL_SERVER_H

#include <pthread.h>

#include "control.h"

#define CONTROL_WAITERS_MAX 8

struct control_server {
    int fd;     /* -1: there is no socket */
    int dir_fd; /* of the socket; opened first, since a mount may cover it */
    char *name; /* in that directory; NULL: there is no socket */
    bool has_thread;
    pthread_t thread;
    const struct control *control;
    void (*before)(void *context); /* makes sure that all up to now is counted; NULL: it always is */
    void *context;
    const uint64_t *handed_over;      /* atomic; NULL: unknown */
    int waiters[CONTROL_WAITERS_MAX]; /* connections that wait for the end; used by the thread only, while it runs */
    unsigned waiter_count;
};

#define CONTROL_SERVER_NONE                                                                                            \
    { .fd = -1, .dir_fd = -1 }

/* Makes the socket, for this user alone; clients wait until the server is started. A socket left by a process that was
 * killed is removed.
 * Errors:  -errno; there is no socket then */
int control_server_listen(struct control_server *ret_server, const char *path);

/* Starts the thread that answers, if there is a socket. *server must not move.
 * control, context, handed_over: borrowed
 * Errors:  those of starting a thread; there is no socket then */
int control_server_start(struct control_server *server, const struct control *control, void (*before)(void *context),
                         void *context, const uint64_t *handed_over);

/* Removes the socket, and waits for the thread, at most two seconds in case a command hangs.
 * Returns false if the thread hangs: the memory that it uses must then stay */
bool control_server_stop(struct control_server *server);

/* Tells the waiting clients the outcome of the final profile, in a line: "saved PATH"; "elsewhere PATH" if it could not
 * be written to its place; "live PATH"; or "lost". Call after the server has stopped. */
void control_server_tell_end(struct control_server *server, const char *outcome);

#endif
