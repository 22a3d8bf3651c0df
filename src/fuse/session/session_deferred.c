/* Deferred requests: a user whose calls hang in the lower file system must leave workers to other users.
 *
 * A request counts for its user from when a worker begins to serve it until the answer. A request above the user's
 * share is copied and queued, and the worker goes on. A worker that has answered a request serves the next queued one
 * whose user has a share left. The memory of the copies is shared out in the same way; above the share a request is
 * refused with ENOMEM.
 *
 * While a name is looked up, or a directory listed or changed, the kernel holds the directory's lock, and other users
 * of the directory wait. So such requests have shares of their own, which calls that wait for something else cannot use
 * up. If they are deferred nevertheless, the main thread refuses them with ENOMEM after a while.
 *
 * The queues have a lock of their own, for which the main thread does not wait: a bound worker may hold it while it
 * gets no CPU (pool.h). */
#include <errno.h>
#include <linux/fuse.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "process_rights.h"
#include "request_body.h"
#include "session_private.h"

#define DEFERRED_BYTES_MAX ((size_t)64 << 20)
#define DIRECTORY_CALL_PUT_OFF_MAX_NS INT64_C(2000000000)

/* A close has no particular caller, and it may hang: so closes have a share of their own. */
#define WHO_CLOSES ((uid_t)-1)

/* The kernel itself: interrupts, FORGET, pages written back. These are never deferred: others may wait for them, and
 * refusing a write-back would lose pages. */
#define THE_KERNEL ((uid_t)-2)

