/* Starts and ends recordings. Marks of changes of the whole profile are queued; the saving thread takes them out. */
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timex.h>

#include "aggstats/numbered.h"
#include "base.h"
#include "quiet_thread.h"
#include "recorder_private.h"
#include "waiting.h"

#define HANGS_AFTER_S 2
#define CLOCK_ATTEMPTS 8
#define CALL_END_WAITS_MAX 1000 /* of a millisecond: the end of a call takes some ten nanoseconds */

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

/* ---- Marks, and pairs of clocks ---- */

struct pending_mark *events_take_mark(struct events_recorder *events) {
    pthread_mutex_lock(&events->lock);
    struct pending_mark *mark = events->marks;
    if (mark) {
        events->marks = mark->next;
        if (!mark->next)
            events->marks_end = &events->marks;
    }
    pthread_mutex_unlock(&events->lock);
    return mark;
}

void events_note_change(void *context, const struct aggstats_changed *changed) {
    static const uint32_t kinds[] = {
        [AGGSTATS_CHANGE_RESET] = EVENTS_MARK_RESET,     [AGGSTATS_CHANGE_PAUSE] = EVENTS_MARK_PAUSE,
        [AGGSTATS_CHANGE_RESUME] = EVENTS_MARK_RESUME,   [AGGSTATS_CHANGE_ROTATE] = EVENTS_MARK_ROTATE,
        [AGGSTATS_CHANGE_ROTATED] = EVENTS_MARK_ROTATED, [AGGSTATS_CHANGE_NOT_ROTATED] = EVENTS_MARK_NOT_ROTATED,
    };
    struct events_recorder *events = context;
    struct pending_mark *mark = calloc(1, sizeof(*mark) + changed->block_count * sizeof(mark->streams[0]));
    if (!mark)
        return; /* without memory there is no mark */
    mark->head = (struct events_mark){
        .kind = kinds[changed->change], .cycles = changed->cycles, .realtime_ns = changed->realtime_ns};
    if (changed->change == AGGSTATS_CHANGE_ROTATE)
        events->rotations++; /* no other change happens between */
    if (changed->change >= AGGSTATS_CHANGE_ROTATE)
        mark->head.number = events->rotations;
    for (size_t i = 0; i < changed->block_count; i++) {
        const struct aggstats_numbered *numbered = &changed->blocks[i];
        const struct events_stream *stream = events_stream_of(events, numbered->block);
        if (stream)
            mark->streams[mark->head.stream_count++] = (struct events_mark_stream){
                .stream = stream->number, .is_inexact = numbered->is_inexact, .index = numbered->count};
    }
    pthread_mutex_lock(&events->lock);
    *events->marks_end = mark;
    events->marks_end = &mark->next;
    pthread_mutex_unlock(&events->lock);
    events_wake(events);
}

/* A thread that loses its CPU at the end of a call may take a while. */
static bool wait_for_call_end(const struct aggstats_block *block) {
    const struct timespec millisecond = {.tv_nsec = 1000000};
    for (int i = 0; i < CALL_END_WAITS_MAX; i++) {
        if (__atomic_load_n(&block->turns, __ATOMIC_ACQUIRE) % 2 == 0)
            return true;
        if (i > 0)
            nanosleep(&millisecond, NULL);
        else
            sched_yield();
    }
    return false;
}

size_t events_streams_now(struct events_recorder *events, bool is_end, struct events_mark_stream **ret_streams) {
    const struct events_stream *first = __atomic_load_n(&events->streams, __ATOMIC_ACQUIRE);
    size_t count = 0;
    for (const struct events_stream *stream = first; stream; stream = stream->next)
        count++;
    struct events_mark_stream *streams = calloc(count + 1, sizeof(*streams));
    *ret_streams = streams;
    if (!streams)
        return 0;
    count = 0;
    for (const struct events_stream *stream = first; stream; stream = stream->next) {
        bool is_exact = !is_end || wait_for_call_end(stream->block);
        streams[count++] = (struct events_mark_stream){
            .stream = stream->number,
            .is_inexact = !is_exact,
            .index = __atomic_load_n(&stream->block->turns, __ATOMIC_ACQUIRE) / 2,
        };
    }
    return count;
}

/* Reads several times and takes the reading that took the shortest time. */
void events_clock_read(uint32_t kind, struct events_clock *ret_clock) {
    struct timex state = {0};
    struct events_clock best = {.gap_cycles = UINT64_MAX};
    for (int i = 0; i < CLOCK_ATTEMPTS; i++) {
        struct events_clock clock = {0};
        clock.monotonic_ns = read_clock_ns(CLOCK_MONOTONIC);
        uint64_t before_cycles = aggstats_clock_now(kind);
        clock.realtime_ns = read_clock_ns(CLOCK_REALTIME);
        clock.gap_cycles = aggstats_clock_now(kind) - before_cycles;
        clock.cycles = before_cycles + clock.gap_cycles / 2;
        if (clock.gap_cycles < best.gap_cycles)
            best = clock;
    }
    int answer = adjtimex(&state);
    best.error_ns = answer < 0 ? 0 : (uint64_t)state.maxerror * NS_PER_US;
    best.status = answer < 0 ? STA_UNSYNC : (uint32_t)state.status;
    *ret_clock = best;
}
