/* Interrupting the system calls of threads that serve requests.
 *
 * libfuse's own way takes locks that all workers share, at every request, and does not work for requests of rings. Here
 * a thread only notes which request it serves, and the thread that receives a FUSE_INTERRUPT, which is rare, searches
 * for it. */
#include "session_private.h"

#include <errno.h>
#include <signal.h>

#include "proc.h"

/* An interrupt is repeated until so many ticks in a row found no thread serving the request: a worker that has taken a
 * request, and gets no CPU, may begin with it long after the interrupt came. */
#define MISSES_AFTER_ITS_END 3U
#define MISSES_BEFORE_IT_BEGAN 100U
#define RING_CHECKS_PER_LOCK 50U

_Thread_local struct session_server *session_this_server;

bool server_signal_while(struct session_server *server, const uint64_t *at, uint64_t request) {
    __atomic_add_fetch(&server->interrupters, 1, __ATOMIC_SEQ_CST);
    uint64_t found = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    bool hit = found != 0 && (request == 0 || found == request);
    if (hit)
        pthread_kill(server->thread, INTERRUPT_SIGNAL);
    __atomic_sub_fetch(&server->interrupters, 1, __ATOMIC_SEQ_CST);
    return hit;
}

static bool interrupt_if_at(struct session_server *server, uint64_t request) {
    if (__atomic_load_n(&server->request, __ATOMIC_ACQUIRE) != request)
        return false;
    server_signal_while(server, &server->interruptible, request);
    return true;
}

/* Returns whether a thread serves it. */
static bool interrupt_locked(struct session *session, uint64_t request) {
    bool found = false;
    for (unsigned index = 0; index < session->worker_count; index++)
        found |= interrupt_if_at(&session->workers[index]->server, request);
    for (struct session_server *server = session->others; server; server = server->next)
        found |= interrupt_if_at(server, request);
    return found;
}

static void interrupt_and_repeat_locked(struct session *session, uint64_t request) {
    bool has_begun = interrupt_locked(session, request);
    unsigned count = session->interrupt_count;
    if (count < WORKERS_MAX) {
        session->interrupts[count] = (struct interrupt){.request = request, .has_begun = has_begun};
        __atomic_store_n(&session->interrupt_count, count + 1, __ATOMIC_SEQ_CST);
    }
}

void session_interrupt(struct session *session, uint64_t request) {
    if (session_interrupt_deferred(session, request))
        return;
    pthread_mutex_lock(&session->lock);
    interrupt_and_repeat_locked(session, request);
    pthread_mutex_unlock(&session->lock);
    session_wake_main_thread(session);
}

/* Returns whether to repeat it again. */
static bool repeat_locked(struct session *session, struct interrupt *interrupt) {
    bool is_found = interrupt_locked(session, interrupt->request);
    interrupt->has_begun |= is_found;
    interrupt->misses = is_found ? 0 : interrupt->misses + 1;
    return interrupt->misses < (interrupt->has_begun ? MISSES_AFTER_ITS_END : MISSES_BEFORE_IT_BEGAN);
}

void session_repeat_interrupts(struct session *session) {
    unsigned kept = 0;
    pthread_mutex_lock(&session->lock);
    for (unsigned index = 0; index < session->interrupt_count; index++) {
        struct interrupt interrupt = session->interrupts[index];
        if (repeat_locked(session, &interrupt))
            session->interrupts[kept++] = interrupt;
    }
    __atomic_store_n(&session->interrupt_count, kept, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&session->lock);
}

/* Reads the signals pending for the thread itself; SIGKILL is sent to each thread. */
bool server_is_killed(pid_t caller) {
    uint64_t pending;
    return proc_status_number((uint64_t)caller, "SigPnd", 16, &pending) && pending & UINT64_C(1) << (SIGKILL - 1);
}

static void interrupt_if_killed(struct session_server *server) {
    uint64_t at = __atomic_load_n(&server->interruptible, __ATOMIC_ACQUIRE);
    bool lasts = at != 0 && at == server->seen;
    server->seen = at;
    if (lasts && server_is_killed(__atomic_load_n(&server->caller, __ATOMIC_RELAXED)))
        server_signal_while(server, &server->interruptible, at);
}

void session_find_lost_interrupts(struct session *session) {
    bool checks_locks = session->ring_checks++ % RING_CHECKS_PER_LOCK == 0;
    pthread_mutex_lock(&session->lock);
    for (struct session_server *server = session->others; server; server = server->next) {
        if (server->on_ring || checks_locks)
            interrupt_if_killed(server);
    }
    pthread_mutex_unlock(&session->lock);
}

bool session_is_still_wanted(struct session *session, const struct deferred *deferred) {
    if (!deferred->interrupted)
        return true;
    if (server_is_killed(session_caller_of(deferred))) {
        session_refuse(session, deferred->request, EINTR);
        return false;
    }
    session_interrupt(session, session_request_of(deferred));
    return true;
}
