/* Workers: threads that take requests from the device, one after the other, and answer them.
 *
 * A worker counts as idle when it answers, not when it has come back from answering: on a busy CPU the caller runs
 * first, and sends its next request. If that found nobody idle, each such request would add a worker, up to a hundred
 * for one caller on one CPU. Sending a large answer takes time, so such a worker counts as idle only afterwards. Chosen
 * workers count too, so that no worker is added when all become plain.
 *
 * Idle workers are woken in turn, and the more there are, the longer each has slept. So with three idle ones for each
 * CPU another is parked until all are busy. The one parked last is released first, so workers that only a burst needed
 * time out and end. The next thread that counts takes over their blocks of counters. */
#include "loop_private.h"

#include <errno.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "request_body.h"

#define PARKED_NS (10 * NS_PER_S) /* after this a parked worker that is not needed ends */

/* The worker is no longer idle. Returns true if no other worker is idle. If all workers become plain at the same time,
 * either this worker sees the change, or the main thread sees that no worker is idle. */
static bool worker_leave_idle(struct worker *worker) {
    if (!worker->counted)
        return false;
    worker->counted = false;
    return __atomic_sub_fetch(&worker->server.loop->idle_count, 1, __ATOMIC_SEQ_CST) == 0;
}

/* It has taken a request. The last idle worker adds another, which waits for the next request. */
static void become_busy(struct worker *worker) {
    struct loop *loop = worker->server.loop;
    if (worker_leave_idle(worker) && !loop->single && pool_is_plain(&loop->pool))
        loop_add_waiting_worker(loop); /* if that fails, requests wait until this worker is back */
}

static void become_idle(struct worker *worker) {
    if (!worker->counted)
        __atomic_add_fetch(&worker->server.loop->idle_count, 1, __ATOMIC_ACQ_REL);
    worker->counted = true;
}

void worker_answers(struct worker *worker) {
    struct loop *loop = worker->server.loop;
    worker->answered_cycles = pool_now(&loop->pool);
    pool_answer(&worker->pooled);
    if (!worker->is_readahead)
        become_idle(worker);
}

void worker_goes_on(struct worker *worker) {
    if (worker->counted)
        become_busy(worker);
}

/* Idle workers are woken in turn: the more there are, the longer each has slept. */
static bool is_surplus(const struct worker *worker) {
    const struct loop *loop = worker->server.loop;
    return __atomic_load_n(&loop->idle_count, __ATOMIC_RELAXED) - worker->counted >= loop->idle_most;
}

/* ---- Parked workers ---- */

static void remove_parked_locked(struct loop *loop, struct worker *worker) {
    struct worker **link = &loop->parked;
    if (!worker->is_parked)
        return;
    while (*link != worker)
        link = &(*link)->parked_before;
    *link = worker->parked_before;
    worker->is_parked = false;
    loop->parked_count--;
}

void loop_wake_parked_workers(struct loop *loop) {
    for (struct worker *worker = loop->parked; worker; worker = worker->parked_before)
        pthread_cond_signal(&worker->released);
}

/* Returns false if it was not released in time and is not needed: it ends. If it is needed, it waits twice as long next
 * time, so that an idle mount sleeps. */
