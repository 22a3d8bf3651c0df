/* The request loop: worker threads that take requests from the kernel and answer them.
 *
 * While requests are short, a few chosen workers take them all and the others are parked (pool.h). The main thread
 * checks every 5 ms that the chosen ones make progress. Otherwise, when all workers are busy, one more is started or
 * released, so a call that hangs in the lower file system does not delay the next. Three idle workers for each CPU
 * stay; those beyond are parked, and end when they have not been needed for ten seconds.
 *
 * Why not libfuse's loop: it cancels threads and joins them, however long they hang. This loop interrupts threads, and
 * waits two seconds at most for threads that hang in the lower file system. Then the profile is saved regardless, since
 * it has the counts of hanging threads already. FUSE_INTERRUPT is handled here too: libfuse would take locks that all
 * workers share, twice for each request.
 *
 * With io_uring libfuse's threads take most requests instead (uring.h), and workers what still comes through the
 * device. */
#ifndef LOOP_H
#define LOOP_H

#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdbool.h>

#include "aggstats.h"

struct loop;
struct loop_server;

enum loop_end {
    LOOP_UNMOUNTED, /* umount, or the connection was aborted */
    LOOP_SIGNALLED,
    LOOP_FAILED, /* the device could not be read */
};

struct loop_outcome {
    enum loop_end end;
    int signal; /* LOOP_SIGNALLED */
    int error;  /* LOOP_FAILED: -errno */
};

struct loop_options {
    struct aggstats_clock clock;
    bool single;     /* only one worker */
    bool plain;      /* no worker is ever chosen (pool.h) */
    uid_t owner_uid; /* the user who mounted; unless that is uid 0, his requests are never deferred, nor an
                      * administrator's */
    bool over_ring;  /* libfuse's threads serve requests that come over its rings (uring.h) */
};

/* Owner:   the caller calls loop_destroy(), except while calls hang; it accepts NULL
 * Errors:  -ENOMEM
 * Threads: the main thread, as for all functions up to loop_run() */
int loop_create(struct fuse_session *fuse, const struct loop_options *options, struct loop **ret_loop);
void loop_destroy(struct loop *loop);

/* Blocks or handles the signals that end the loop, and the one that interrupts a worker's system call.
 * Threads: call before any other thread is started */
void loop_prepare_signals(void);

/* Answers INIT, the kernel's first request, so that the kernel's features are known before the mount is announced. If
 * the connection is gone already, loop_run() will find that. Call after mounting */
void loop_negotiate(struct loop *loop);

/* Starts the first worker: from here on requests are served. Errors: -errno, the thread cannot be started */
int loop_start(struct loop *loop);

/* Runs until unmounted or told to end. Call after loop_start() */
struct loop_outcome loop_run(struct loop *loop);

/* Ends all threads that serve, except those of loop_add_server(), which must have ended before. Returns how many
 * calls hang: their threads touch only the loop, libfuse's loop, the stack and the recorder, which must therefore
 * stay. */
unsigned loop_stop(struct loop *loop);

/* The kernel's number of the request that this thread is to serve; 0 if it cannot be found out.
 * Threads: workers, and libfuse's for its rings */
uint64_t loop_request(struct loop *loop, fuse_req_t req);

/* Call them around the call of the stack that serves a request. interruptible: in between, a FUSE_INTERRUPT of the
 * request interrupts the system call that this thread is in.
 * Threads: any that serves requests */
void loop_enter(struct loop *loop, fuse_req_t req, bool interruptible);
void loop_leave(bool interruptible);

/* Call between loop_leave() and the next request if the thread has more to do, which may take time. */
void loop_goes_on(void);

/* For a thread that serves a blocking request. From loop_add_server() on the loop counts the thread as serving
 * the request. The thread calls loop_be_server() before it serves the request, and loop_end_server() to answer
 * the request. If the thread could not be started, call loop_remove_server().
 * Errors:  loop_add_server() returns NULL without memory */
struct loop_server *loop_add_server(struct loop *loop, uint64_t request);
void loop_be_server(struct loop_server *server);
void loop_end_server(struct loop_server *server, fuse_req_t req, int error);
void loop_remove_server(struct loop_server *server);

/* True if the request that this worker has taken is a write or truncation whose caller lacks CAP_FSETID. The kernel
 * says so in the request, and libfuse does not pass it on.
 * Threads: any; false in all but workers */
bool loop_caller_lacks_fsetid(void);

/* Whether this worker has taken a request with that opcode: FUSE_TMPFILE, FUSE_STATX or FUSE_COPY_FILE_RANGE_64, which
 * libfuse was given as another one: request_opcode_for_libfuse().
 * Threads: any; false in all but workers */
bool loop_serves(uint32_t opcode);

/* Makes the main thread call call(data) within a second, and at most once a second; never if the loop ends before.
 * If asked again before the call, it is called once, with the latest data. Returns false, and does nothing, in a thread
 * that serves no requests. */
bool loop_call_later(void (*call)(void *data), void *data);

/* Sets attributes for a thread that a worker starts: the worker may be in SCHED_IDLE and bound to one CPU, which the
 * new thread must not inherit.
 * Threads: any */
void loop_set_thread_home(const struct loop *loop, pthread_attr_t *attr);

/* The signal that interrupts a system call of the thread it is sent to, and does nothing else. */
int loop_interrupt_signal(void);

#endif
