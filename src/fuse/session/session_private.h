/* Private: what the files of the session share. session.c is the main thread, session_workers.c the workers, and
 * session_servers.c all threads that serve and how they are interrupted. */
#ifndef SESSION_PRIVATE_H
#define SESSION_PRIVATE_H

#include <signal.h>

#include "crew.h"
#include "session.h"

#define WORKERS_MAX 512U

#define INTERRUPT_SIGNAL SIGUSR1
#define MAIN_SIGNAL SIGUSR2 /* to the main thread: a worker has ended, or wants something of it */

/* A request to be interrupted. */
struct interrupt {
    uint64_t request;
    unsigned misses; /* scans in a row that found no worker at it: not yet, or no longer */
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

struct worker {
    struct session_server server;
    struct crew_member member;
    bool counted;             /* among the idle; its own */
    uint32_t opcode;          /* of the request, as the kernel sent it; its own */
    bool lacks_fsetid;        /* says the request of its caller; its own */
    bool is_ahead;            /* see struct crew_call; its own */
    uint64_t answered_cycles; /* when the request was served; 0: not yet; its own */
    bool ended;               /* atomic */
};

struct session {
    struct fuse_session *fuse;
    struct crew crew;
    pthread_t main_thread;
    pthread_mutex_t lock;
    pthread_cond_t released;
    struct worker *workers[WORKERS_MAX];
    unsigned worker_count;         /* ever started; atomic; changed under the lock */
    struct session_server *others; /* under the lock */
    unsigned parked_count;         /* workers that wait to be released; atomic; changed under the lock */
    unsigned releases;             /* how many of them may go */
    unsigned idle_count;           /* atomic; workers that wait for a request, or are about to */
    unsigned idle_most;            /* with as many a worker is parked */
    bool receiver_wanted;          /* atomic; the main thread is to add one */
    struct interrupt interrupts[WORKERS_MAX];
    unsigned interrupt_count;  /* atomic; changed under the lock; for the main thread to repeat */
    void (*later)(void *data); /* atomic; NULL: nothing is to be called */
    void *later_data;          /* under the lock */
    int64_t called_ns;         /* when something was last; the main thread's */
    bool single;
    struct ring_keeper *ring; /* NULL: requests do not come over rings */
    unsigned ring_looks;      /* the main thread's */
    int error;
};

/* What this thread serves requests as; NULL: it does not. */
extern _Thread_local struct session_server *session_this_server;

static inline void session_wake_main_thread(struct session *session) {
    pthread_kill(session->main_thread, MAIN_SIGNAL);
}

/* One more worker that waits for requests: a parked one, or a new one. Errors: -EAGAIN, -ENOMEM */
int session_add_receiver(struct session *session);

/* This thread may have been started by a member of the crew, and inherited how that is scheduled. */
void session_go_home(const struct session *session);

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
 * thread looks itself whether the callers of calls that last have been killed; less often of those that wait for locks,
 * who may be many. */
void session_find_lost_interrupts(struct session *session);

/* Signals a thread, unless it has got on meanwhile. at: what says that it may be signalled while it is not 0; request:
 * that there must be, 0: any. Returns whether it was signalled */
bool server_signal_while(struct session_server *server, const uint64_t *at, uint64_t request);

#endif
