/* Requests that are put off, so that one user's calls that hang below leave workers to others.
 *
 * A request counts for its user from when a worker begins to serve it until the answer. One above the user's share is
 * copied, the worker goes on, and whoever ends a request serves the next one that has a share then. What is copied is
 * bounded in the same way; above that it is refused with ENOMEM.
 *
 * The queues have a lock of their own, which the main thread does not take: a bound worker may hold it, and be without
 * a CPU meanwhile (pool.h). */
#include <errno.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "process_rights.h"
#include "session_private.h"

#define DEFERRED_BYTES_MAX ((size_t)64 << 20)

/* Closing is asked for by nobody in particular; also it may hang, so it has a share of its own. */
#define WHO_CLOSES ((uid_t)-1)

/* The kernel itself: interrupts, forgetting, pages written back. They are never put off, for they may be what others
 * wait for, and pages would be lost where they are refused. */
#define THE_KERNEL ((uid_t)-2)

void session_init_deferred(struct session *session, uid_t owner_uid) {
    pthread_mutex_init(&session->deferred_lock, NULL);
    user_shares_init(&session->busy, WORKERS_MAX, owner_uid);
    user_shares_init(&session->deferred_bytes, DEFERRED_BYTES_MAX, owner_uid);
}

static struct fuse_in_header header_of(const void *request) {
    struct fuse_in_header header;
    memcpy(&header, request, sizeof(header));
    return header;
}

uint64_t session_request_of(const struct deferred *deferred) {
    return header_of(deferred->request).unique;
}

pid_t session_caller_of(const struct deferred *deferred) {
    return (pid_t)header_of(deferred->request).pid;
}

uid_t session_charged_user(const void *request) {
    struct fuse_in_header header = header_of(request);
    if (header.opcode == FUSE_RELEASE)
        return WHO_CLOSES;
    return header.uid == 0 && header.pid == 0 ? THE_KERNEL : header.uid;
}

static bool is_never_put_off(const struct session *session, uid_t uid) {
    return session->single || uid == THE_KERNEL || user_shares_is_trusted(&session->busy, uid);
}

static bool take_share(struct session *session, uid_t uid) {
    if (!user_shares_are_left(&session->busy, uid))
        return false;
    user_shares_take(&session->busy, uid, 1);
    return true;
}

/* An administrator is not put off, however many workers his requests have. */
static bool take_without_share(struct session *session, uid_t uid, pid_t caller) {
    if (!process_is_admin(caller, uid))
        return false;
    user_shares_take(&session->busy, uid, 1);
    return true;
}

static size_t allocated_bytes(const struct deferred *deferred) {
    return sizeof(*deferred) + deferred->size_bytes;
}

static struct deferred *copy_request(struct session *session, uid_t uid, const void *request, size_t size_bytes) {
    if (!user_shares_are_left(&session->deferred_bytes, uid))
        return NULL;
    struct deferred *copy = malloc(sizeof(*copy) + size_bytes);
    if (!copy)
        return NULL;
    *copy = (struct deferred){.uid = uid, .size_bytes = size_bytes};
    memcpy(copy->request, request, size_bytes);
    user_shares_take(&session->deferred_bytes, uid, allocated_bytes(copy));
    return copy;
}

void session_free_deferred(struct session *session, struct deferred *deferred) {
    if (!deferred)
        return;
    user_shares_give(&session->deferred_bytes, deferred->uid, allocated_bytes(deferred));
    free(deferred);
}

void session_refuse(struct session *session, const void *request, int error) {
    struct fuse_out_header answer = {.len = sizeof(answer), .error = -error, .unique = header_of(request).unique};
    if (write(fuse_session_fd(session->fuse), &answer, sizeof(answer)) < 0)
        return; /* it is over already, or the connection is */
}

/* Counted first, and then looked for a share once more: one that became free before that was not seen by who waits. */
static bool put_off_locked(struct session *session, struct deferred *deferred) {
    struct deferred_queue *queue = &session->deferred[deferred->uid % USER_SHARES_COUNTERS];
    __atomic_add_fetch(&session->deferred_count, 1, __ATOMIC_SEQ_CST);
    if (take_share(session, deferred->uid)) {
        __atomic_sub_fetch(&session->deferred_count, 1, __ATOMIC_SEQ_CST);
        return false;
    }
    *(queue->first ? &queue->last->next : &queue->first) = deferred;
    queue->last = deferred;
    return true;
}

static bool put_off(struct session *session, struct deferred *deferred) {
    pthread_mutex_lock(&session->deferred_lock);
    bool is_put_off = put_off_locked(session, deferred);
    pthread_mutex_unlock(&session->deferred_lock);
    return is_put_off;
}

bool session_begin(struct session *session, const void *request, size_t size_bytes) {
    uid_t uid = session_charged_user(request);
    if (is_never_put_off(session, uid) || take_share(session, uid) ||
        take_without_share(session, uid, (pid_t)header_of(request).pid))
        return true;
    struct deferred *deferred = copy_request(session, uid, request, size_bytes);
    if (!deferred)
        session_refuse(session, request, ENOMEM);
    else if (!put_off(session, deferred)) {
        session_free_deferred(session, deferred);
        return true;
    }
    return false;
}

void session_end(struct session *session, uid_t charged_user) {
    if (!is_never_put_off(session, charged_user))
        user_shares_give(&session->busy, charged_user, 1);
}

static struct deferred *unlink_first_locked(struct session *session, struct deferred_queue *queue) {
    struct deferred *deferred = queue->first;
    queue->first = deferred->next;
    __atomic_sub_fetch(&session->deferred_count, 1, __ATOMIC_SEQ_CST);
    return deferred;
}

/* Users have their turns one after the other. */
static struct deferred *next_locked(struct session *session) {
    for (unsigned tries = 0; tries < USER_SHARES_COUNTERS; tries++) {
        struct deferred_queue *queue = &session->deferred[session->deferred_turn++ % USER_SHARES_COUNTERS];
        if (queue->first && take_share(session, queue->first->uid))
            return unlink_first_locked(session, queue);
    }
    return NULL;
}

struct deferred *session_next_deferred(struct session *session) {
    if (__atomic_load_n(&session->deferred_count, __ATOMIC_SEQ_CST) == 0)
        return NULL;
    pthread_mutex_lock(&session->deferred_lock);
    struct deferred *next = next_locked(session);
    pthread_mutex_unlock(&session->deferred_lock);
    return next;
}

static struct deferred *find_locked(struct session *session, uint64_t request) {
    for (unsigned index = 0; index < USER_SHARES_COUNTERS; index++) {
        for (struct deferred *deferred = session->deferred[index].first; deferred; deferred = deferred->next) {
            if (session_request_of(deferred) == request)
                return deferred;
        }
    }
    return NULL;
}

bool session_interrupt_deferred(struct session *session, uint64_t request) {
    if (__atomic_load_n(&session->deferred_count, __ATOMIC_SEQ_CST) == 0)
        return false;
    pthread_mutex_lock(&session->deferred_lock);
    struct deferred *deferred = find_locked(session, request);
    bool is_found = deferred;
    if (is_found)
        deferred->interrupted = true;
    pthread_mutex_unlock(&session->deferred_lock);
    return is_found;
}

void session_drop_deferred(struct session *session) {
    for (unsigned index = 0; index < USER_SHARES_COUNTERS; index++) {
        while (session->deferred[index].first)
            session_free_deferred(session, unlink_first_locked(session, &session->deferred[index]));
    }
    pthread_mutex_destroy(&session->deferred_lock);
}
