/* Interrupting the system calls of threads that serve requests.
 *
 * libfuse's own way takes locks that all workers share, at every request, and does not work for requests of rings. Here
 * a thread only notes which request it serves, and the thread that receives a FUSE_INTERRUPT, which is rare, searches
 * for it. */
#include "loop_private.h"

#include <errno.h>
#include <signal.h>

#include "proc.h"

/* An interrupt is repeated until so many ticks in a row found no thread serving the request: a worker that has taken a
 * request, and gets no CPU, may begin with it long after the interrupt came. */
#define MISSES_AFTER_ITS_END 3U
#define MISSES_BEFORE_IT_BEGAN 100U
#define RING_CHECKS_PER_LOCK 50U

_Thread_local struct loop_server *loop_this_server;

bool server_signal_while(struct loop_server *server, const uint64_t *at, uint64_t request) {
    __atomic_add_fetch(&server->interrupters, 1, __ATOMIC_SEQ_CST);
    uint64_t found = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    bool hit = found != 0 && (request == 0 || found == request);
    if (hit)
        pthread_kill(server->thread, INTERRUPT_SIGNAL);
    __atomic_sub_fetch(&server->interrupters, 1, __ATOMIC_SEQ_CST);
    return hit;
}

static bool interrupt_if_at(struct loop_server *server, uint64_t request) {
    if (__atomic_load_n(&server->request, __ATOMIC_ACQUIRE) != request)
        return false;
    server_signal_while(server, &server->interruptible, request);
    return true;
}

/* Returns whether a thread serves it. */
static bool interrupt_locked(struct loop *loop, uint64_t request) {
    bool found = false;
    for (unsigned index = 0; index < loop->worker_count; index++)
        found |= interrupt_if_at(&loop->workers[index]->server, request);
    for (struct loop_server *server = loop->others; server; server = server->next)
        found |= interrupt_if_at(server, request);
    return found;
}

static void interrupt_and_repeat_locked(struct loop *loop, uint64_t request) {
    bool has_begun = interrupt_locked(loop, request);
    unsigned count = loop->interrupt_count;
    if (count < WORKERS_MAX) {
        loop->interrupts[count] = (struct interrupt){.request = request, .has_begun = has_begun};
        __atomic_store_n(&loop->interrupt_count, count + 1, __ATOMIC_SEQ_CST);
    }
}

void loop_interrupt(struct loop *loop, uint64_t request) {
    if (loop_interrupt_deferred(loop, request))
        return;
    pthread_mutex_lock(&loop->lock);
    interrupt_and_repeat_locked(loop, request);
    pthread_mutex_unlock(&loop->lock);
    loop_wake_main_thread(loop);
}

/* Returns whether to repeat it again. */
static bool repeat_locked(struct loop *loop, struct interrupt *interrupt) {
    bool is_found = interrupt_locked(loop, interrupt->request);
    interrupt->has_begun |= is_found;
    interrupt->misses = is_found ? 0 : interrupt->misses + 1;
    return interrupt->misses < (interrupt->has_begun ? MISSES_AFTER_ITS_END : MISSES_BEFORE_IT_BEGAN);
}

void loop_repeat_interrupts(struct loop *loop) {
    unsigned kept = 0;
    pthread_mutex_lock(&loop->lock);
    for (unsigned index = 0; index < loop->interrupt_count; index++) {
        struct interrupt interrupt = loop->interrupts[index];
        if (repeat_locked(loop, &interrupt))
            loop->interrupts[kept++] = interrupt;
    }
    __atomic_store_n(&loop->interrupt_count, kept, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&loop->lock);
}

/* Reads the signals pending for the thread itself; SIGKILL is sent to each thread. */
bool server_is_killed(pid_t caller) {
    uint64_t pending;
    return proc_status_number((uint64_t)caller, "SigPnd", 16, &pending) && pending & UINT64_C(1) << (SIGKILL - 1);
}

static void interrupt_if_killed(struct loop_server *server) {
    uint64_t at = __atomic_load_n(&server->interruptible, __ATOMIC_ACQUIRE);
    bool lasts = at != 0 && at == server->seen;
    server->seen = at;
    if (lasts && server_is_killed(__atomic_load_n(&server->caller, __ATOMIC_RELAXED)))
        server_signal_while(server, &server->interruptible, at);
}

void loop_find_lost_interrupts(struct loop *loop) {
    bool checks_locks = loop->ring_checks++ % RING_CHECKS_PER_LOCK == 0;
    pthread_mutex_lock(&loop->lock);
    for (struct loop_server *server = loop->others; server; server = server->next) {
        if (server->on_ring || checks_locks)
            interrupt_if_killed(server);
    }
    pthread_mutex_unlock(&loop->lock);
}

bool loop_is_still_wanted(struct loop *loop, const struct deferred *deferred) {
    if (!deferred->interrupted)
        return true;
    if (server_is_killed(loop_caller_of(deferred))) {
        loop_refuse(loop, deferred->request, EINTR);
        return false;
    }
    loop_interrupt(loop, loop_request_of(deferred));
    return true;
}
