/* The session loop: worker threads that take requests from the kernel and answer them.
 *
 * While requests are short, a few chosen workers take them all and the others are parked (pool.h); the
 * main thread checks every 5 ms that they get on. Otherwise a worker is started, or released, when every other one is
 * busy, so a call that hangs in the lower file system does not delay the next. Three idle ones for each CPU stay; those
 * beyond are parked, and end when they have not been needed for ten seconds. The main thread only waits: for a signal,
 * or for the connection to end. It does not wait for workers that hang: what they have counted is already in the
 * profile.
 *
 * With io_uring libfuse's threads take most requests instead (ring.h), and workers what still comes through the device.
 */
#ifndef SESSION_H
#define SESSION_H

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdbool.h>

#include "aggstats.h"

struct session;
struct session_server;

enum session_end {
    SESSION_UNMOUNTED, /* umount, or the connection was aborted */
    SESSION_SIGNALLED,
    SESSION_FAILED, /* the device could not be read */
};

struct session_outcome {
    enum session_end end;
    int signal; /* SESSION_SIGNALLED */
    int error;  /* SESSION_FAILED: -errno */
};

struct session_options {
    struct aggstats_clock clock;
    bool single;     /* one worker */
    bool plain;      /* none of the workers is ever chosen (pool.h) */
    uid_t owner_uid; /* who mounted; unless that is uid 0, his requests are never put off, nor an administrator's */
    bool over_ring;  /* libfuse's threads serve what comes over its rings (ring.h) */
};

/* Owner:   the caller calls session_destroy(), unless calls hang; it accepts NULL
 * Errors:  -ENOMEM
 * Threads: the main thread, as all up to session_run() */
int session_create(struct fuse_session *fuse, const struct session_options *options, struct session **ret_session);
void session_destroy(struct session *session);

/* Signals that end the session, and the one that interrupts a worker's system call, are blocked or handled from here
 * on.
 * Threads: call before any other thread is started */
void session_prepare_signals(void);

/* Answers INIT, the kernel's first request, so that what the kernel can do is known before the mount is announced.
 * A connection that is gone again is for session_run() to find. Call after mounting */
void session_negotiate(struct session *session);

/* Starts the first worker: from here on requests are served. Errors: -errno, it cannot be started */
int session_start(struct session *session);

/* Runs until unmounted or told to end. Call after session_start() */
struct session_outcome session_run(struct session *session);

/* Ends all threads that serve, but for those of session_add_server(), which must have ended before. Returns how many
 * calls hang: their threads touch only the session, libfuse's, the stack and the recorder, which must therefore stay.
 */
unsigned session_stop(struct session *session);

/* The number by which the kernel knows the request that this thread is to serve; 0 if that is not to be known.
 * Threads: workers, and libfuse's for its rings */
uint64_t session_request(struct session *session, fuse_req_t req);

/* Around the call of the stack that serves a request. interruptible: in between a FUSE_INTERRUPT of the request
 * interrupts the system call that this thread is in.
 * Threads: any that serves requests */
void session_enter(struct session *session, fuse_req_t req, bool interruptible);
void session_leave(bool interruptible);

/* Between session_leave() and the next request: there is something to do yet, which may take its time. */
void session_goes_on(void);

/* A thread for one request that blocks. From the first call on, it is known to serve that request; the second and the
 * third are the thread's own: before it serves the request, and to answer it. The last is for one that is not started.
 * Returns NULL without memory */
struct session_server *session_add_server(struct session *session, uint64_t request);
void session_be_server(struct session_server *server);
void session_end_server(struct session_server *server, fuse_req_t req, int error);
void session_remove_server(struct session_server *server);

/* The request that this worker has taken is a write or a truncation by somebody who lacks CAP_FSETID: the kernel says
 * so there, and libfuse does not pass it on.
 * Threads: any; false in others than workers */
bool session_caller_lacks_fsetid(void);

/* The request that this worker has taken is one of these. Older releases of libfuse do not know them, so they come to
 * it as requests with the same body: FUSE_TMPFILE as FUSE_CREATE, FUSE_STATX as FUSE_GETATTR, FUSE_COPY_FILE_RANGE_64
 * as FUSE_COPY_FILE_RANGE.
 * Threads: any; false in others than workers */
bool session_is_tmpfile(void);
bool session_is_statx(void);
bool session_is_copy_file_range_64(void);

/* Has the main thread call call(data) within a second, but not more often than that; never, if the session ends before.
 * Asked for again before it has been called, it is called once, with the last data. Returns false, and does nothing, in
 * threads that serve nothing. */
bool session_call_later(void (*call)(void *data), void *data);

/* Attributes for a thread that is started by one who serves: that one may be in SCHED_IDLE and bound to one CPU, which
 * the new thread is not to inherit.
 * Threads: any */
void session_set_thread_home(const struct session *session, pthread_attr_t *attr);

/* The signal that interrupts a system call of the thread that it is sent to, and does nothing else. */
int session_interrupt_signal(void);

#endif
