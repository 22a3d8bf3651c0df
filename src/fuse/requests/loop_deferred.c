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
 * gets no CPU (pool.h).
 *
 * Interrupting the system calls of threads that serve requests: libfuse's own way takes locks that all workers share,
 * at every request, and does not work for requests of rings. Here a thread only notes which request it serves, and the
 * thread that receives a FUSE_INTERRUPT, which is rare, searches for it, among the deferred first. */
#include <errno.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "loop_private.h"
#include "proc.h"
#include "process_rights.h"
#include "request_body.h"

#define DEFERRED_BYTES_MAX ((size_t)64 << 20)
#define DIRECTORY_CALL_PUT_OFF_MAX_NS INT64_C(2000000000)

/* A close has no particular caller, and it may hang: so closes have a share of their own. */
#define WHO_CLOSES ((uid_t)-1)

/* The kernel itself: interrupts, FORGET, pages written back. These are never deferred: others may wait for them, and
 * refusing a write-back would lose pages. */
#define THE_KERNEL ((uid_t)-2)

void loop_init_deferred(struct loop *loop, uid_t owner_uid) {
    pthread_mutex_init(&loop->deferred_lock, NULL);
    user_shares_init(&loop->busy[CHARGE_CALL], SHARED_CALLS_MAX, owner_uid);
    user_shares_init(&loop->busy[CHARGE_DIRECTORY_CALL], SHARED_DIRECTORY_CALLS_MAX, owner_uid);
    user_shares_init(&loop->deferred_bytes, DEFERRED_BYTES_MAX, owner_uid);
}

