/* The main thread of a session: it waits for the end, and meanwhile checks that the workers make progress. */
#include "session_private.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base.h"
#include "uring.h"

#define IDLE_PER_CPU 3U

#define STOP_PATIENCE_NS 2000000000L

#define POOL_TICK_NS 5000000L     /* while only chosen workers receive */
#define SIGNAL_EVERY_NS 10000000L /* for system calls that are to be interrupted */
#define RING_TICK_NS 20000000L    /* to look for lost interrupts */
#define LATER_NS NS_PER_S

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
    struct sigaction interrupt = {.sa_handler = do_nothing}; /* without SA_RESTART, so that system calls return EINTR */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t ending = ending_signals();
    sigaction(INTERRUPT_SIGNAL, &interrupt, NULL);
    sigaction(SIGCHLD, &usual, NULL); /* libfuse waits for helpers that mount, and our parent may have ignored it */
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* exceeding a limit of file sizes must be an error of the write, not our end */
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
}

int session_interrupt_signal(void) {
    return INTERRUPT_SIGNAL;
}

/* ---- The main thread ---- */

static bool has_interrupts(struct session *session) {
    return __atomic_load_n(&session->interrupt_count, __ATOMIC_SEQ_CST) > 0;
}

bool session_call_later(void (*call)(void *data), void *data) {
    if (!session_this_server)
        return false;
    struct session *session = session_this_server->session;
    pthread_mutex_lock(&session->lock);
    session->later_data = data;
    bool is_awaited = __atomic_exchange_n(&session->later, call, __ATOMIC_ACQ_REL) != NULL;
    pthread_mutex_unlock(&session->lock);
    if (!is_awaited)
        session_wake_main_thread(session);
    return true;
}

static bool has_later(struct session *session) {
    return __atomic_load_n(&session->later, __ATOMIC_ACQUIRE);
}

static void do_later(struct session *session) {
    pthread_mutex_lock(&session->lock);
    void (*call)(void *data) = __atomic_exchange_n(&session->later, NULL, __ATOMIC_ACQ_REL);
    void *data = session->later_data;
    pthread_mutex_unlock(&session->lock);
    session->called_ns = read_clock_ns(CLOCK_MONOTONIC);
    call(data);
}

/* All chosen workers may be busy, each relying on the others to receive. */
static void check_pool(struct session *session) {
    bool ended = pool_tick(&session->pool, fuse_session_fd(session->fuse));
    if (ended && __atomic_load_n(&session->idle_count, __ATOMIC_SEQ_CST) == 0)
        session_add_waiting_worker(session);
}

static void tick(struct session *session) {
    if (has_interrupts(session))
        session_repeat_interrupts(session);
    if (session->ring)
        session_find_lost_interrupts(session);
    if (!pool_is_plain(&session->pool))
        check_pool(session);
    if (session_has_late(session))
        session_refuse_late(session);
    if (has_later(session) && read_clock_ns(CLOCK_MONOTONIC) - session->called_ns >= LATER_NS)
        do_later(session);
}

/* Time between ticks; 0: there is nothing to check. */
static int64_t tick_step_ns(struct session *session) {
    if (!pool_is_plain(&session->pool))
        return POOL_TICK_NS;
    if (has_interrupts(session))
        return SIGNAL_EVERY_NS;
    if (session->ring)
        return RING_TICK_NS;
    return has_later(session) || session_has_late(session) ? LATER_NS : 0;
}

/* Waits for a signal, with a tick at each step, also while signals come. ret_ticked_ns: time of the last tick. */
static int wait_for_signal(struct session *session, int64_t *ret_ticked_ns) {
    sigset_t ending = ending_signals();
    int64_t step_ns = tick_step_ns(session);
    if (step_ns == 0)
        return sigwaitinfo(&ending, NULL);
    int64_t left_ns = *ret_ticked_ns + step_ns - read_clock_ns(CLOCK_MONOTONIC);
    left_ns = left_ns < 0 ? 0 : left_ns < step_ns ? left_ns : step_ns;
    const struct timespec left = timespec_of(left_ns);
    int signal = sigtimedwait(&ending, NULL, &left);
    if (read_clock_ns(CLOCK_MONOTONIC) - *ret_ticked_ns >= step_ns) {
        tick(session);
        *ret_ticked_ns = read_clock_ns(CLOCK_MONOTONIC);
    }
    return signal;
}

static int wait_for_end(struct session *session) {
    int64_t ticked_ns = 0;
    for (;;) {
        int signal = wait_for_signal(session, &ticked_ns);
        if (signal > 0 && signal != MAIN_SIGNAL)
            return signal;
        if (fuse_session_exited(session->fuse))
            return 0;
        if (__atomic_load_n(&session->ended_count, __ATOMIC_ACQUIRE) > 0)
            session_join_ended_workers(session);
        if (pool_wants_worker(&session->pool))
            session_add_waiting_worker(session);
    }
}

