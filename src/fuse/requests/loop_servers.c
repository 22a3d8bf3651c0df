/* Threads that serve requests, as the glue sees them, and how their system calls are interrupted.
 *
 * libfuse's own way takes locks that all workers share, at every request, and does not work for requests of rings. Here
 * a thread only notes which request it serves, and the thread that receives a FUSE_INTERRUPT, which is rare, searches
 * for it. */
#include "loop_private.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base.h"
#include "proc.h"
#include "request_body.h"
#include "uring.h"

/* An interrupt is repeated until so many ticks in a row found no thread serving the request: a worker that has taken a
 * request, and gets no CPU, may begin with it long after the interrupt came. */
#define MISSES_AFTER_ITS_END 3U
#define MISSES_BEFORE_IT_BEGAN 100U
#define RING_CHECKS_PER_LOCK 50U

_Thread_local struct loop_server *loop_this_server;

static void add_server(struct loop *loop, struct loop_server *server) {
    pthread_mutex_lock(&loop->lock);
    server->next = loop->others;
    loop->others = server;
    pthread_mutex_unlock(&loop->lock);
}

struct loop_server *loop_add_server(struct loop *loop, uint64_t request) {
    struct loop_server *server = calloc(1, sizeof(*server));
    if (!server)
        return NULL;
    server->loop = loop;
    server->request = request;
    add_server(loop, server);
    return server;
}

void loop_be_server(struct loop_server *server) {
    loop_restore_scheduling(server->loop);
    server->thread = pthread_self();
    loop_this_server = server;
}

void loop_remove_server(struct loop_server *server) {
    if (!server)
        return;
    struct loop *loop = server->loop;
    pthread_mutex_lock(&loop->lock);
    struct loop_server **link = &loop->others;
    while (*link != server)
        link = &(*link)->next;
    *link = server->next;
    pthread_mutex_unlock(&loop->lock);
    free(server);
}

void loop_end_server(struct loop_server *server, fuse_req_t req, int error) {
    if (ring_carries(req))
        ring_answer(server->loop->ring, req, error);
    else
        fuse_reply_err(req, error);
    loop_remove_server(server);
}

/* Registers one of libfuse's threads at its first request. It must not be cancelled during a call, when it may hold
 * locks. Without memory its calls cannot be interrupted. */
static void join_from_ring(struct loop *loop) {
    struct loop_server *server = calloc(1, sizeof(*server));
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    if (!server)
        return;
    server->loop = loop;
    server->on_ring = true;
    loop_be_server(server);
    add_server(loop, server);
}

void loop_enter(struct loop *loop, fuse_req_t req, bool interruptible) {
    if (!loop_this_server)
        join_from_ring(loop);
    struct loop_server *server = loop_this_server;
    if (!server)
        return;
    if (server->worker)
        worker_goes_on(server->worker);
    else
        __atomic_store_n(&server->caller, fuse_req_ctx(req)->pid, __ATOMIC_RELAXED);
    if (server->on_ring)
        __atomic_store_n(&server->request, ring_request(loop->fuse, req), __ATOMIC_RELEASE);
    if (interruptible)
        __atomic_store_n(&server->interruptible, server->request, __ATOMIC_RELEASE); /* late? it is repeated */
}

void loop_leave(bool interruptible) {
    struct loop_server *server = loop_this_server;
    if (!server)
        return;
    if (interruptible)
        __atomic_exchange_n(&server->interruptible, 0, __ATOMIC_SEQ_CST);
    if (server->on_ring)
        __atomic_exchange_n(&server->request, 0, __ATOMIC_SEQ_CST);
    if (interruptible || server->on_ring) { /* after this no signal comes any more: it would hit the next request */
        while (__atomic_load_n(&server->interrupters, __ATOMIC_SEQ_CST) > 0)
            sched_yield();
    }
    if (server->worker)
        worker_answers(server->worker);
}

void loop_goes_on(void) {
    if (loop_this_server && loop_this_server->worker)
        worker_goes_on(loop_this_server->worker);
}

uint64_t loop_request(struct loop *loop, fuse_req_t req) {
    return loop_this_server && loop_this_server->worker ? loop_this_server->request : ring_request(loop->fuse, req);
}

bool loop_caller_lacks_fsetid(void) {
    return loop_this_server && loop_this_server->worker && loop_this_server->worker->lacks_fsetid;
}

static bool request_is(uint32_t opcode) {
    return loop_this_server && loop_this_server->worker && loop_this_server->worker->opcode == opcode;
}

bool loop_is_tmpfile(void) {
    return request_is(FUSE_TMPFILE);
}

bool loop_is_statx(void) {
    return request_is(FUSE_STATX);
}

bool loop_is_copy_file_range_64(void) {
    return request_is(FUSE_COPY_FILE_RANGE_64);
}

/* ---- Interrupts ---- */

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

void loop_interrupt(struct loop *loop, uint64_t request) {
    if (loop_interrupt_deferred(loop, request))
        return;
    pthread_mutex_lock(&loop->lock);
    const struct interrupt interrupt = {.request = request, .has_begun = interrupt_locked(loop, request)};
    unsigned count = loop->interrupt_count;
    if (count < WORKERS_MAX) { /* it is repeated */
        loop->interrupts[count] = interrupt;
        __atomic_store_n(&loop->interrupt_count, count + 1, __ATOMIC_SEQ_CST);
    }
    pthread_mutex_unlock(&loop->lock);
    loop_wake_main_thread(loop);
}

void loop_repeat_interrupts(struct loop *loop) {
    unsigned kept = 0;
    pthread_mutex_lock(&loop->lock);
    for (unsigned index = 0; index < loop->interrupt_count; index++) {
        struct interrupt interrupt = loop->interrupts[index];
        bool is_found = interrupt_locked(loop, interrupt.request);
        interrupt.has_begun |= is_found;
        interrupt.misses = is_found ? 0 : interrupt.misses + 1;
        if (interrupt.misses < (interrupt.has_begun ? MISSES_AFTER_ITS_END : MISSES_BEFORE_IT_BEGAN))
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

void loop_find_lost_interrupts(struct loop *loop) {
    bool checks_locks = loop->ring_checks++ % RING_CHECKS_PER_LOCK == 0;
    pthread_mutex_lock(&loop->lock);
    for (struct loop_server *server = loop->others; server; server = server->next) {
        if (!server->on_ring && !checks_locks)
            continue;
        uint64_t at = __atomic_load_n(&server->interruptible, __ATOMIC_ACQUIRE);
        bool lasts = at != 0 && at == server->seen;
        server->seen = at;
        if (lasts && server_is_killed(__atomic_load_n(&server->caller, __ATOMIC_RELAXED)))
            server_signal_while(server, &server->interruptible, at);
    }
    pthread_mutex_unlock(&loop->lock);
}
