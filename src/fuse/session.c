/* Workers and the thread that waits for their end. */
#include "session.h"

#include <errno.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "device.h"
#include "solo.h"

#define WORKERS_MAX 512U
#define STOP_PATIENCE_MS 2000
#define STOP_STEP_MS 10
#define PAGE_BYTES 4096U

#define INTERRUPT_SIGNAL SIGUSR1
#define MAIN_SIGNAL SIGUSR2 /* to the main thread: a worker has ended, or serves alone */

#define LOOK_EVERY_NS 2000000L
#define QUIET_LOOKS 20      /* without a request; then the main thread sleeps until there is one */
#define SLEEP_HZ 200000U    /* 5 us: a request that was there takes less to receive */
#define SLOW_CALL_HZ 10000U /* 100 us: waking another CPU takes less */
#define SOLO_PAUSE_HZ 1000U /* 1 ms until the next try; doubled after each that ended soon */
#define SOLO_PAUSE_MAX_S 1U
#define SOLO_WORTH_CALLS 5000U

struct worker {
    pthread_t thread;
    struct session *session;
    struct solo_judge judge;
    uint64_t progress;      /* atomic; rises when a request is taken, and when it is answered: odd while at work */
    uint64_t solo_since;    /* progress when it began to serve alone */
    uint64_t request;       /* the one that it has taken; its own */
    bool lacks_fsetid;      /* says that request of its caller; its own */
    uint64_t interruptible; /* atomic; that one, while it may be interrupted; else 0 */
    unsigned interrupters;  /* atomic; others that may be about to signal it */
    bool ended;             /* atomic */
};

struct session {
    struct fuse_session *fuse;
    struct aggstats_clock clock;
    struct solo_home home;
    pthread_t main_thread;
    pthread_mutex_t lock;
    pthread_cond_t released;
    struct worker *workers[WORKERS_MAX];
    unsigned worker_count; /* ever started */
    unsigned parked_count; /* workers that wait to be released */
    unsigned releases;     /* how many of them may go */
    int idle_count;        /* atomic; workers that wait for a request, or are about to; not the one that is alone */
    bool single;
    int error;

    struct worker *solo;        /* atomic; the worker that serves alone */
    bool watched;               /* atomic; the main thread looks at it every so often */
    uint64_t solo_again_cycles; /* atomic; not before */
    uint64_t solo_pause_cycles; /* atomic */
};

/* ---- Signals ---- */

static void do_nothing(int signal) {
    (void)signal;
}

static sigset_t ending_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, MAIN_SIGNAL);
    return set;
}

