/* The crew: as few workers as the callers of short requests need, each on a CPU of one of them.
 *
 * What a short request costs is mostly the waking of another CPU: for the worker, and again for the caller when it is
 * answered. So while requests are short the members of the crew take them all, in the scheduling class SCHED_IDLE,
 * each bound to a CPU where a caller runs. A caller is woken on a CPU that runs nothing but idle-class threads, so it
 * takes its own over at once; and when it waits, the member there goes on, and finds its request.
 *
 * With more callers than CPUs most answers go to another CPU anyway. Then it may be better if the members go before
 * other threads, one on each CPU, and take all requests that have queued before anybody else runs; or if there is but
 * one, not bound to any CPU; or if they are as workers are without a crew. After a while all manners are tried, and the
 * one that serves most calls is kept (crew_trial.h). The autogroup is ranked with them, since callers in another one
 * see nothing but that of a member.
 *
 * One caller who has two or three requests under way at a time is best served where it runs too; if they are more,
 * several members that are not bound serve more. How many there are is not to be seen, so both are tried; where unbound
 * ones are better the crew ends, since workers without one do as well, and the next begins for others, for who waits
 * for each call again, or after some seconds.
 *
 * The crew begins with one, grows while its members serve several callers, and shrinks when one has little to do, or
 * finds its callers where another is all the time: the CPU that it kept busy draws some of them when it is idle. It
 * ends when calls are slow, or wait for something while others wait for a worker (many at once are better then), when
 * they are large reads, when there are no calls, and when the main thread, which looks every so often, finds that a
 * member does not get on with its request, or that no member gets to one that waits. After an end soon after the
 * beginning the next crew waits, longer and longer; after one where a member got no CPU the next is, for a while that
 * grows too, one member alone, and only for more callers than CPUs. */
#ifndef CREW_H
#define CREW_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggstats.h"
#include "cpu_place.h"
#include "crew_trial.h"

#define CREW_MAX 16U

/* A worker, member or not. */
struct crew_member {
    pid_t thread;      /* its id */
    bool in;           /* atomic */
    uint64_t progress; /* atomic; rises when a request is taken, and when it is done with: odd in between */
    uint64_t answered; /* atomic; progress of the request that was answered last */

    /* its own */
    uint32_t caller;        /* thread that called last */
    uint32_t other;         /* the one before it */
    unsigned calls;         /* of this window; and of them: */
    unsigned slow_calls;    /* took longer than waking a CPU would, or went on beside their caller */
    unsigned switches;      /* came from another caller than the one before */
    unsigned on_names;      /* were about a name */
    unsigned held_up;       /* waited for something in the lower file system while requests waited for a worker, of
                               those that were asked */
    bool queued;            /* requests waited for a worker at the end of one of them */
    uint64_t callers;       /* a bit for each caller; several may have the same */
    unsigned sleeps;        /* were waited for */
    unsigned since_look;    /* calls since the caller's CPU was asked for */
    unsigned away_looks;    /* in a row, that have found its last callers where another member is */
    unsigned windows;       /* since it joined */
    unsigned queue_calls;   /* in a row, of those that were asked, at whose end requests waited for a worker */
    unsigned queueless;     /* windows in a row, in which none did */
    uint64_t joined;        /* progress when it did */
    long waits_before;      /* of this thread, when the call began that is asked */
    uint64_t seen_callers;  /* atomic; those of the last window */
    unsigned seen_on_names; /* atomic; calls of the last window */
    bool seen_queue;        /* atomic; requests wait for it all the time */

    int cpu;                 /* of a member: where it is bound to; -1: nowhere */
    uint32_t crew;           /* the number of its crew */
    enum crew_manner placed; /* the manner in which it found its place */
    uint64_t seen_progress;  /* the main thread's: when it looked last */
};

/* How many callers there are. */
enum crew_company {
    CREW_IS_NOT_KNOWN,
    CREW_HAS_ONE,
    CREW_HAS_QUEUE, /* one, who has several requests under way at a time, as with asynchronous I/O */
    CREW_HAS_FEW,   /* at most as many as there are CPUs, or they call about names, and so wait for each other */
    CREW_HAS_MORE,  /* at most twice as many */
    CREW_HAS_MANY,  /* or too many threads besides */
};

