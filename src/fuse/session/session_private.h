/* Private: what the files of the session share. session.c is the main thread, session_workers.c the workers,
 * session_deferred.c requests that are put off, session_servers.c what the glue asks of all threads that serve, and
 * session_interrupts.c how they are interrupted. */
#ifndef SESSION_PRIVATE_H
#define SESSION_PRIVATE_H

#include <pthread.h>
#include <signal.h>
#include <stdalign.h>
#include <unistd.h>

#include "pool.h"
#include "session.h"
#include "user_shares.h"

#define SHARED_CALLS_MAX 512U /* that are served at a time, of all users together; see enum charge_kind */
#define SHARED_DIRECTORY_CALLS_MAX 256U
#define WORKERS_MAX (SHARED_CALLS_MAX + SHARED_DIRECTORY_CALLS_MAX)

#define INTERRUPT_SIGNAL SIGUSR1
#define MAIN_SIGNAL SIGUSR2 /* to the main thread: a worker has ended, or wants something of it */

/* A request to be interrupted. */
struct interrupt {
    uint64_t request;
    bool has_begun;  /* a thread was seen at it */
    unsigned misses; /* scans in a row that found no thread at it: not yet, or no longer */
};

/* A thread that serves requests: a worker, libfuse's for a ring, or one that waits for a lock. */
struct session_server {
    struct session_server *next; /* of those that are no workers */
    struct session *session;
    pthread_t thread;
    struct worker *worker;  /* that it is; else NULL */
    bool on_ring;           /* libfuse's */
    uint64_t seen;          /* the main thread's: what it could be interrupted at when it looked last */
    pid_t caller;           /* atomic; of the request that it is at */
    uint64_t request;       /* atomic; the one that it is at; 0: none */
    uint64_t interruptible; /* atomic; that one, while it may be interrupted; else 0 */
    unsigned interrupters;  /* atomic; others that may be about to signal it */
};

/* From which share of a user's a request is served. */
enum charge_kind {
    CHARGE_CALL,
    CHARGE_DIRECTORY_CALL, /* the kernel may hold a directory's lock until it is answered: others wait for that */
    CHARGE_KINDS
};

struct charge {
    uid_t uid;
    enum charge_kind kind;
};

/* A request that is put off: session_deferred.c */
struct deferred {
    struct deferred *next;
    struct charge charge;
    int64_t since_ns; /* CLOCK_MONOTONIC */
    bool interrupted; /* under deferred_lock while it is put off */
    size_t size_bytes;
    alignas(16) char request[];
};

struct deferred_queue {
    struct deferred *first;
    struct deferred *last; /* if there is a first */
};

struct worker {
    struct session_server server;
    struct pool_worker pooled;
    bool counted;                 /* among the idle; its own */
    uint32_t opcode;              /* of the request, as the kernel sent it; its own */
    bool lacks_fsetid;            /* says the request of its caller; its own */
    bool is_readahead;            /* see struct pool_call; its own */
    uint64_t answered_cycles;     /* when the request was served; 0: not yet; its own */
    struct worker *parked_before; /* under the session's lock, as the next two; see session.parked */
    bool is_parked;
    pthread_cond_t released; /* it is parked no longer, or the session ends */
    bool ended;              /* atomic */
};

struct session {
    struct fuse_session *fuse;
    struct pool pool;
    pthread_t main_thread;
    pthread_mutex_t lock;
    struct worker *workers[WORKERS_MAX];
    unsigned worker_count;         /* under the lock; with those that have ended and are not joined */
    unsigned ended_count;          /* atomic; how many these are */
    struct session_server *others; /* under the lock */
    struct worker *parked;         /* workers that wait to be released, the latest first; under the lock */
    unsigned parked_count;         /* under the lock */
    unsigned idle_count;           /* atomic; workers that wait for a request, or are about to */
    unsigned idle_most;            /* with as many idle ones another is parked; so many idle and parked ones stay */
    struct interrupt interrupts[WORKERS_MAX];
    unsigned interrupt_count;              /* atomic; changed under the lock; for the main thread to repeat */
    struct user_shares busy[CHARGE_KINDS]; /* requests that are being served */
    struct user_shares deferred_bytes;     /* what requests that are put off take */
    pthread_mutex_t deferred_lock;         /* of the next three */
    struct deferred_queue deferred[CHARGE_KINDS][USER_SHARES_COUNTERS];
    unsigned deferred_count[CHARGE_KINDS]; /* atomic; changed under deferred_lock */
    unsigned deferred_turn;                /* of the queues */
    void (*later)(void *data);             /* atomic; NULL: nothing is to be called */
    void *later_data;                      /* under the lock */
    int64_t called_ns;                     /* when something was last; the main thread's */
    bool single;
    struct ring_reply_thread *ring; /* NULL: requests do not come over rings */
    unsigned ring_checks;           /* the main thread's */
    int error;
};