/* ---- The end ---- */

/* Signals libfuse's threads out of their system calls. Returns how many of them are in one, or 1 until all have
 * ended. */
static unsigned signal_ring_locked(struct session *session) {
    unsigned running = 0;
    if (!session->ring || ring_has_ended(session->ring))
        return 0;
    for (struct session_server *server = session->others; server; server = server->next)
        running += server->on_ring && server_signal_while(server, &server->request, 0);
    return running > 0 ? running : 1;
}

/* Signals the threads that have not ended out of their system calls. Returns how many there are. */
static unsigned signal_servers(struct session *session) {
    pthread_mutex_lock(&session->lock);
    unsigned running = signal_ring_locked(session);
    session_wake_parked_workers(session);
    for (unsigned index = 0; index < session->worker_count; index++) {
        struct worker *worker = session->workers[index];
        if (!__atomic_load_n(&worker->ended, __ATOMIC_ACQUIRE)) {
            running++;
            pthread_kill(worker->server.thread, INTERRUPT_SIGNAL);
        }
    }
    pthread_mutex_unlock(&session->lock);
    return running;
}

/* Waits some time for threads to end. Returns how many hang. */
static unsigned wait_for_servers(struct session *session) {
    const struct timespec step = {.tv_nsec = SIGNAL_EVERY_NS};
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + STOP_PATIENCE_NS;
    sigset_t wakeup;
    sigemptyset(&wakeup);
    sigaddset(&wakeup, MAIN_SIGNAL);
    unsigned running = signal_servers(session);
    while (running > 0 && read_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        sigtimedwait(&wakeup, NULL, &step);
        running = signal_servers(session);
    }
    return running;
}

static void join_servers(struct session *session) {
    for (unsigned index = 0; index < session->worker_count; index++)
        pthread_join(session->workers[index]->server.thread, NULL);
}

/* ---- Life cycle ---- */

int session_create(struct fuse_session *fuse, const struct session_options *options, struct session **ret_session) {
    CLEANUP_FREE struct session *session = calloc(1, sizeof(*session));
    if (!session)
        return -ENOMEM;
    session->fuse = fuse;
    session->single = options->single;
    if (options->over_ring && !(session->ring = ring_reply_thread_create(fuse)))
        return -ENOMEM;
    pool_init(&session->pool, &options->clock, !options->single && !options->plain && !session->ring);
    session->idle_most = IDLE_PER_CPU * session->pool.home.cpu_count;
    session_init_deferred(session, options->owner_uid);
    session->main_thread = pthread_self();
    pthread_mutex_init(&session->lock, NULL);
    *ret_session = steal_pointer(&session);
    return 0;
}

void session_destroy(struct session *session) {
    if (!session)
        return;
    for (unsigned index = 0; index < session->worker_count; index++)
        session_free_worker(session->workers[index]);
    while (session->others) {
        struct session_server *server = session->others;
        session->others = server->next;
        free(server);
    }
    ring_reply_thread_destroy(session->ring);
    pool_finish(&session->pool);
    session_drop_deferred(session);
    pthread_mutex_destroy(&session->lock);
    free(session);
}

void session_negotiate(struct session *session) {
    struct fuse_buf buffer = {.mem = NULL};
    if (fuse_session_receive_buf(session->fuse, &buffer) > 0)
        fuse_session_process_buf(session->fuse, &buffer);
    free(buffer.mem);
}

void session_set_thread_home(const struct session *session, pthread_attr_t *attr) {
    scheduling_set_home(&session->pool.home, attr);
}

/* True if some thread may still answer over the ring. */
static bool has_lock_waiters(struct session *session) {
    pthread_mutex_lock(&session->lock);
    const struct session_server *server = session->others;
    while (server && server->on_ring)
        server = server->next;
    pthread_mutex_unlock(&session->lock);
    return server;
}

unsigned session_stop(struct session *session) {
    fuse_session_exit(session->fuse);
    pool_stop(&session->pool);
    if (session->ring && !has_lock_waiters(session))
        ring_end(session->ring);
    unsigned hung = wait_for_servers(session);
    if (hung == 0)
        join_servers(session);
    return hung;
}

int session_start(struct session *session) {
    return session_add_waiting_worker(session);
}

struct session_outcome session_run(struct session *session) {
    struct session_outcome outcome = {.signal = fuse_session_exited(session->fuse) ? 0 : wait_for_end(session)};
    outcome.error = session->error;
    outcome.end = outcome.error < 0 ? SESSION_FAILED : outcome.signal > 0 ? SESSION_SIGNALLED : SESSION_UNMOUNTED;
    return outcome;
}
