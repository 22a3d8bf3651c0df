/* Private: what the files of the loop share. loop.c is the main thread, loop_workers.c the workers,
 * loop_deferred.c requests that are deferred or interrupted, and loop_servers.c what the glue asks of all threads that
 * serve. */
#ifndef LOOP_PRIVATE_H
#define LOOP_PRIVATE_H

#include <pthread.h>
#include <signal.h>
#include <stdalign.h>
#include <unistd.h>

#include "loop.h"
#include "pool.h"
#include "user_shares.h"

#define SHARED_CALLS_MAX 512U /* requests served at a time, of all users together; see enum charge_kind */
#define SHARED_DIRECTORY_CALLS_MAX 256U
#define WORKERS_MAX (SHARED_CALLS_MAX + SHARED_DIRECTORY_CALLS_MAX)

#define INTERRUPT_SIGNAL SIGUSR1
#define MAIN_SIGNAL SIGUSR2 /* to the main thread: a worker has ended, or needs something done */

/* A request to interrupt. */
struct interrupt {
    uint64_t request;
    bool has_begun;  /* a thread was seen serving it */
    unsigned misses; /* ticks in a row that found no thread serving it: not yet, or no longer */
};

/* A thread that serves requests: a worker, a thread of libfuse for a ring, or a thread that waits for a lock. */
struct loop_server {
    struct loop_server *next; /* in the list of servers other than workers */
    struct loop *loop;
    pthread_t thread;
    struct worker *worker;  /* NULL if it is no worker */
    bool on_ring;           /* one of libfuse's threads */
    uint64_t seen;          /* used by the main thread only: the `interruptible` it saw last */
    pid_t caller;           /* atomic; the caller of the current request */
    uint64_t request;       /* atomic; the current request; 0: none */
    uint64_t interruptible; /* atomic; the current request while it may be interrupted; else 0 */
    unsigned interrupters;  /* atomic; threads that may be about to signal this thread */
};

/* Which of its user's shares a request counts against. */
enum charge_kind {
    CHARGE_CALL,
    CHARGE_DIRECTORY_CALL, /* the kernel may hold a directory's lock until the answer, and others wait for the lock */
    CHARGE_KINDS
};

struct charge {
    uid_t uid;
    enum charge_kind kind;
};

/* A deferred request: loop_deferred.c */
struct deferred {
    struct deferred *next;
    struct charge charge;
    int64_t since_ns; /* CLOCK_MONOTONIC */
    bool interrupted; /* under deferred_lock while it is deferred */
    size_t size_bytes;
    alignas(16) char request[];
};

struct deferred_queue {
    struct deferred *first;
    struct deferred *last; /* valid if there is a first */
};

struct worker {
    struct loop_server server;
    struct pool_worker pooled;
    bool counted;                 /* among the idle; used by this worker only */
    uint32_t opcode;              /* of the request, as the kernel sent it; used by this worker only */
    bool lacks_fsetid;            /* what the request says of its caller; used by this worker only */
    bool is_readahead;            /* see struct pool_call; used by this worker only */
    uint64_t answered_cycles;     /* when the request was answered; 0: not yet; used by this worker only */
    struct worker *parked_before; /* under the loop's lock, like the next two; see loop.parked */
    bool is_parked;
    pthread_cond_t released; /* signalled when it is parked no longer, or the loop ends */
    bool ended;              /* atomic */
};

struct loop {
    struct fuse_session *fuse;
    struct pool pool;
    pthread_t main_thread;
    pthread_mutex_t lock;
    struct worker *workers[WORKERS_MAX];
    unsigned worker_count;      /* under the lock; includes those that have ended and are not joined */
    unsigned ended_count;       /* atomic; workers that have ended and are not joined */
    struct loop_server *others; /* under the lock */
    struct worker *parked;      /* list of workers that wait to be released, the latest first; under the lock */
    unsigned parked_count;      /* under the lock */
    unsigned idle_count;        /* atomic; workers that wait for a request, or are about to wait */
    unsigned idle_most;         /* one more idle worker than this is parked; as many idle and parked ones stay */
    struct interrupt interrupts[WORKERS_MAX];
    unsigned interrupt_count;              /* atomic; changed under the lock; the main thread repeats these */
    struct user_shares busy[CHARGE_KINDS]; /* requests being served */
    struct user_shares deferred_bytes;     /* memory of deferred requests */
    pthread_mutex_t deferred_lock;         /* protects the next three */
    struct deferred_queue deferred[CHARGE_KINDS][USER_SHARES_COUNTERS];
    unsigned deferred_count[CHARGE_KINDS]; /* atomic; changed under deferred_lock */
    unsigned deferred_turn;                /* the queue to serve next */
    void (*later)(void *data);             /* atomic; NULL: nothing to call */
    void *later_data;                      /* under the lock */
    int64_t called_ns;                     /* when it last called something; used by the main thread only */
    bool single;
    struct ring_reply_thread *ring; /* NULL: requests do not come over rings */
    unsigned ring_checks;           /* used by the main thread only */
    int error;
};