struct crew {
    struct cpu_home home;
    struct aggstats_clock clock;
    unsigned most;  /* atomic; members; 0: no crew */
    unsigned crowd; /* threads in the system that want a CPU: with more no crew that gives way gets one */
    pthread_mutex_t lock;
    struct crew_member *members[CREW_MAX];
    unsigned count;          /* atomic; changed under the lock */
    unsigned wanted;         /* atomic; members there should be */
    uint64_t again_cycles;   /* atomic; no new one before */
    uint64_t starved_cycles; /* atomic; no member is to be bound before */
    uint64_t queue_cycles;   /* atomic; none is to serve a queue before */
    bool rests;              /* atomic; the last has ended because of a queue; and since then: */
    unsigned one_by_one;     /* atomic; calls that came as from who waits for each, more than others */
    uint64_t pause_cycles;   /* after calls that were slow; under the lock, as the next two */
    uint64_t hunger_cycles;  /* after a member got no CPU */
    uint64_t calls_before;   /* of those who have left */
    unsigned quiet_looks;    /* the main thread's */
    unsigned stuck_looks; /* in a row that have found a member in one call, or none at a request; the main thread's */
    bool is_calm;         /* atomic; see crew_is_calm() */
    unsigned calm_looks;  /* in a row that have found one caller at most; under the lock, as the next three */
    unsigned lone_looks;  /* in a row that have found too few callers, where members got no CPU lately */
    enum crew_company company;
    unsigned company_looks; /* in a row that have found another */
    struct crew_trial trial;
    enum crew_manner manner;     /* atomic; changed under the lock */
    enum cpu_rank rank;          /* of all threads; under the lock */
    uint32_t number;             /* atomic; of this crew, never 0 */
    uint32_t taken[CPU_SETSIZE]; /* atomic; the number of the crew that has a member bound to that CPU */
};

/* allowed: else there is never one, nor on one CPU. Threads: before the workers are started */
void crew_init(struct crew *crew, const struct aggstats_clock *clock, bool allowed);
void crew_finish(struct crew *crew);

/* Ends it for good: all workers are at home when this returns, or as soon as they notice. Threads: the main thread */
void crew_disband(struct crew *crew);

static inline bool crew_is_possible(const struct crew *crew) {
    return __atomic_load_n(&crew->most, __ATOMIC_RELAXED) > 0;
}

/* For struct crew_call. Where no crew is possible nothing is asked, not even the time. */
static inline uint64_t crew_now(const struct crew *crew) {
    return crew_is_possible(crew) ? aggstats_clock_now(crew->clock.kind) : 0;
}

static inline bool crew_exists(const struct crew *crew) {
    return __atomic_load_n(&crew->count, __ATOMIC_SEQ_CST) > 0;
}

static inline bool crew_has(const struct crew_member *worker) {
    return __atomic_load_n(&worker->in, __ATOMIC_RELAXED);
}

/* For a worker that is no member, while there is a crew: false if it needs no more. */
bool crew_join(struct crew *crew, struct crew_member *worker);

/* A worker has taken a request; is about to answer it. device_fd: where requests wait */
void crew_take(struct crew_member *worker);
void crew_answer(struct crew_member *worker, int device_fd);

/* What became of the request. */
struct crew_call {
    uint32_t caller;      /* thread; 0: the kernel's own */
    uint64_t wait_cycles; /* for it to come */
    uint64_t work_cycles; /* to answer it */
    bool is_on_name;      /* in a directory: others who want something there wait for this caller */
    bool is_ahead;        /* the kernel reads while the caller goes on, best on another CPU */
    bool is_beside;       /* it came while other workers were at work */
};

enum crew_need {
    CREW_NEEDS_NOTHING,
    CREW_NEEDS_RECEIVER, /* one more worker is to wait for requests */
    CREW_NEEDS_LOOKS,    /* by the main thread, from now on: it has begun, and this worker is to enter it */
};

/* True if crew_done() may ask the kernel where a caller runs. It may not tell as long as the caller waits for us: in
 * execve(2) a lock is held while files are closed. So who asks must not count as one who waits for requests. */
bool crew_may_ask(const struct crew *crew, const struct crew_member *worker, const struct crew_call *call);

/* It is done with the request. Begins a crew, and lets this worker grow, leave or end one. */
enum crew_need crew_done(struct crew *crew, struct crew_member *worker, const struct crew_call *call);

/* This worker, who has begun the crew, takes its manner: once the main thread knows that it is to look, since from now
 * on the worker may be without a CPU. */
void crew_enter(struct crew *crew, struct crew_member *worker);

/* The main thread looks whether members get on. Returns true if it has ended the crew: if all members are at work then,
 * one more worker is to wait for requests. */
bool crew_look(struct crew *crew, int device_fd);

/* Whether the next look may take its time: no other caller waits for a member that does not get on. Looks are to be
 * few, since they wake a thread, and that makes the scheduler move callers. */
static inline bool crew_is_calm(const struct crew *crew) {
    return __atomic_load_n(&crew->is_calm, __ATOMIC_RELAXED);
}

#endif
