/* Starts and ends recordings. */
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base.h"
#include "quiet_thread.h"
#include "recorder_private.h"
#include "waiting.h"

#define HANGS_AFTER_S 2

static uint64_t sessions; /* in this process */

/* The index of "entry" in the first list of columns; -1: it is not there. */
static int find_entry(const char *op) {
    const char *list = strchr(op, '|');
    if (!list)
        return -1;
    CLEANUP_FREE char *columns = strndup(list + 1, strcspn(list + 1, "|"));
    char *rest = columns;
    for (int place = 0; rest; place++)
        if (strcmp(strsep(&rest, " "), "entry") == 0)
            return place;
    return -1;
}

int events_recorder_create(const struct events_source *source, struct events_recorder **ret_events) {
    struct events_recorder *events = calloc(1, sizeof(*events));
    if (!events)
        return -ENOMEM;
    events->source = *source;
    events->marks_end = &events->marks;
    events->wanted.fd = -1;
    for (unsigned op = 0; op < source->op_count && op < EVENTS_OPS_MAX; op++)
        events->entry_columns[op] = find_entry(source->ops[op]);
    pthread_mutex_init(&events->streams_lock, NULL);
    pthread_mutex_init(&events->lock, NULL);
    pthread_mutex_init(&events->ring_lock, NULL);
    cond_init_monotonic(&events->flushed);
    ring_init(&events->ring, 0);
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0); /* for the end of recordings */
    *ret_events = events;
    return 0;
}

static void free_marks(struct events_recorder *events) {
    for (struct pending_mark *mark; (mark = events_take_mark(events));)
        free(mark);
}

void events_recorder_destroy(struct events_recorder *events) {
    struct events_stream *next;
    if (!events)
        return;
    for (struct events_stream *stream = events->streams; stream; stream = next) {
        next = stream->next;
        munmap(stream->halves[0].bytes, 2 * EVENTS_HALF_BYTES);
        free(stream);
    }
    free_marks(events);
    ring_finish(&events->ring);
    number_map_finish(&events->nodes);
    number_map_finish(&events->tasks);
    events_writer_finish(&events->beside);
    pthread_cond_destroy(&events->flushed);
    free(events);
}

static void begin_anew(struct events_recorder *events, const struct events_wanted *wanted) {
    struct rlimit limit;
    events->wanted = *wanted;
    /* The size is limited by RLIMIT_FSIZE too, so that the end of the file can be written. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (wanted->size_bytes == 0 || limit.rlim_cur < wanted->size_bytes))
        events->wanted.size_bytes = limit.rlim_cur;
    events->hot.names = wanted->names;
    events->size_bytes = 0;
    events->keeps_reserve = false;
    events->failure = (struct events_failure){0};
    events->slow_written_ns = 0;
    events->is_ending = false;
    events->is_in_strings = false;
    events_writer_finish(&events->beside);
    events->beside = (struct events_writer){0};
    number_map_finish(&events->nodes);
    number_map_finish(&events->tasks);
    free_marks(events);
    pthread_mutex_lock(&events->ring_lock);
    ring_finish(&events->ring);
    ring_init(&events->ring, wanted->ring_bytes);
    pthread_mutex_unlock(&events->ring_lock);
    pthread_mutex_lock(&events->lock);
    events->state = (struct events_state){.is_on = true};
    events->flushes_wanted = events->flushes_done = 0;
    pthread_mutex_unlock(&events->lock);
}

int events_recorder_start(struct events_recorder *events, const struct events_wanted *wanted) {
    if (events->has_thread)
        return -EBUSY;
    events->last_session = __atomic_add_fetch(&sessions, 1, __ATOMIC_RELAXED);
    begin_anew(events, wanted);
    int err = events_save_beginning(events);
    if (err == 0)
        err = quiet_thread_start(&events->thread, events_save, events);
    events->has_thread = err == 0;
    events->state.is_on = err == 0;
    if (err < 0) {
        events->wanted.fd = -1; /* still belongs to the caller */
        return err;
    }
    aggstats_recorder_tell_changes(events->source.recorder, events_note_change, events);
    __atomic_store_n(&events->hot.session, events->last_session, __ATOMIC_RELEASE);
    return 0;
}

int events_recorder_stop(struct events_recorder *events) {
    if (!events->has_thread)
        return 0;
    __atomic_store_n(&events->is_ending, true, __ATOMIC_SEQ_CST);
    events_wake(events);
    if (!join_within(events->thread, HANGS_AFTER_S))
        return -ETIMEDOUT;
    events->has_thread = false;
    aggstats_recorder_tell_changes(events->source.recorder, NULL, NULL);
    return 0;
}

/* ---- Queries ---- */

void events_recorder_state(struct events_recorder *events, struct events_state *ret_state) {
    pthread_mutex_lock(&events->lock);
    *ret_state = events->state;
    pthread_mutex_unlock(&events->lock);
    ret_state->dropped += events_count_dropped(events); /* state.dropped has only calls whose saving failed */
}

/* Saves the threads' buffers to the ring first. */
static int flush(struct events_recorder *events) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += HANGS_AFTER_S;
    int err = 0;
    pthread_mutex_lock(&events->lock);
    uint32_t wanted = ++events->flushes_wanted;
    events_wake(events);
    while (events->state.is_on && (int32_t)(events->flushes_done - wanted) < 0 && err == 0)
        err = pthread_cond_timedwait(&events->flushed, &events->lock, &until);
    pthread_mutex_unlock(&events->lock);
    return -err;
}

int events_recorder_write_ring(struct events_recorder *events, int fd) {
    int err = events->has_thread ? flush(events) : 0;
    if (err < 0)
        return err;
    pthread_mutex_lock(&events->ring_lock);
    err = events->ring.beginning ? ring_write(&events->ring, fd, &events->ring_written) : -ENOENT;
    pthread_mutex_unlock(&events->ring_lock);
    return err;
}

uint64_t events_recorder_ring_written(const struct events_recorder *events) {
    return __atomic_load_n(&events->ring_written, __ATOMIC_RELAXED);
}

void events_note_slow(struct events_recorder *events) {
    if (events->wanted.ring_bytes == 0)
        return;
    __atomic_store_n(&events->has_slow_call, true, __ATOMIC_SEQ_CST);
    events_wake(events);
}
