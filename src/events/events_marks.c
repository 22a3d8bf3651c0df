/* Marks, and pairs of clocks. Marks of changes of the whole profile are queued; the saving thread takes them out. */
#include <sched.h>
#include <stdlib.h>
#include <sys/timex.h>

#include "aggstats/numbered.h"
#include "base.h"
#include "recorder_private.h"

#define CLOCK_ATTEMPTS 8
#define CALL_END_WAITS_MAX 1000 /* of a millisecond: the end of a call takes some ten nanoseconds */

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

static void queue_mark(struct events_recorder *events, struct pending_mark *mark) {
    pthread_mutex_lock(&events->lock);
    *events->marks_end = mark;
    events->marks_end = &mark->next;
    pthread_mutex_unlock(&events->lock);
    events_wake(events);
}

static void add_blocks(const struct events_recorder *events, const struct aggstats_changed *changed,
                       struct pending_mark *mark) {
    for (size_t i = 0; i < changed->block_count; i++) {
        const struct aggstats_numbered *numbered = &changed->blocks[i];
        const struct events_stream *stream = events_stream_of(events, numbered->block);
        if (stream)
            mark->streams[mark->head.stream_count++] = (struct events_mark_stream){
                .stream = stream->number, .is_inexact = numbered->is_inexact, .index = numbered->count};
    }
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
    add_blocks(events, changed, mark);
    queue_mark(events, mark);
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
