/* Threads that serve requests, as the glue sees them. */
#include "loop_private.h"

#include <errno.h>
#include <stdlib.h>

#include "base.h"
#include "request_body.h"
#include "uring.h"

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

bool loop_serves(uint32_t opcode) {
    return loop_this_server && loop_this_server->worker && loop_this_server->worker->opcode == opcode;
}