void session_prepare_signals(void) {
    struct sigaction interrupt = {.sa_handler = do_nothing}; /* no SA_RESTART: that is its purpose */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t ending = ending_signals();
    sigaction(INTERRUPT_SIGNAL, &interrupt, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* a limit of file sizes is an error of the write, not our end */
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
}

int session_interrupt_signal(void) {
    return INTERRUPT_SIGNAL;
}

/* ---- Workers ---- */

struct reply_buffer {
    void *data;
    size_t size_bytes;
};

static pthread_key_t reply_buffer_key;
static pthread_once_t reply_buffer_once = PTHREAD_ONCE_INIT;

static void free_reply_buffer(void *pointer) {
    struct reply_buffer *buffer = pointer;
    free(buffer->data);
    free(buffer);
}

static void make_reply_buffer_key(void) {
    pthread_key_create(&reply_buffer_key, free_reply_buffer);
}

void *session_reply_buffer(size_t size_bytes) {
    pthread_once(&reply_buffer_once, make_reply_buffer_key);
    struct reply_buffer *buffer = pthread_getspecific(reply_buffer_key);
    if (!buffer) {
        buffer = calloc(1, sizeof(*buffer));
        if (!buffer || pthread_setspecific(reply_buffer_key, buffer) != 0) {
            free(buffer);
            return NULL;
        }
    }
    if (buffer->size_bytes < size_bytes) {
        void *grown;
        if (posix_memalign(&grown, PAGE_BYTES, size_bytes) != 0)
            return NULL;
        free(buffer->data);
        *buffer = (struct reply_buffer){.data = grown, .size_bytes = size_bytes};
    }
    return buffer->data;
}

static int add_receiver(struct session *session);

/* Takes one request off the idle workers' list; the last of them sees to it that somebody waits for the next. */
static void become_busy(struct session *session) {
    bool last = __atomic_sub_fetch(&session->idle_count, 1, __ATOMIC_ACQ_REL) == 0;
    if (last && !session->single && !__atomic_load_n(&session->solo, __ATOMIC_ACQUIRE))
        add_receiver(session); /* if that fails, this worker comes back to the queue before long */
}

static void become_idle(struct session *session) {
    __atomic_add_fetch(&session->idle_count, 1, __ATOMIC_ACQ_REL);
}

static void advance(struct worker *worker) {
    __atomic_store_n(&worker->progress, worker->progress + 1, __ATOMIC_RELEASE);
}

/* ---- One worker alone ---- */

static bool is_solo(const struct worker *worker) {
    return __atomic_load_n(&worker->session->solo, __ATOMIC_RELAXED) == worker;
}

/* The main thread may have stopped looking while there was no request. */
static void ask_to_be_watched(struct session *session) {
    if (!__atomic_exchange_n(&session->watched, true, __ATOMIC_SEQ_CST))
        pthread_kill(session->main_thread, MAIN_SIGNAL);
}

/* One that was soon over was a mistake: the next begins later. */
static void plan_next_solo(struct session *session, uint64_t served_calls) {
    uint64_t shortest = session->clock.frequency_hz / SOLO_PAUSE_HZ;
    uint64_t longest = session->clock.frequency_hz * SOLO_PAUSE_MAX_S;
    uint64_t pause_cycles = 2 * __atomic_load_n(&session->solo_pause_cycles, __ATOMIC_RELAXED);
    if (served_calls >= SOLO_WORTH_CALLS || pause_cycles < shortest)
        pause_cycles = shortest;
    if (pause_cycles > longest)
        pause_cycles = longest;
    __atomic_store_n(&session->solo_pause_cycles, pause_cycles, __ATOMIC_RELAXED);
    __atomic_store_n(&session->solo_again_cycles, aggstats_clock_now(session->clock.kind) + pause_cycles,
                     __ATOMIC_RELAXED);
}

/* The class is left before and entered after the lock is held: a thread in SCHED_IDLE may keep it for long. */
static void begin_solo(struct worker *worker) {
    struct session *session = worker->session;
    if (aggstats_clock_now(session->clock.kind) < __atomic_load_n(&session->solo_again_cycles, __ATOMIC_RELAXED))
        return;
    struct worker *none = NULL;
    worker->solo_since = worker->progress;
    if (!__atomic_compare_exchange_n(&session->solo, &none, worker, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    solo_go_idle(worker->thread);
    if (!is_solo(worker)) /* ended meanwhile */
        solo_go_home(&session->home, worker->thread);
}

/* Called by the worker itself, or by the main thread if it makes no progress. */
static void end_solo(struct session *session, struct worker *worker) {
    struct worker *expected = worker;
    if (!__atomic_compare_exchange_n(&session->solo, &expected, NULL, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    solo_go_home(&session->home, worker->thread);
    plan_next_solo(session, (__atomic_load_n(&worker->progress, __ATOMIC_ACQUIRE) - worker->solo_since) / 2);
    if (__atomic_load_n(&session->idle_count, __ATOMIC_ACQUIRE) == 0)
        add_receiver(session);
}

/* After each request. */
static void judge_call(struct worker *worker, uint32_t caller, uint64_t wait_cycles, uint64_t call_cycles) {
    struct session *session = worker->session;
    struct solo_judge *judge = &worker->judge;
    solo_judge_call(judge, caller, wait_cycles > session->clock.frequency_hz / SLEEP_HZ,
                    call_cycles > session->clock.frequency_hz / SLOW_CALL_HZ);
    if (!is_solo(worker)) {
        if (solo_judge_is_sure(judge) && !__atomic_load_n(&session->solo, __ATOMIC_RELAXED))
            begin_solo(worker);
    } else if (solo_judge_is_wrong(judge)) {
        end_solo(session, worker);
    } else if (solo_judge_is_due(judge)) {
        solo_move(&session->home, worker->thread, solo_cpu_of(judge->caller));
    }
}

/* Leaves the requests to the worker that is alone. Returns when it no longer is, or when all end. */
static void park_while_another_is_solo(struct worker *worker) {
    struct session *session = worker->session;
    pthread_mutex_lock(&session->lock);
    if (session->solo && session->solo != worker) {
        session->parked_count++;
        while (session->releases == 0 && !fuse_session_exited(session->fuse))
            pthread_cond_wait(&session->released, &session->lock);
        session->parked_count--;
        if (session->releases > 0)
            session->releases--;
    }
    pthread_mutex_unlock(&session->lock);
}

/* ---- Interrupts ----
 *
 * libfuse's own way takes locks that all workers share, at every request. Here a worker only notes what it is at,
 * and whoever receives the rare FUSE_INTERRUPT looks for it. */

static _Thread_local struct worker *this_worker;

void session_interruptible_begin(void) {
    struct worker *worker = this_worker;
    if (worker)
        __atomic_store_n(&worker->interruptible, worker->request, __ATOMIC_RELAXED);
}

/* Afterwards no signal comes any more: it would hit the next request. */
void session_interruptible_end(void) {
    struct worker *worker = this_worker;
    if (!worker)
        return;
    __atomic_exchange_n(&worker->interruptible, 0, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&worker->interrupters, __ATOMIC_SEQ_CST) > 0)
        sched_yield();
}

static void interrupt_if_at(struct worker *worker, uint64_t request) {
    __atomic_add_fetch(&worker->interrupters, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&worker->interruptible, __ATOMIC_SEQ_CST) == request)
        pthread_kill(worker->thread, INTERRUPT_SIGNAL);
    __atomic_sub_fetch(&worker->interrupters, 1, __ATOMIC_SEQ_CST);
}

static void interrupt(struct session *session, uint64_t request) {
    pthread_mutex_lock(&session->lock);
    for (unsigned index = 0; index < session->worker_count; index++)
        interrupt_if_at(session->workers[index], request);
    pthread_mutex_unlock(&session->lock);
}

/* ---- What is read from a request before libfuse sees it ---- */

bool session_caller_lacks_fsetid(void) {
    return this_worker && this_worker->lacks_fsetid;
}

static bool says_lacks_fsetid(uint32_t opcode, const char *body) {
    struct fuse_write_in write;
    struct fuse_setattr_in setattr;
    switch (opcode) {
    case FUSE_WRITE:
        memcpy(&write, body, sizeof(write));
        return write.write_flags & FUSE_WRITE_KILL_SUIDGID;
    case FUSE_SETATTR:
        memcpy(&setattr, body, sizeof(setattr));
        return setattr.valid & FATTR_KILL_SUIDGID;
    default:
        return false;
    }
}

static struct fuse_in_header look_into(struct worker *worker, const struct fuse_buf *request) {
    struct fuse_in_header header;
    const char *body = (const char *)request->mem + sizeof(header);
    memcpy(&header, request->mem, sizeof(header));
    worker->request = header.unique;
    worker->lacks_fsetid = says_lacks_fsetid(header.opcode, body);
    if (header.opcode == FUSE_INTERRUPT) { /* libfuse tells those who wait for locks */
        struct fuse_interrupt_in interrupted;
        memcpy(&interrupted, body, sizeof(interrupted));
        interrupt(worker->session, interrupted.unique);
    }
    return header;
}

/* ---- Workers ---- */

static int serve(struct worker *worker, struct fuse_buf *buffer) {
    struct session *session = worker->session;
    this_worker = worker;
    device_watch_answers(session->clock.kind);
    bool counted = true; /* among the idle: by who started this one */
    for (;;) {
        bool alone = is_solo(worker);
        if (!alone && !counted) {
            if (__atomic_load_n(&session->solo, __ATOMIC_RELAXED))
                park_while_another_is_solo(worker);
            become_idle(session);
            counted = true;
        }
        if (fuse_session_exited(session->fuse))
            return 0;
        uint64_t wait_cycles = aggstats_clock_now(session->clock.kind);
        int result = fuse_session_receive_buf(session->fuse, buffer);
        if (result == -EINTR || result == -EAGAIN)
            continue;
        if (result <= 0)
            return result;
        uint64_t start_cycles = aggstats_clock_now(session->clock.kind);
        advance(worker);
        if (alone)
            ask_to_be_watched(session);
        if (counted)
            become_busy(session);
        counted = false;
        struct fuse_in_header header = look_into(worker, buffer);
        fuse_session_process_buf(session->fuse, buffer);
        uint64_t answered_cycles = device_take_answer_time();
        if (session->home.possible && answered_cycles)
            judge_call(worker, header.pid, start_cycles - wait_cycles, answered_cycles - start_cycles);
        advance(worker);
    }
}

static void *run_worker(void *argument) {
    struct worker *worker = argument;
    struct session *session = worker->session;
    struct fuse_buf buffer = {.mem = NULL};
    int result = serve(worker, &buffer);
    free(buffer.mem);
    if (result < 0) {
        pthread_mutex_lock(&session->lock);
        session->error = result;
        pthread_mutex_unlock(&session->lock);
        fuse_session_exit(session->fuse);
    }
    pthread_kill(session->main_thread, MAIN_SIGNAL);
    __atomic_store_n(&worker->ended, true, __ATOMIC_RELEASE);
    return NULL;
}

static int start_worker_locked(struct session *session) {
    if (session->worker_count == WORKERS_MAX || fuse_session_exited(session->fuse))
        return -EAGAIN;
    CLEANUP_FREE struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return -ENOMEM;
    worker->session = session;
    become_idle(session);
    int err = pthread_create(&worker->thread, NULL, run_worker, worker);
    if (err != 0) {
        __atomic_sub_fetch(&session->idle_count, 1, __ATOMIC_ACQ_REL);
        return -err;
    }
    session->workers[session->worker_count++] = steal_pointer(&worker);
    return 0;
}

/* One more worker that waits for requests: a parked one, or a new one. */
static int add_receiver(struct session *session) {
    int err = 0;
    pthread_mutex_lock(&session->lock);
    if (session->parked_count > session->releases) {
        session->releases++;
        pthread_cond_signal(&session->released);
    } else {
        err = start_worker_locked(session);
    }
    pthread_mutex_unlock(&session->lock);
    return err;
}

/* ---- The main thread ---- */

/* What the main thread saw when it last looked. */
struct watch {
    const struct worker *worker;
    uint64_t progress;
    unsigned quiet_looks;
};

static bool has_moved(struct session *session, const struct watch *watch) {
    const struct worker *worker = __atomic_load_n(&session->solo, __ATOMIC_SEQ_CST);
    return worker &&
           (worker != watch->worker || __atomic_load_n(&worker->progress, __ATOMIC_SEQ_CST) != watch->progress);
}

/* Sees whether the worker that is alone gets on. Returns whether to look again soon. */
static bool look_at_solo(struct session *session, struct watch *watch) {
    struct worker *worker = __atomic_load_n(&session->solo, __ATOMIC_ACQUIRE);
    if (!worker)
        return false;
    bool moved = has_moved(session, watch);
    uint64_t progress = __atomic_load_n(&worker->progress, __ATOMIC_ACQUIRE);
    watch->worker = worker;
    watch->progress = progress;
    if (!moved && progress % 2 == 1) { /* in the same request as last time */
        end_solo(session, worker);
        return false;
    }
    watch->quiet_looks = moved ? 0 : watch->quiet_looks + 1;
    return watch->quiet_looks < QUIET_LOOKS;
}

static int wait_for_signal(struct session *session, struct watch *watch) {
    const struct timespec step = {.tv_nsec = LOOK_EVERY_NS};
    sigset_t ending = ending_signals();
    if (!__atomic_load_n(&session->watched, __ATOMIC_SEQ_CST))
        return sigwaitinfo(&ending, NULL);
    int signal = sigtimedwait(&ending, NULL, &step);
    if (!look_at_solo(session, watch)) {
        watch->quiet_looks = 0;
        __atomic_store_n(&session->watched, false, __ATOMIC_SEQ_CST);
        if (has_moved(session, watch)) /* for a request that came before: it has seen that it was watched */
            __atomic_store_n(&session->watched, true, __ATOMIC_SEQ_CST);
    }
    return signal;
}

static int wait_for_end(struct session *session) {
    struct watch watch = {.worker = NULL};
    for (;;) {
        int signal = wait_for_signal(session, &watch);
        if (signal == MAIN_SIGNAL && fuse_session_exited(session->fuse))
            return 0;
        if (signal > 0 && signal != MAIN_SIGNAL)
            return signal;
    }
}

/* ---- The end ---- */

/* Nudges the workers that have not ended out of their system calls. Returns how many there are. */
static unsigned nudge_workers(struct session *session) {
    unsigned running = 0;
    pthread_mutex_lock(&session->lock);
    pthread_cond_broadcast(&session->released);
    for (unsigned index = 0; index < session->worker_count; index++) {
        struct worker *worker = session->workers[index];
        if (!__atomic_load_n(&worker->ended, __ATOMIC_ACQUIRE)) {
            running++;
            pthread_kill(worker->thread, INTERRUPT_SIGNAL);
        }
    }
    pthread_mutex_unlock(&session->lock);
    return running;
}

/* Waits for workers to leave, as long as that is a matter of patience. Returns how many hang. */
static unsigned stop_workers(struct session *session) {
    const struct timespec step = {.tv_nsec = STOP_STEP_MS * 1000000L};
    unsigned running = nudge_workers(session);
    for (int waited_ms = 0; running > 0 && waited_ms < STOP_PATIENCE_MS; waited_ms += STOP_STEP_MS) {
        nanosleep(&step, NULL);
        running = nudge_workers(session);
    }
    return running;
}

static void join_workers(struct session *session) {
    for (unsigned index = 0; index < session->worker_count; index++) {
        pthread_join(session->workers[index]->thread, NULL);
        free(session->workers[index]);
    }
}

struct session_outcome session_run(struct fuse_session *fuse, const struct aggstats_clock *clock, bool single) {
    struct session_outcome outcome = {.end = SESSION_FAILED};
    struct session *session = calloc(1, sizeof(*session));
    if (!session) {
        outcome.error = -ENOMEM;
        return outcome;
    }
    session->fuse = fuse;
    session->single = single;
    session->clock = *clock;
    if (!single)
        solo_find_home(&session->home);
    session->main_thread = pthread_self();
    pthread_mutex_init(&session->lock, NULL);
    pthread_cond_init(&session->released, NULL);

    outcome.error = device_attach(fuse);
    if (outcome.error == 0)
        outcome.error = add_receiver(session);
    if (outcome.error == 0)
        outcome.signal = wait_for_end(session);
    fuse_session_exit(fuse);
    outcome.hung_workers = stop_workers(session);
    if (outcome.error == 0)
        outcome.error = session->error;
    outcome.end = outcome.error < 0 ? SESSION_FAILED : outcome.signal > 0 ? SESSION_SIGNALLED : SESSION_UNMOUNTED;
    if (outcome.hung_workers == 0) {
        join_workers(session);
        pthread_cond_destroy(&session->released);
        pthread_mutex_destroy(&session->lock);
        free(session);
    }
    return outcome;
}