static struct fuse_in_header header_of(const void *request) {
    struct fuse_in_header header;
    memcpy(&header, request, sizeof(header));
    return header;
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

struct charge loop_charge_of(const void *request) {
    struct fuse_in_header header = header_of(request);
    const enum charge_kind kind = is_directory_call(header.opcode) ? CHARGE_DIRECTORY_CALL : CHARGE_CALL;
    if (header.opcode == FUSE_RELEASE)
        return (struct charge){WHO_CLOSES, kind};
    return (struct charge){header.uid == 0 && header.pid == 0 ? THE_KERNEL : header.uid, kind};
}

static bool is_never_put_off(const struct loop *loop, struct charge charge) {
    return loop->single || charge.uid == THE_KERNEL || user_shares_is_trusted(&loop->busy[charge.kind], charge.uid);
}

static bool take_share(struct loop *loop, struct charge charge) {
    if (!user_shares_are_left(&loop->busy[charge.kind], charge.uid))
        return false;
    user_shares_take(&loop->busy[charge.kind], charge.uid, 1);
    return true;
}

static size_t allocated_bytes(const struct deferred *deferred) {
    return sizeof(*deferred) + deferred->size_bytes;
}

static struct deferred *copy_request(struct loop *loop, struct charge charge, const void *request, size_t size_bytes) {
    if (!user_shares_are_left(&loop->deferred_bytes, charge.uid))
        return NULL;
    struct deferred *copy = malloc(sizeof(*copy) + size_bytes);
    if (!copy)
        return NULL;
    *copy = (struct deferred){.charge = charge, .since_ns = read_clock_ns(CLOCK_MONOTONIC), .size_bytes = size_bytes};
    memcpy(copy->request, request, size_bytes);
    user_shares_take(&loop->deferred_bytes, charge.uid, allocated_bytes(copy));
    return copy;
}

void loop_free_deferred(struct loop *loop, struct deferred *deferred) {
    if (!deferred)
        return;
    user_shares_give(&loop->deferred_bytes, deferred->charge.uid, allocated_bytes(deferred));
    free(deferred);
}

/* Answers the request with that error. */
static void refuse(struct loop *loop, const void *request, int error) {
    struct fuse_out_header answer = {.len = sizeof(answer), .error = -error, .unique = header_of(request).unique};
    if (write(fuse_session_fd(loop->fuse), &answer, sizeof(answer)) < 0)
        return; /* the request or the connection is over already */
}

/* Counts it first, and then looks for a share once more: a thread that gave one back before did not see this request
 * wait. If it is the first that the main thread has to watch, the main thread is woken. */
static bool put_off(struct loop *loop, struct deferred *deferred) {
    const struct charge charge = deferred->charge;
    struct deferred_queue *queue = &loop->deferred[charge.kind][charge.uid % USER_SHARES_COUNTERS];
    unsigned *count = &loop->deferred_count[charge.kind];
    pthread_mutex_lock(&loop->deferred_lock);
    __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
    bool is_put_off = !take_share(loop, charge);
    if (is_put_off) {
        *(queue->first ? &queue->last->next : &queue->first) = deferred;
        queue->last = deferred;
    } else {
        __atomic_sub_fetch(count, 1, __ATOMIC_SEQ_CST);
    }
    bool is_first = is_put_off && *count == 1;
    pthread_mutex_unlock(&loop->deferred_lock);
    if (is_first && charge.kind == CHARGE_DIRECTORY_CALL)
        loop_wake_main_thread(loop);
    return is_put_off;
}

/* An administrator's requests are never deferred, however many workers they have. */
bool loop_begin(struct loop *loop, const void *request, size_t size_bytes) {
    const struct charge charge = loop_charge_of(request);
    if (is_never_put_off(loop, charge) || take_share(loop, charge))
        return true;
    if (process_is_admin((pid_t)header_of(request).pid, charge.uid)) {
        user_shares_take(&loop->busy[charge.kind], charge.uid, 1);
        return true;
    }
    struct deferred *deferred = copy_request(loop, charge, request, size_bytes);
    if (!deferred)
        refuse(loop, request, ENOMEM);
    else if (!put_off(loop, deferred)) {
        loop_free_deferred(loop, deferred);
        return true;
    }
    return false;
}

void loop_end(struct loop *loop, struct charge charge) {
    if (!is_never_put_off(loop, charge))
        user_shares_give(&loop->busy[charge.kind], charge.uid, 1);
}

/* ---- Queues ---- */

static struct deferred *unlink_first_locked(struct loop *loop, struct deferred_queue *queue) {
    struct deferred *deferred = queue->first;
    queue->first = deferred->next;
    __atomic_sub_fetch(&loop->deferred_count[deferred->charge.kind], 1, __ATOMIC_SEQ_CST);
    return deferred;
}

static unsigned count_deferred(const struct loop *loop, enum charge_kind kind) {
    return __atomic_load_n(&loop->deferred_count[kind], __ATOMIC_SEQ_CST);
}

static bool any_is_deferred(const struct loop *loop) {
    return count_deferred(loop, CHARGE_DIRECTORY_CALL) > 0 || count_deferred(loop, CHARGE_CALL) > 0;
}

/* Users take turns. */
static struct deferred *next_of_kind_locked(struct loop *loop, enum charge_kind kind) {
    for (unsigned tries = 0; count_deferred(loop, kind) > 0 && tries < USER_SHARES_COUNTERS; tries++) {
        struct deferred_queue *queue = &loop->deferred[kind][loop->deferred_turn++ % USER_SHARES_COUNTERS];
        if (queue->first && take_share(loop, queue->first->charge))
            return unlink_first_locked(loop, queue);
    }
    return NULL;
}

struct deferred *loop_next_deferred(struct loop *loop) {
    if (!any_is_deferred(loop))
        return NULL;
    pthread_mutex_lock(&loop->deferred_lock);
    struct deferred *next = next_of_kind_locked(loop, CHARGE_DIRECTORY_CALL);
    if (!next)
        next = next_of_kind_locked(loop, CHARGE_CALL);
    pthread_mutex_unlock(&loop->deferred_lock);
    return next;
}

static struct deferred_queue *queue_at(struct loop *loop, unsigned index) {
    return &loop->deferred[index / USER_SHARES_COUNTERS][index % USER_SHARES_COUNTERS];
}

static bool loop_interrupt_deferred(struct loop *loop, uint64_t request) {
    bool is_found = false;
    if (!any_is_deferred(loop))
        return false;
    pthread_mutex_lock(&loop->deferred_lock);
    for (unsigned index = 0; !is_found && index < CHARGE_KINDS * USER_SHARES_COUNTERS; index++) {
        struct deferred *deferred = queue_at(loop, index)->first;
        while (deferred && header_of(deferred->request).unique != request)
            deferred = deferred->next;
        is_found = deferred;
        if (is_found)
            deferred->interrupted = true;
    }
    pthread_mutex_unlock(&loop->deferred_lock);
    return is_found;
}

bool loop_has_late(struct loop *loop) {
    return count_deferred(loop, CHARGE_DIRECTORY_CALL) > 0;
}

void loop_refuse_late(struct loop *loop) {
    const int64_t before_ns = read_clock_ns(CLOCK_MONOTONIC) - DIRECTORY_CALL_PUT_OFF_MAX_NS;
    if (pthread_mutex_trylock(&loop->deferred_lock) != 0)
        return; /* next time */
    for (unsigned index = 0; index < USER_SHARES_COUNTERS; index++) {
        struct deferred_queue *queue = &loop->deferred[CHARGE_DIRECTORY_CALL][index];
        while (queue->first && queue->first->since_ns < before_ns) {
            struct deferred *late = unlink_first_locked(loop, queue);
            refuse(loop, late->request, ENOMEM);
            loop_free_deferred(loop, late);
        }
    }
    pthread_mutex_unlock(&loop->deferred_lock);
}

void loop_drop_deferred(struct loop *loop) {
    for (unsigned index = 0; index < CHARGE_KINDS * USER_SHARES_COUNTERS; index++) {
        while (queue_at(loop, index)->first)
            loop_free_deferred(loop, unlink_first_locked(loop, queue_at(loop, index)));
    }
    pthread_mutex_destroy(&loop->deferred_lock);
}

/* ---- Interrupts ---- */

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
static bool server_is_killed(pid_t caller) {
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

bool loop_is_still_wanted(struct loop *loop, const struct deferred *deferred) {
    const struct fuse_in_header header = header_of(deferred->request);
    if (!deferred->interrupted)
        return true;
    if (server_is_killed((pid_t)header.pid)) {
        refuse(loop, deferred->request, EINTR);
        return false;
    }
    loop_interrupt(loop, header.unique);
    return true;
}