void session_init_deferred(struct session *session, uid_t owner_uid) {
    pthread_mutex_init(&session->deferred_lock, NULL);
    user_shares_init(&session->busy[CHARGE_CALL], SHARED_CALLS_MAX, owner_uid);
    user_shares_init(&session->busy[CHARGE_DIRECTORY_CALL], SHARED_DIRECTORY_CALLS_MAX, owner_uid);
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

/* The kernel holds the lock also while it asks for attributes, extended ones too. */
static bool is_directory_call(uint32_t opcode) {
    switch (opcode) {
    case FUSE_LOOKUP:
    case FUSE_READDIR:
    case FUSE_READDIRPLUS:
    case FUSE_FSYNCDIR:
    case FUSE_CREATE:
    case FUSE_MKNOD:
    case FUSE_MKDIR:
    case FUSE_SYMLINK:
    case FUSE_LINK:
    case FUSE_UNLINK:
    case FUSE_RMDIR:
    case FUSE_RENAME:
    case FUSE_RENAME2:
    case FUSE_GETATTR:
    case FUSE_SETATTR:
    case FUSE_STATX:
    case FUSE_ACCESS:
    case FUSE_GETXATTR:
    case FUSE_SETXATTR:
    case FUSE_REMOVEXATTR:
        return true;
    default:
        return false;
    }
}

struct charge session_charge_of(const void *request) {
    struct fuse_in_header header = header_of(request);
    const enum charge_kind kind = is_directory_call(header.opcode) ? CHARGE_DIRECTORY_CALL : CHARGE_CALL;
    if (header.opcode == FUSE_RELEASE)
        return (struct charge){WHO_CLOSES, kind};
    return (struct charge){header.uid == 0 && header.pid == 0 ? THE_KERNEL : header.uid, kind};
}

static bool is_never_put_off(const struct session *session, struct charge charge) {
    return session->single || charge.uid == THE_KERNEL ||
           user_shares_is_trusted(&session->busy[charge.kind], charge.uid);
}

static bool take_share(struct session *session, struct charge charge) {
    if (!user_shares_are_left(&session->busy[charge.kind], charge.uid))
        return false;
    user_shares_take(&session->busy[charge.kind], charge.uid, 1);
    return true;
}

/* An administrator's requests are never deferred, however many workers they have. */
static bool take_without_share(struct session *session, struct charge charge, pid_t caller) {
    if (!process_is_admin(caller, charge.uid))
        return false;
    user_shares_take(&session->busy[charge.kind], charge.uid, 1);
    return true;
}

static size_t allocated_bytes(const struct deferred *deferred) {
    return sizeof(*deferred) + deferred->size_bytes;
}

static struct deferred *copy_request(struct session *session, struct charge charge, const void *request,
                                     size_t size_bytes) {
    if (!user_shares_are_left(&session->deferred_bytes, charge.uid))
        return NULL;
    struct deferred *copy = malloc(sizeof(*copy) + size_bytes);
    if (!copy)
        return NULL;
    *copy = (struct deferred){.charge = charge, .since_ns = read_clock_ns(CLOCK_MONOTONIC), .size_bytes = size_bytes};
    memcpy(copy->request, request, size_bytes);
    user_shares_take(&session->deferred_bytes, charge.uid, allocated_bytes(copy));
    return copy;
}

void session_free_deferred(struct session *session, struct deferred *deferred) {
    if (!deferred)
        return;
    user_shares_give(&session->deferred_bytes, deferred->charge.uid, allocated_bytes(deferred));
    free(deferred);
}

void session_refuse(struct session *session, const void *request, int error) {
    struct fuse_out_header answer = {.len = sizeof(answer), .error = -error, .unique = header_of(request).unique};
    if (write(fuse_session_fd(session->fuse), &answer, sizeof(answer)) < 0)
        return; /* the request or the connection is over already */
}

static struct deferred_queue *queue_of(struct session *session, struct charge charge) {
    return &session->deferred[charge.kind][charge.uid % USER_SHARES_COUNTERS];
}

/* Counts it first, and then looks for a share once more: a thread that gave one back before did not see this request
 * wait. */
static bool put_off_locked(struct session *session, struct deferred *deferred) {
    struct deferred_queue *queue = queue_of(session, deferred->charge);
    unsigned *count = &session->deferred_count[deferred->charge.kind];
    __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
    if (take_share(session, deferred->charge)) {
        __atomic_sub_fetch(count, 1, __ATOMIC_SEQ_CST);
        return false;
    }
    *(queue->first ? &queue->last->next : &queue->first) = deferred;
    queue->last = deferred;
    return true;
}

/* deferred: if it is the first that the main thread has to watch, the main thread is woken. */
static bool put_off(struct session *session, struct deferred *deferred) {
    const enum charge_kind kind = deferred->charge.kind;
    pthread_mutex_lock(&session->deferred_lock);
    bool is_put_off = put_off_locked(session, deferred);
    bool is_first = is_put_off && session->deferred_count[kind] == 1;
    pthread_mutex_unlock(&session->deferred_lock);
    if (is_first && kind == CHARGE_DIRECTORY_CALL)
        session_wake_main_thread(session);
    return is_put_off;
}

bool session_begin(struct session *session, const void *request, size_t size_bytes) {
    const struct charge charge = session_charge_of(request);
    if (is_never_put_off(session, charge) || take_share(session, charge) ||
        take_without_share(session, charge, (pid_t)header_of(request).pid))
        return true;
    struct deferred *deferred = copy_request(session, charge, request, size_bytes);
    if (!deferred)
        session_refuse(session, request, ENOMEM);
    else if (!put_off(session, deferred)) {
        session_free_deferred(session, deferred);
        return true;
    }
    return false;
}

void session_end(struct session *session, struct charge charge) {
    if (!is_never_put_off(session, charge))
        user_shares_give(&session->busy[charge.kind], charge.uid, 1);
}

/* ---- Queues ---- */

static struct deferred *unlink_first_locked(struct session *session, struct deferred_queue *queue) {
    struct deferred *deferred = queue->first;
    queue->first = deferred->next;
    __atomic_sub_fetch(&session->deferred_count[deferred->charge.kind], 1, __ATOMIC_SEQ_CST);
    return deferred;
}

static unsigned count_deferred(const struct session *session, enum charge_kind kind) {
    return __atomic_load_n(&session->deferred_count[kind], __ATOMIC_SEQ_CST);
}

static bool any_is_deferred(const struct session *session) {
    return count_deferred(session, CHARGE_DIRECTORY_CALL) > 0 || count_deferred(session, CHARGE_CALL) > 0;
}

/* Users take turns. */
static struct deferred *next_of_kind_locked(struct session *session, enum charge_kind kind) {
    for (unsigned tries = 0; count_deferred(session, kind) > 0 && tries < USER_SHARES_COUNTERS; tries++) {
        struct deferred_queue *queue = &session->deferred[kind][session->deferred_turn++ % USER_SHARES_COUNTERS];
        if (queue->first && take_share(session, queue->first->charge))
            return unlink_first_locked(session, queue);
    }
    return NULL;
}

static struct deferred *next_locked(struct session *session) {
    struct deferred *next = next_of_kind_locked(session, CHARGE_DIRECTORY_CALL);
    return next ? next : next_of_kind_locked(session, CHARGE_CALL);
}

struct deferred *session_next_deferred(struct session *session) {
    if (!any_is_deferred(session))
        return NULL;
    pthread_mutex_lock(&session->deferred_lock);
    struct deferred *next = next_locked(session);
    pthread_mutex_unlock(&session->deferred_lock);
    return next;
}

static struct deferred_queue *queue_at(struct session *session, unsigned index) {
    return &session->deferred[index / USER_SHARES_COUNTERS][index % USER_SHARES_COUNTERS];
}

static struct deferred *find_locked(struct session *session, uint64_t request) {
    for (unsigned index = 0; index < CHARGE_KINDS * USER_SHARES_COUNTERS; index++) {
        for (struct deferred *deferred = queue_at(session, index)->first; deferred; deferred = deferred->next) {
            if (session_request_of(deferred) == request)
                return deferred;
        }
    }
    return NULL;
}

bool session_interrupt_deferred(struct session *session, uint64_t request) {
    if (!any_is_deferred(session))
        return false;
    pthread_mutex_lock(&session->deferred_lock);
    struct deferred *deferred = find_locked(session, request);
    bool is_found = deferred;
    if (is_found)
        deferred->interrupted = true;
    pthread_mutex_unlock(&session->deferred_lock);
    return is_found;
}

bool session_has_late(struct session *session) {
    return count_deferred(session, CHARGE_DIRECTORY_CALL) > 0;
}

static struct deferred *next_late_locked(struct session *session, int64_t before_ns) {
    for (unsigned index = 0; index < USER_SHARES_COUNTERS; index++) {
        struct deferred_queue *queue = &session->deferred[CHARGE_DIRECTORY_CALL][index];
        if (queue->first && queue->first->since_ns < before_ns)
            return unlink_first_locked(session, queue);
    }
    return NULL;
}

void session_refuse_late(struct session *session) {
    const int64_t before_ns = read_clock_ns(CLOCK_MONOTONIC) - DIRECTORY_CALL_PUT_OFF_MAX_NS;
    struct deferred *late;
    if (pthread_mutex_trylock(&session->deferred_lock) != 0)
        return; /* next time */
    while ((late = next_late_locked(session, before_ns))) {
        session_refuse(session, late->request, ENOMEM);
        session_free_deferred(session, late);
    }
    pthread_mutex_unlock(&session->deferred_lock);
}

void session_drop_deferred(struct session *session) {
    for (unsigned index = 0; index < CHARGE_KINDS * USER_SHARES_COUNTERS; index++) {
        while (queue_at(session, index)->first)
            session_free_deferred(session, unlink_first_locked(session, queue_at(session, index)));
    }
    pthread_mutex_destroy(&session->deferred_lock);
}