/* The server of the current thread; NULL: the thread serves no requests. */
extern _Thread_local struct loop_server *loop_this_server;

static inline void loop_wake_main_thread(struct loop *loop) {
    pthread_kill(loop->main_thread, MAIN_SIGNAL);
}

/* Adds a worker that waits for requests: wakes the latest parked worker, or creates a new one.
 * Errors:  -EAGAIN, -ENOMEM */
int loop_add_waiting_worker(struct loop *loop);

/* Joins and frees the workers that have ended. Threads: the main thread */
void loop_join_ended_workers(struct loop *loop);

void loop_free_worker(struct worker *worker);

/* Wakes the parked workers when the loop ends. Call under the lock */
void loop_wake_parked_workers(struct loop *loop);

/* For a new thread: undoes the scheduling it inherited if a bound worker started it. */
static inline void loop_restore_scheduling(const struct loop *loop) {
    if (pool_is_adaptive(&loop->pool))
        scheduling_restore(&loop->pool.home, gettid());
}

/* Call before answering: the worker counts as idle from here on, because the caller it wakes may run first on this CPU.
 * Large answers take time, so the worker still counts as busy then. */
void worker_answers(struct worker *worker);

/* The worker has more to do, which may take time: it counts as busy again. */
void worker_goes_on(struct worker *worker);

/* Interrupts the system call of the thread that serves a request. One signal is not enough: the thread may not have
 * reached the system call, or not even have noted which request it took. So the main thread repeats the signal until
 * the request is over. */
void loop_interrupt(struct loop *loop, uint64_t request);
void loop_repeat_interrupts(struct loop *loop);

/* The kernel sends no FUSE_INTERRUPT if the signal comes before a ring's thread has taken the request. So the main
 * thread checks by itself whether the callers of long calls have been killed. It checks calls that wait for locks less
 * often, since there may be many. */
void loop_find_lost_interrupts(struct loop *loop);

/* Deferred requests: loop_deferred.c
 * begin: true: serve the request now; it counts for its user. False: it was deferred or refused, and the worker must
 *   not touch it any more.
 * end: call after the answer: the request no longer counts for its user.
 * next: a request to serve now, which counts; the caller frees it. NULL: there is none.
 * is_still_wanted: call before serving it. False: its caller has been killed, and it has been answered.
 * interrupt: returns whether the request was among the deferred.
 * drop: frees all without an answer; when no thread serves any more. */
void loop_init_deferred(struct loop *loop, uid_t owner_uid);
struct charge loop_charge_of(const void *request);
bool loop_begin(struct loop *loop, const void *request, size_t size_bytes);
void loop_end(struct loop *loop, struct charge charge);
struct deferred *loop_next_deferred(struct loop *loop);
bool loop_is_still_wanted(struct loop *loop, const struct deferred *deferred);
void loop_free_deferred(struct loop *loop, struct deferred *deferred);
void loop_drop_deferred(struct loop *loop);

/* Refuses late deferred requests, which would make other requests wait too long. Threads: the main thread */
bool loop_has_late(struct loop *loop);
void loop_refuse_late(struct loop *loop);

/* Signals a thread, unless it has gone on meanwhile. at: the thread may be signalled only while this is not 0; request:
 * the value *at must have, 0: any. Returns whether it was signalled */
bool server_signal_while(struct loop_server *server, const uint64_t *at, uint64_t request);

#endif
