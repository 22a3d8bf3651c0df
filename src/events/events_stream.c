/* Streams, as the recording threads use them: the rare cases. And marks, which say where each stream is: those of changes
 * of the whole profile are queued, and the saving thread takes them out. */
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "aggstats/numbered.h"
#include "base.h"
#include "recorder_private.h"

#define CALL_END_WAITS_MAX 1000 /* of a millisecond: the end of a call takes some ten nanoseconds */

AGGSTATS_THREAD_LOCAL struct events_thread_cache events_thread_cache;

void events_wake(struct events_recorder *events) {
    __atomic_fetch_add(&events->wakes, 1, __ATOMIC_SEQ_CST);
    if (__atomic_exchange_n(&events->is_asleep, 0, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &events->wakes, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* The stream of a block; NULL: it has none. */
static struct events_stream *events_stream_of(const struct events_recorder *events,
                                              const struct aggstats_block *block) {
    struct events_stream *stream = __atomic_load_n(&events->streams, __ATOMIC_ACQUIRE);
    while (stream && stream->block != block)
        stream = stream->next;
    return stream;
}

static struct events_stream *add_stream(struct events_recorder *events, const struct aggstats_block *block) {
    struct events_stream *stream = calloc(1, sizeof(*stream));
    if (!stream)
        return NULL;
    unsigned char *bytes =
        mmap(NULL, 2 * EVENTS_HALF_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) {
        free(stream);
        return NULL;
    }
    stream->halves[0].bytes = bytes;
    stream->halves[1].bytes = bytes + EVENTS_HALF_BYTES;
    stream->block = block;
    pthread_mutex_lock(&events->streams_lock);
    stream->number = ++events->stream_count;
    stream->next = events->streams;
    __atomic_store_n(&events->streams, stream, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&events->streams_lock);
    return stream;
}

static void begin_session(struct events_stream *stream, uint64_t session) {
    for (int i = 0; i < 2; i++) {
        stream->halves[i].saved = 0;
        __atomic_store_n(&stream->halves[i].published, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&stream->halves[i].state, EVENTS_HALF_FREE, __ATOMIC_RELAXED);
    }
    stream->half = NULL;
    stream->at = NULL;
    stream->end = NULL;
    memset(stream->met, 0, sizeof(stream->met));
    __atomic_store_n(&stream->dropped, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&stream->session, session, __ATOMIC_RELEASE); /* from here on it is saved */
}

/* No more records are added to the half. */
static void end_half(struct events_stream *stream) {
    if (stream->half)
        __atomic_store_n(&stream->half->state, EVENTS_HALF_FULL, __ATOMIC_RELEASE);
    stream->half = NULL;
    stream->at = NULL;
    stream->end = NULL;
}

/* Returns false if both are full. */
static bool begin_half(struct events_stream *stream, uint64_t number) {
    for (int i = 0; i < 2; i++) {
        struct events_half *half = &stream->halves[i];
        if (__atomic_load_n(&half->state, __ATOMIC_ACQUIRE) != EVENTS_HALF_FREE)
            continue;
        half->saved = 0;
        half->first_index = number;
        half->dropped = stream->dropped;
        half->worker = stream->worker;
        __atomic_store_n(&half->published, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&half->state, EVENTS_HALF_FILLING, __ATOMIC_RELEASE);
        stream->half = half;
        stream->at = half->bytes;
        stream->end = half->bytes + EVENTS_HALF_BYTES;
        return true;
    }
    return false;
}

bool events_stream_turn(struct events_recorder *events, struct events_stream *stream, uint64_t number) {
    bool was_full = stream->half;
    end_half(stream);
    bool has_room = begin_half(stream, number);
    if (!has_room)
        __atomic_store_n(&stream->dropped, stream->dropped + 1, __ATOMIC_RELAXED);
    if (was_full)
        events_wake(events);
    return has_room;
}

struct events_stream *events_stream_find(struct events_recorder *events, const struct aggstats_block *block) {
    uint64_t session = __atomic_load_n(&events->hot.session, __ATOMIC_ACQUIRE);
    uint32_t thread = (uint32_t)syscall(SYS_gettid);
    if (session == 0 || block->thread != thread) /* without memory several threads share a block; it gets no stream */
        return NULL;
    struct events_stream *stream = events_stream_of(events, block);
    if (!stream && !(stream = add_stream(events, block)))
        return NULL;
    if (stream->worker != thread && stream->session == session && stream->half) {
        end_half(stream); /* recorded by another thread */
        events_wake(events);
    }
    stream->worker = thread;
    if (stream->session != session)
        begin_session(stream, session);
    events_thread_cache = (struct events_thread_cache){session, block, stream};
    return stream;
}

/* ---- Lanes ---- */

struct events_stream *events_lane_stream(struct events_recorder *events, const struct aggstats_block *lane) {
    const uint64_t session = __atomic_load_n(&events->hot.session, __ATOMIC_ACQUIRE);
    struct events_stream *stream = session == 0 ? NULL : events_stream_of(events, lane);
    if (!stream && session != 0)
        stream = add_stream(events, lane);
    if (stream && stream->session != session)
        begin_session(stream, session);
    return stream;
}

static bool is_recording(const struct events_recorder *events, const struct events_stream *stream) {
    return __atomic_load_n(&events->hot.session, __ATOMIC_ACQUIRE) == stream->session;
}

void events_lane_add(struct events_recorder *events, struct events_stream *stream, struct aggstats_block *lane,
                     uint64_t start_cycles, const struct events_ended *call, const struct events_more *more) {
    const struct aggstats_span span = {.block = lane};
    const uint64_t number = aggstats_number_begin(&span);
    if (!is_recording(events, stream)) {
        aggstats_number_cancel(&span, number);
        return;
    }
    if (!more && stream->met[call->thread % EVENTS_MET_COUNT] != call->thread)
        events_stream_meet(events, stream, call->thread);
    events_add_long(events, stream, number, start_cycles, *call, more);
    aggstats_number_end(&span, number);
}

void events_lane_drop(struct events_recorder *events, struct events_stream *stream, struct aggstats_block *lane,
                      uint64_t count) {
    const struct aggstats_span span = {.block = lane};
    const uint64_t number = aggstats_number_begin(&span);
    if (count == 0 || !is_recording(events, stream)) {
        aggstats_number_cancel(&span, number);
        return;
    }
    end_half(stream); /* the numbers of its calls follow each other */
    __atomic_store_n(&stream->dropped, stream->dropped + count, __ATOMIC_RELAXED);
    aggstats_number_end(&span, number + count - 1);
    events_wake(events);
}

/* ---- Callers ---- */

/* If too many callers are new at once, some stay unknown. */
void events_stream_meet(struct events_recorder *events, struct events_stream *stream, uint32_t thread) {
    uint32_t written = stream->new_written;
    stream->met[thread % EVENTS_MET_COUNT] = thread;
    if (thread == 0 || written - __atomic_load_n(&stream->new_taken, __ATOMIC_ACQUIRE) == EVENTS_MET_COUNT)
        return;
    stream->new_tasks[written % EVENTS_MET_COUNT] = thread;
    __atomic_store_n(&stream->new_written, written + 1, __ATOMIC_RELEASE);
    events_wake(events);
}

/* ---- Records of any length ---- */

#define TEXT_MAX 3900U /* two of them, and all columns, fit in a record */

static size_t text_length(const char *text) {
    size_t length = strlen(text);
    return length < TEXT_MAX ? length : TEXT_MAX;
}

static unsigned char *put(unsigned char *at, const void *data, size_t size_bytes) {
    if (size_bytes > 0)
        memcpy(at, data, size_bytes);
    return at + size_bytes;
}

void events_add_long(struct events_recorder *events, struct events_stream *stream, uint64_t number,
                     uint64_t start_cycles, struct events_ended call, const struct events_more *more) {
    bool is_long = call.latency_cycles > UINT32_MAX;
    size_t columns_bytes = call.column_count * sizeof(uint64_t);
    size_t size_bytes = sizeof(struct events_record) + (is_long ? sizeof(uint64_t) : 0) + columns_bytes;
    if (more)
        size_bytes += more->column_count * sizeof(uint64_t);
    for (unsigned i = 0; more && i < more->text_count; i++)
        size_bytes += 2 * sizeof(uint16_t) + text_length(more->texts[i]);
    size_bytes = (size_bytes + 7) / 8 * 8;
    call.flags |= (is_long ? EVENTS_LONG : 0U) | (more ? EVENTS_MORE : 0U);
    if ((size_t)(stream->end - stream->at) < size_bytes && !events_stream_turn(events, stream, number))
        return;
    unsigned char *at = stream->at;
    memset(at + size_bytes - 8, 0, 8); /* padding of the texts */
    events_fill(at, &call, start_cycles, (unsigned)(size_bytes / 8));
    at += sizeof(struct events_record);
    if (is_long)
        at = put(at, &call.latency_cycles, sizeof(call.latency_cycles));
    at = put(at, call.columns, columns_bytes);
    if (more)
        at = put(at, more->columns, more->column_count * sizeof(uint64_t));
    for (unsigned i = 0; more && i < more->text_count; i++) {
        size_t length = text_length(more->texts[i]);
        const uint16_t lengths[2] = {(uint16_t)length, (uint16_t)strlen(more->texts[i])};
        at = put(at, lengths, sizeof(lengths));
        at = put(at, more->texts[i], length);
    }
    events_publish(stream, size_bytes);
}

/* ---- Marks ---- */

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
