/* Threads that serve requests, as the glue sees them. */
#include "session_private.h"

#include <errno.h>
#include <stdlib.h>

#include "base.h"
#include "request_body.h"
#include "uring.h"

static void add_server(struct session *session, struct session_server *server) {
    pthread_mutex_lock(&session->lock);
    server->next = session->others;
    session->others = server;
    pthread_mutex_unlock(&session->lock);
}

struct session_server *session_add_server(struct session *session, uint64_t request) {
    struct session_server *server = calloc(1, sizeof(*server));
    if (!server)
        return NULL;
    server->session = session;
    server->request = request;
    add_server(session, server);
    return server;
}

void session_be_server(struct session_server *server) {
    session_restore_scheduling(server->session);
    server->thread = pthread_self();
    session_this_server = server;
}

void session_remove_server(struct session_server *server) {
    if (!server)
        return;
    struct session *session = server->session;
    pthread_mutex_lock(&session->lock);
    struct session_server **link = &session->others;
    while (*link != server)
        link = &(*link)->next;
    *link = server->next;
    pthread_mutex_unlock(&session->lock);
    free(server);
}

void session_end_server(struct session_server *server, fuse_req_t req, int error) {
    if (ring_carries(req))
        ring_answer(server->session->ring, req, error);
    else
        fuse_reply_err(req, error);
    session_remove_server(server);
}

/* Registers one of libfuse's threads at its first request. It must not be cancelled during a call, when it may hold
 * locks. Without memory its calls cannot be interrupted. */
static void join_from_ring(struct session *session) {
    struct session_server *server = calloc(1, sizeof(*server));
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    if (!server)
        return;
    server->session = session;
    server->on_ring = true;
    session_be_server(server);
    add_server(session, server);
}

/* After this no signal comes any more: it would hit the next request. */
static void wait_for_interrupters(struct session_server *server) {
    while (__atomic_load_n(&server->interrupters, __ATOMIC_SEQ_CST) > 0)
        sched_yield();
}

void session_enter(struct session *session, fuse_req_t req, bool interruptible) {
    if (!session_this_server)
        join_from_ring(session);
    struct session_server *server = session_this_server;
    if (!server)
        return;
    if (server->worker)
        worker_goes_on(server->worker);
    else
        __atomic_store_n(&server->caller, fuse_req_ctx(req)->pid, __ATOMIC_RELAXED);
    if (server->on_ring)
        __atomic_store_n(&server->request, ring_request(session->fuse, req), __ATOMIC_RELEASE);
    if (interruptible)
        __atomic_store_n(&server->interruptible, server->request, __ATOMIC_RELEASE); /* late? it is repeated */
}

void session_leave(bool interruptible) {
    struct session_server *server = session_this_server;
    if (!server)
        return;
    if (interruptible)
        __atomic_exchange_n(&server->interruptible, 0, __ATOMIC_SEQ_CST);
    if (server->on_ring)
        __atomic_exchange_n(&server->request, 0, __ATOMIC_SEQ_CST);
    if (interruptible || server->on_ring)
        wait_for_interrupters(server);
    if (server->worker)
        worker_answers(server->worker);
}

void session_goes_on(void) {
    if (session_this_server && session_this_server->worker)
        worker_goes_on(session_this_server->worker);
}

uint64_t session_request(struct session *session, fuse_req_t req) {
    return session_this_server && session_this_server->worker ? session_this_server->request
                                                              : ring_request(session->fuse, req);
}

bool session_caller_lacks_fsetid(void) {
    return session_this_server && session_this_server->worker && session_this_server->worker->lacks_fsetid;
}

static bool request_is(uint32_t opcode) {
    return session_this_server && session_this_server->worker && session_this_server->worker->opcode == opcode;
}

bool session_is_tmpfile(void) {
    return request_is(FUSE_TMPFILE);
}

bool session_is_statx(void) {
    return request_is(FUSE_STATX);
}

bool session_is_copy_file_range_64(void) {
    return request_is(FUSE_COPY_FILE_RANGE_64);
}