static bool wait_for_release_locked(struct loop *loop, struct worker *worker) {
    int64_t patience_ns = PARKED_NS;
    int64_t until_ns = read_clock_ns(CLOCK_MONOTONIC) + patience_ns;
    while (worker->is_parked && !fuse_session_exited(loop->fuse)) {
        const struct timespec until = timespec_of(until_ns);
        if (pthread_cond_clockwait(&worker->released, &loop->lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
            continue;
        unsigned waiting = loop->parked_count + __atomic_load_n(&loop->idle_count, __ATOMIC_RELAXED);
        if (worker->is_parked && waiting > loop->idle_most)
            return false; /* enough others wait, parked or for requests, even if all become plain at once */
        patience_ns *= 2;
        until_ns += patience_ns;
    }
    return true;
}

/* Leaves the requests to chosen workers, or to enough idle ones, until it is released. The one parked last is released
 * first, so the others may end. Returns false if it must end. */
static bool park(struct worker *worker) {
    struct loop *loop = worker->server.loop;
    bool stays = true;
    pthread_mutex_lock(&loop->lock);
    if (!pool_is_plain(&loop->pool) || is_surplus(worker)) {
        worker->is_parked = true;
        worker->parked_before = loop->parked;
        loop->parked = worker;
        loop->parked_count++;
        stays = wait_for_release_locked(loop, worker);
        remove_parked_locked(loop, worker);
    }
    pthread_mutex_unlock(&loop->lock);
    return stays;
}

static bool is_needed(const struct worker *worker) {
    const struct loop *loop = worker->server.loop;
    return pool_worker_is_chosen(&worker->pooled) || (pool_is_plain(&loop->pool) && !is_surplus(worker));
}

/* Waits until this worker may receive the next request: as a chosen one, or because all are plain. Returns false if it
 * must end, with the loop or because it is not needed. */
static bool take_turn(struct worker *worker) {
    struct loop *loop = worker->server.loop;
    while (!is_needed(worker) && !fuse_session_exited(loop->fuse)) {
        worker_leave_idle(worker);
        if (!pool_join(&loop->pool, &worker->pooled) && !park(worker))
            return false;
    }
    become_idle(worker);
    return !fuse_session_exited(loop->fuse);
}

/* ---- Requests ---- */

/* Reads what libfuse does not pass on, and turns the request into one that libfuse knows. */
static struct fuse_in_header look_into(struct worker *worker, struct fuse_buf *request) {
    struct fuse_in_header header;
    const char *body = (const char *)request->mem + sizeof(header);
    memcpy(&header, request->mem, sizeof(header));
    __atomic_store_n(&worker->server.request, header.unique, __ATOMIC_RELEASE);
    worker->opcode = header.opcode;
    worker->lacks_fsetid = request_lacks_fsetid(header.opcode, body);
    worker->is_readahead = request_is_readahead(header.opcode, body);
    uint32_t opcode = request_opcode_for_libfuse(header.opcode);
    memcpy((char *)request->mem + offsetof(struct fuse_in_header, opcode), &opcode, sizeof(opcode));
    return header;
}

/* Reviews now and then which workers are chosen. Before a worker is bound, or if another one must be released, the main
 * thread is woken: a bound worker may get no CPU for a long time, and must not hold the lock meanwhile. */
static void note_call(struct worker *worker, const struct pool_call *call) {
    struct loop *loop = worker->server.loop;
    if (!pool_note(&loop->pool, &worker->pooled, call))
        return;
    worker_goes_on(worker);
    if (pool_review(&loop->pool, &worker->pooled)) {
        loop_wake_main_thread(loop);
        pool_enter(&loop->pool, &worker->pooled);
    }
}

/* Answers a request that counts for its user. */
static void serve_request(struct worker *worker, struct fuse_buf *request) {
    struct loop *loop = worker->server.loop;
    uint64_t start_cycles = pool_now(&loop->pool);
    pool_take(&worker->pooled);
    become_busy(worker);
    const struct charge charge = loop_charge_of(request->mem);
    struct fuse_in_header header = look_into(worker, request);
    const bool has_others = request_is_data(header.opcode) && pool_is_to_check(&worker->pooled) &&
                            pool_requests_wait(fuse_session_fd(loop->fuse));
    worker->answered_cycles = 0;
    if (header.opcode == FUSE_INTERRUPT) { /* which has no answer */
        struct fuse_interrupt_in interrupted;
        memcpy(&interrupted, (const char *)request->mem + sizeof(header), sizeof(interrupted));
        loop_interrupt(loop, interrupted.unique);
    } else {
        fuse_session_process_buf(loop->fuse, request);
    }
    __atomic_store_n(&worker->server.request, 0, __ATOMIC_RELEASE);
    loop_end(loop, charge);
    uint64_t answered_cycles = worker->answered_cycles;
    const struct pool_call call = {.caller = header.pid,
                                   .work_cycles = answered_cycles ? answered_cycles - start_cycles : 0,
                                   .is_readahead = worker->is_readahead,
                                   .has_others = has_others};
    note_call(worker, &call);
}

static void serve_deferred(struct worker *worker) {
    struct loop *loop = worker->server.loop;
    struct deferred *deferred;
    while ((deferred = loop_next_deferred(loop))) {
        struct fuse_buf request = {.mem = deferred->request, .size = deferred->size_bytes};
        worker_goes_on(worker);
        if (loop_is_still_wanted(loop, deferred))
            serve_request(worker, &request);
        else
            loop_end(loop, deferred->charge);
        loop_free_deferred(loop, deferred);
    }
}

static int serve(struct worker *worker, struct fuse_buf *buffer) {
    struct loop *loop = worker->server.loop;
    loop_this_server = &worker->server;
    worker->pooled.thread = gettid();
    loop_restore_scheduling(loop);
    for (;;) {
        if (!take_turn(worker))
            return 0;
        int result = fuse_session_receive_buf(loop->fuse, buffer);
        if (result == -ECONNABORTED) { /* the loop ended while a request was being read; libfuse knows only ENODEV */
            fuse_session_exit(loop->fuse);
            return 0;
        }
        if (result > 0 && loop_begin(loop, buffer->mem, buffer->size)) {
            serve_request(worker, buffer);
            serve_deferred(worker);
        }
        if (result <= 0 && result != -EINTR && result != -EAGAIN)
            return result;
    }
}

static void *run_worker(void *argument) {
    struct worker *worker = argument;
    struct loop *loop = worker->server.loop;
    struct fuse_buf buffer = {.mem = NULL};
    int result = serve(worker, &buffer);
    free(buffer.mem);
    if (result < 0) {
        pthread_mutex_lock(&loop->lock);
        loop->error = result;
        pthread_mutex_unlock(&loop->lock);
        fuse_session_exit(loop->fuse);
    }
    __atomic_store_n(&worker->ended, true, __ATOMIC_RELEASE);
    __atomic_add_fetch(&loop->ended_count, 1, __ATOMIC_RELEASE);
    loop_wake_main_thread(loop);
    return NULL;
}

/* ---- Starting and ending ---- */

static int start_worker_locked(struct loop *loop) {
    if (loop->worker_count == WORKERS_MAX || fuse_session_exited(loop->fuse))
        return -EAGAIN;
    CLEANUP_FREE struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return -ENOMEM;
    worker->server.loop = loop;
    worker->server.worker = worker;
    pthread_cond_init(&worker->released, NULL);
    become_idle(worker);
    int err = pthread_create(&worker->server.thread, NULL, run_worker, worker);
    if (err != 0) {
        worker_leave_idle(worker);
        pthread_cond_destroy(&worker->released);
        return -err;
    }
    loop->workers[loop->worker_count++] = steal_pointer(&worker);
    return 0;
}

int loop_add_waiting_worker(struct loop *loop) {
    int err = 0;
    pthread_mutex_lock(&loop->lock);
    struct worker *parked = loop->parked;
    if (parked) {
        remove_parked_locked(loop, parked);
        pthread_cond_signal(&parked->released);
    } else {
        err = start_worker_locked(loop);
    }
    pthread_mutex_unlock(&loop->lock);
    return err;
}

void loop_free_worker(struct worker *worker) {
    pthread_cond_destroy(&worker->released);
    free(worker);
}

/* The place in the list is free then. */
static struct worker *take_ended(struct loop *loop) {
    struct worker *ended = NULL;
    pthread_mutex_lock(&loop->lock);
    for (unsigned index = 0; index < loop->worker_count && !ended; index++) {
        if (!__atomic_load_n(&loop->workers[index]->ended, __ATOMIC_ACQUIRE))
            continue;
        ended = loop->workers[index];
        loop->workers[index] = loop->workers[--loop->worker_count];
    }
    pthread_mutex_unlock(&loop->lock);
    return ended;
}

void loop_join_ended_workers(struct loop *loop) {
    struct worker *ended;
    while ((ended = take_ended(loop))) {
        __atomic_sub_fetch(&loop->ended_count, 1, __ATOMIC_RELAXED);
        pthread_join(ended->server.thread, NULL);
        loop_free_worker(ended);
    }
}
