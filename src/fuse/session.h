/* The session loop: worker threads that take requests from the kernel and answer them.
 *
 * While requests are short, a crew of few workers takes them all and the others are parked (crew.h); the main thread
 * looks every 2 ms whether it gets on. Otherwise a worker is started, or released, when every other one is busy, so a
 * call that hangs in the lower file system does not delay the next; idle ones stay, and the main thread only waits: for
 * a signal, or for the connection to end. It does not wait for workers that hang: what they have counted is already in
 * the profile. */
#ifndef SESSION_H
#define SESSION_H

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdbool.h>

#include "aggstats.h"

enum session_end {
    SESSION_UNMOUNTED, /* umount, or the connection was aborted */
    SESSION_SIGNALLED,
    SESSION_FAILED, /* the device could not be read, or no worker could be started */
};

struct session_outcome {
    enum session_end end;
    int signal;            /* SESSION_SIGNALLED */
    int error;             /* SESSION_FAILED: -errno */
    unsigned hung_workers; /* still in a call when the loop was left; they touch only the fuse session, the stack
                            * and the recorder, which must therefore stay if there are any */
};

/* Signals that end the session, and the one that interrupts a worker's system call, are blocked or handled from
 * here on. Threads: call before any other thread is started */
void session_prepare_signals(void);

/* Answers INIT, the kernel's first request, so that what the kernel can do is known before the mount is announced.
 * Errors: -ENOMEM; a connection that is gone again is for session_run() to find. Call after mounting */
int session_negotiate(struct fuse_session *fuse);

/* Runs until unmounted or told to end. single: one worker. */
struct session_outcome session_run(struct fuse_session *fuse, const struct aggstats_clock *clock, bool single);

/* The number of the request that this worker has taken; 0 in others than workers. Threads: any */
uint64_t session_request(void);

/* Between these a FUSE_INTERRUPT of the request that this worker has taken interrupts the system call that it is
 * in. Threads: workers */
void session_interruptible_begin(void);
void session_interruptible_end(void);

/* The request that this worker has taken is a write or a truncation by somebody who lacks CAP_FSETID: the kernel says
 * so there, and libfuse does not pass it on. Threads: any; false in others than workers */
bool session_caller_lacks_fsetid(void);

/* Has the main thread call call(data) within a second, but not more often than that; never, if the session ends before.
 * The next may be asked for when it has been called. Returns false, and does nothing, in others than workers. */
bool session_call_later(void (*call)(void *data), void *data);

/* Attributes for a thread that a worker starts: the worker may be in SCHED_IDLE and bound to one CPU, which the new
 * thread is not to inherit. Threads: workers */
void session_set_thread_home(pthread_attr_t *attr);

/* The signal that interrupts a system call of the thread that it is sent to, and does nothing else. */
int session_interrupt_signal(void);

/* Memory of this worker for one reply, at least of that size, aligned to a page; NULL without memory.
 * Threads: workers; good until the next call in the same thread */
void *session_reply_buffer(size_t size_bytes);

#endif
