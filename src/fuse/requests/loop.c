/* The main thread of a mount: it waits for the end, and meanwhile checks that the workers make progress. */
#include "loop_private.h"

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

void loop_prepare_signals(void) {
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

int loop_interrupt_signal(void) {
    return INTERRUPT_SIGNAL;
}

/* ---- The main thread ---- */

static bool has_interrupts(struct loop *loop) {
    return __atomic_load_n(&loop->interrupt_count, __ATOMIC_SEQ_CST) > 0;
}

bool loop_call_later(void (*call)(void *data), void *data) {
    if (!loop_this_server)
        return false;
    struct loop *loop = loop_this_server->loop;
    pthread_mutex_lock(&loop->lock);
    loop->later_data = data;
    bool is_awaited = __atomic_exchange_n(&loop->later, call, __ATOMIC_ACQ_REL) != NULL;
    pthread_mutex_unlock(&loop->lock);
    if (!is_awaited)
        loop_wake_main_thread(loop);
    return true;
}

static bool has_later(struct loop *loop) {
    return __atomic_load_n(&loop->later, __ATOMIC_ACQUIRE);
}

static void do_later(struct loop *loop) {
    pthread_mutex_lock(&loop->lock);
    void (*call)(void *data) = __atomic_exchange_n(&loop->later, NULL, __ATOMIC_ACQ_REL);
    void *data = loop->later_data;
    pthread_mutex_unlock(&loop->lock);
    loop->called_ns = read_clock_ns(CLOCK_MONOTONIC);
    call(data);
}

static void tick(struct loop *loop) {
    if (has_interrupts(loop))
        loop_repeat_interrupts(loop);
    if (loop->ring)
        loop_find_lost_interrupts(loop);
    if (!pool_is_plain(&loop->pool) && pool_tick(&loop->pool, fuse_session_fd(loop->fuse)) &&
        __atomic_load_n(&loop->idle_count, __ATOMIC_SEQ_CST) == 0)
        loop_add_waiting_worker(loop); /* all chosen workers may be busy, each relying on the others to receive */
    if (loop_has_late(loop))
        loop_refuse_late(loop);
    if (has_later(loop) && read_clock_ns(CLOCK_MONOTONIC) - loop->called_ns >= LATER_NS)
        do_later(loop);
}

/* Time between ticks; 0: there is nothing to check. */
static int64_t tick_step_ns(struct loop *loop) {
    if (!pool_is_plain(&loop->pool))
        return POOL_TICK_NS;
    if (has_interrupts(loop))
        return SIGNAL_EVERY_NS;
    if (loop->ring)
        return RING_TICK_NS;
    return has_later(loop) || loop_has_late(loop) ? LATER_NS : 0;
}

/* Waits for a signal, with a tick at each step, also while signals come. ret_ticked_ns: time of the last tick. */
static int wait_for_signal(struct loop *loop, int64_t *ret_ticked_ns) {
    sigset_t ending = ending_signals();
    int64_t step_ns = tick_step_ns(loop);
    if (step_ns == 0)
        return sigwaitinfo(&ending, NULL);
    int64_t left_ns = *ret_ticked_ns + step_ns - read_clock_ns(CLOCK_MONOTONIC);
    left_ns = left_ns < 0 ? 0 : left_ns < step_ns ? left_ns : step_ns;
    const struct timespec left = timespec_of(left_ns);
    int signal = sigtimedwait(&ending, NULL, &left);
    if (read_clock_ns(CLOCK_MONOTONIC) - *ret_ticked_ns >= step_ns) {
        tick(loop);
        *ret_ticked_ns = read_clock_ns(CLOCK_MONOTONIC);
    }
    return signal;
}

static int wait_for_end(struct loop *loop) {
    int64_t ticked_ns = 0;
    for (;;) {
        int signal = wait_for_signal(loop, &ticked_ns);
        if (signal > 0 && signal != MAIN_SIGNAL)
            return signal;
        if (fuse_session_exited(loop->fuse))
            return 0;
        if (__atomic_load_n(&loop->ended_count, __ATOMIC_ACQUIRE) > 0)
            loop_join_ended_workers(loop);
        if (pool_wants_worker(&loop->pool))
            loop_add_waiting_worker(loop);
    }
}

/* ---- The end ---- */

/* Signals the threads that have not ended out of their system calls. Returns how many there are; of libfuse's threads
 * those that are in a system call, or 1 until all have ended. */
static unsigned signal_servers(struct loop *loop) {
    unsigned running = 0;
    pthread_mutex_lock(&loop->lock);
    if (loop->ring && !ring_has_ended(loop->ring)) {
        for (struct loop_server *server = loop->others; server; server = server->next)
            running += server->on_ring && server_signal_while(server, &server->request, 0);
        running += running == 0;
    }
    loop_wake_parked_workers(loop);
    for (unsigned index = 0; index < loop->worker_count; index++) {
        struct worker *worker = loop->workers[index];
        if (!__atomic_load_n(&worker->ended, __ATOMIC_ACQUIRE)) {
            running++;
            pthread_kill(worker->server.thread, INTERRUPT_SIGNAL);
        }
    }
    pthread_mutex_unlock(&loop->lock);
    return running;
}

/* Waits some time for threads to end. Returns how many hang. */
static unsigned wait_for_servers(struct loop *loop) {
    const struct timespec step = {.tv_nsec = SIGNAL_EVERY_NS};
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + STOP_PATIENCE_NS;
    sigset_t wakeup;
    sigemptyset(&wakeup);
    sigaddset(&wakeup, MAIN_SIGNAL);
    unsigned running = signal_servers(loop);
    while (running > 0 && read_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        sigtimedwait(&wakeup, NULL, &step);
        running = signal_servers(loop);
    }
    return running;
}

/* ---- Life cycle ---- */

int loop_create(struct fuse_session *fuse, const struct loop_options *options, struct loop **ret_loop) {
    CLEANUP_FREE struct loop *loop = calloc(1, sizeof(*loop));
    if (!loop)
        return -ENOMEM;
    loop->fuse = fuse;
    loop->single = options->single;
    if (options->over_ring && !(loop->ring = ring_reply_thread_create(fuse)))
        return -ENOMEM;
    pool_init(&loop->pool, &options->clock, !options->single && !options->plain && !loop->ring);
    loop->idle_most = IDLE_PER_CPU * loop->pool.home.cpu_count;
    loop_init_deferred(loop, options->owner_uid);
    loop->main_thread = pthread_self();
    pthread_mutex_init(&loop->lock, NULL);
    *ret_loop = steal_pointer(&loop);
    return 0;
}

void loop_destroy(struct loop *loop) {
    if (!loop)
        return;
    for (unsigned index = 0; index < loop->worker_count; index++)
        loop_free_worker(loop->workers[index]);
    while (loop->others) {
        struct loop_server *server = loop->others;
        loop->others = server->next;
        free(server);
    }
    ring_reply_thread_destroy(loop->ring);
    pool_finish(&loop->pool);
    loop_drop_deferred(loop);
    pthread_mutex_destroy(&loop->lock);
    free(loop);
}

void loop_negotiate(struct loop *loop) {
    struct fuse_buf buffer = {.mem = NULL};
    if (fuse_session_receive_buf(loop->fuse, &buffer) > 0)
        fuse_session_process_buf(loop->fuse, &buffer);
    free(buffer.mem);
}

void loop_set_thread_home(const struct loop *loop, pthread_attr_t *attr) {
    scheduling_set_home(&loop->pool.home, attr);
}

/* True if some thread may still answer over the ring. */
static bool has_lock_waiters(struct loop *loop) {
    pthread_mutex_lock(&loop->lock);
    const struct loop_server *server = loop->others;
    while (server && server->on_ring)
        server = server->next;
    pthread_mutex_unlock(&loop->lock);
    return server;
}

unsigned loop_stop(struct loop *loop) {
    fuse_session_exit(loop->fuse);
    pool_stop(&loop->pool);
    if (loop->ring && !has_lock_waiters(loop))
        ring_end(loop->ring);
    unsigned hung = wait_for_servers(loop);
    for (unsigned index = 0; hung == 0 && index < loop->worker_count; index++)
        pthread_join(loop->workers[index]->server.thread, NULL);
    return hung;
}

int loop_start(struct loop *loop) {
    return loop_add_waiting_worker(loop);
}

struct loop_outcome loop_run(struct loop *loop) {
    struct loop_outcome outcome = {.signal = fuse_session_exited(loop->fuse) ? 0 : wait_for_end(loop)};
    outcome.error = loop->error;
    outcome.end = outcome.error < 0 ? LOOP_FAILED : outcome.signal > 0 ? LOOP_SIGNALLED : LOOP_UNMOUNTED;
    return outcome;
}