/* What this thread serves requests as; NULL: it does not. */
extern _Thread_local struct session_server *session_this_server;

static inline void session_wake_main_thread(struct session *session) {
    pthread_kill(session->main_thread, MAIN_SIGNAL);
}

/* One more worker that waits for requests: the one that was parked last, or a new one. Errors: -EAGAIN, -ENOMEM */
int session_add_waiting_worker(struct session *session);

/* Joins and frees the workers that have ended. Threads: the main thread */
void session_join_ended_workers(struct session *session);

void session_free_worker(struct worker *worker);

/* Wakes the workers that are parked, so that they see that the session ends. Under the lock */
void session_wake_parked_workers(struct session *session);

/* This thread may have been started by a bound worker, and inherited how that is scheduled. */
static inline void session_restore_scheduling(const struct session *session) {
    if (pool_is_adaptive(&session->pool))
        scheduling_restore(&session->pool.home, gettid());
}

/* Is about to answer: the one who waits for that may run then, and not the worker, though it is as good as idle. Only
 * large answers take their time. */
void worker_answers(struct worker *worker);

/* Has something to do yet, which may take its time. */
void worker_goes_on(struct worker *worker);

/* Interrupts the system call of the thread that is at a request. Once is not enough: the thread may not have come to
 * the system call, or not even have noted what it has taken. So the main thread repeats it until the request is over.
 */
void session_interrupt(struct session *session, uint64_t request);
void session_repeat_interrupts(struct session *session);

/* The kernel sends no FUSE_INTERRUPT if the signal comes before a ring's thread has taken the request. So the main
 * thread checks itself whether the callers of calls that last have been killed; less often of those that wait for
 * locks, who may be many. */
void session_find_lost_interrupts(struct session *session);

/* Requests that are put off: session_deferred.c
 * begin: the request may be served now, and counts for its user; false: it is put off or refused, and no longer the
 *   worker's.
 * end: it has been answered, and counted for that user.
 * next: one that may be served now, which counts; the caller frees it. NULL: there is none.
 * is_still_wanted: to be asked before serving it; false: whoever waited for it has been killed, and it is answered
 *   (session_interrupts.c).
 * refuse: answers it with that error.
 * interrupt: returns whether the request is among those that are put off.
 * drop: without an answer; when no thread serves any more. */
void session_init_deferred(struct session *session, uid_t owner_uid);
struct charge session_charge_of(const void *request);
bool session_begin(struct session *session, const void *request, size_t size_bytes);
void session_end(struct session *session, struct charge charge);
struct deferred *session_next_deferred(struct session *session);
bool session_is_still_wanted(struct session *session, const struct deferred *deferred);
void session_refuse(struct session *session, const void *request, int error);
uint64_t session_request_of(const struct deferred *deferred);
pid_t session_caller_of(const struct deferred *deferred);
void session_free_deferred(struct session *session, struct deferred *deferred);
bool session_interrupt_deferred(struct session *session, uint64_t request);
void session_drop_deferred(struct session *session);

/* Refuses those that would keep others waiting. The main thread's. */
bool session_has_late(struct session *session);
void session_refuse_late(struct session *session);

/* The caller, a thread, was killed, and ends when it comes back from its system call. */
bool server_is_killed(pid_t caller);

/* Signals a thread, unless it has got on meanwhile. at: what says that it may be signalled while it is not 0; request:
 * that there must be, 0: any. Returns whether it was signalled */
bool server_signal_while(struct session_server *server, const uint64_t *at, uint64_t request);

#endif
