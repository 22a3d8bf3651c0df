/* The saving thread. It writes records from the threads' buffers, and besides them marks, pairs of clocks, and strings.
 * If something cannot be written, it is tried again each second. After a failure to save, all calls dropped since the
 * latest successful save and until the next successful save are counted as dropped because of the failure. */
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/utsname.h>

#include "base.h"
#include "recorder_private.h"

#define NICE (-10) /* on a busy machine calls that are not saved in time are lost */
#define FLUSH_NS NS_PER_S
#define CLOCK_NS (5 * NS_PER_S)
#define CLOCK_ATTEMPTS 8
#define SLOW_NS (60 * NS_PER_S)
#define AT_SIZE (-ECANCELED) /* the file has reached its maximum size */
#define STRINGS_CHUNK_BYTES (1U << 20)
#define BESIDE_WAITING_MAX (4U << 20)
#define SEEN_MAX (1U << 19) /* numbers of nodes, or of callers */

static int64_t now_ns(void) {
    return read_clock_ns(CLOCK_MONOTONIC);
}

/* ---- Writing ---- */

static void end_strings(struct events_recorder *events) {
    if (events->is_in_strings)
        events_chunk_end(&events->beside);
    events->is_in_strings = false;
}

/* Keeps what could not be written for the next attempt, unless it becomes too much. */
static int put_beside(struct events_recorder *events) {
    struct events_writer *beside = &events->beside;
    int err = beside->error;
    end_strings(events);
    if (beside->size_bytes == 0 || err < 0)
        return err;
    if (events->wanted.ring_bytes > 0) {
        pthread_mutex_lock(&events->ring_lock);
        err = ring_add_beside(&events->ring, beside->bytes, beside->size_bytes);
        pthread_mutex_unlock(&events->ring_lock);
    } else {
        const void *const parts[3] = {beside->bytes};
        const size_t part_bytes[3] = {beside->size_bytes};
        err = events_output_write(events, parts, part_bytes);
    }
    bool ring_has_forgotten = err == -ENOSPC && events->wanted.ring_bytes > 0;
    bool is_too_much = err < 0 && beside->size_bytes > BESIDE_WAITING_MAX;
    if (ring_has_forgotten || is_too_much) {
        number_map_finish(&events->nodes); /* written again; gaps in the numbers of chunks show losses */
        number_map_finish(&events->tasks);
    }
    if (err == 0 || ring_has_forgotten || is_too_much)
        beside->size_bytes = 0;
    return ring_has_forgotten ? 0 : err;
}

/* ---- Why calls are missing ---- */

static uint64_t now_cycles(const struct events_recorder *events) {
    return aggstats_clock_now(aggstats_hot(events->source.recorder)->clock_kind);
}

static bool is_of_session(const struct events_recorder *events, const struct events_stream *stream) {
    return __atomic_load_n(&stream->session, __ATOMIC_ACQUIRE) == events->last_session;
}

uint64_t events_count_dropped(const struct events_recorder *events) {
    const struct events_stream *stream = __atomic_load_n(&events->streams, __ATOMIC_ACQUIRE);
    uint64_t dropped = 0;
    for (; stream; stream = stream->next)
        if (is_of_session(events, stream))
            dropped += __atomic_load_n(&stream->dropped, __ATOMIC_RELAXED);
    return dropped;
}

static void write_failure(struct events_recorder *events, const struct events_failure *failure) {
    if (failure->dropped == 0)
        return;
    end_strings(events);
    events_chunk_begin(&events->beside, EVENTS_FAILURE, failure, sizeof(*failure));
    events_chunk_end(&events->beside);
    pthread_mutex_lock(&events->lock);
    events->state.failed += failure->dropped;
    if (events->state.failure == 0)
        events->state.failure = -(int)failure->error;
    pthread_mutex_unlock(&events->lock);
}

/* unsaved: calls that are dropped now because they could not be saved */
static void end_failure(struct events_recorder *events, uint64_t unsaved) {
    struct events_failure ended = events->failure;
    if (ended.error == 0)
        return;
    ended.dropped = events_count_dropped(events) - ended.dropped + unsaved;
    ended.last_cycles = now_cycles(events);
    write_failure(events, &ended);
    events->failure = (struct events_failure){.dropped = events_count_dropped(events)};
}

void events_note_outcome(struct events_recorder *events, int err) {
    if (err == 0 && events->state.error == 0)
        events->failure.dropped = events_count_dropped(events);
    if (err == events->state.error)
        return;
    end_failure(events, 0);
    if (err < 0) {
        events->failure.error = (uint32_t)-err;
        events->failure.first_cycles = now_cycles(events);
    }
    pthread_mutex_lock(&events->lock);
    events->state.error = err;
    pthread_mutex_unlock(&events->lock);
    if (events->source.tell)
        events->source.tell(events->source.context, err);
}

void events_note_end(struct events_recorder *events, uint64_t unsaved, bool is_full) {
    const uint64_t now = now_cycles(events);
    const struct events_failure full = {.dropped = unsaved, .first_cycles = now, .last_cycles = now};
    if (is_full)
        write_failure(events, &full);
    end_failure(events, is_full ? 0 : unsaved);
}

/* ---- The beginning ---- */

/* Reads several times and takes the reading that took the shortest time. */
static void write_clock(struct events_recorder *events) {
    const uint32_t kind = aggstats_hot(events->source.recorder)->clock_kind;
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
    end_strings(events);
    events_chunk_begin(&events->beside, EVENTS_CLOCK, &best, sizeof(best));
    events_chunk_end(&events->beside);
    events->clock_written_ns = now_ns();
}

static void write_mark(struct events_recorder *events, const struct events_mark *head,
                       const struct events_mark_stream *streams) {
    end_strings(events);
    events_chunk_begin(&events->beside, EVENTS_MARK, head, sizeof(*head));
    events_chunk_add(&events->beside, streams, head->stream_count * sizeof(*streams));
    events_chunk_end(&events->beside);
}

static void write_mark_now(struct events_recorder *events, enum events_mark_kind kind,
                           const struct events_mark_stream *streams, size_t stream_count) {
    const struct events_mark head = {
        .kind = (uint32_t)kind,
        .stream_count = (uint32_t)stream_count,
        .cycles = now_cycles(events),
        .realtime_ns = read_clock_ns(CLOCK_REALTIME),
    };
    write_mark(events, &head, streams);
}

int events_save_beginning(struct events_recorder *events) {
    const struct events_source *source = &events->source;
    struct events_writer *writer = &events->beside;
    const struct events_wanted *wanted = &events->wanted;
    struct aggstats_clock clock = aggstats_recorder_clock(source->recorder);
    struct utsname host;
    char line[64];
    events_write_start(writer, (wanted->ring_bytes > 0 ? EVENTS_RING : 0U) | (wanted->names ? EVENTS_NAMES : 0U));
    events_chunk_begin(writer, EVENTS_DESCRIPTION, NULL, 0);
    events_write_line(writer, "host", uname(&host) == 0 ? host.nodename : "");
    events_write_line(writer, "osproffs", source->version);
    if (read_beginning(AT_FDCWD, "/proc/sys/kernel/random/boot_id", line, sizeof(line))) {
        line[strcspn(line, "\n")] = '\0';
        events_write_line(writer, "boot", line);
    }
    events_write_number(writer, "pid", (uint64_t)getpid());
    events_write_clock(writer, aggstats_clock_name(clock.kind), clock.frequency_hz);
    events_write_number(writer, "resolution", source->resolution);
    for (size_t i = 0; i < source->label_count; i++)
        events_write_label(writer, source->labels[i].key, source->labels[i].value);
    for (unsigned op = 0; op < source->op_count; op++) {
        snprintf(line, sizeof(line), "op %u", op);
        events_write_line(writer, line, source->ops[op]);
    }
    events_chunk_end(writer);
    if (wanted->ring_bytes > 0 && !writer->error) {
        int err = ring_begin(&events->ring, writer->bytes, writer->size_bytes);
        if (err < 0)
            return err;
        writer->size_bytes = 0;
    }
    CLEANUP_FREE struct events_mark_stream *streams = NULL;
    size_t stream_count = events_streams_now(events, false, &streams);
    write_clock(events);
    write_mark_now(events, EVENTS_MARK_START, streams, stream_count);
    return put_beside(events);
}

/* ---- Strings ---- */

static void add_string(struct events_recorder *events, enum events_string_kind kind, uint64_t key, uint64_t value,
                       const char *text) {
    struct events_writer *beside = &events->beside;
    if (events->is_in_strings && beside->size_bytes - beside->chunk_at > STRINGS_CHUNK_BYTES)
        end_strings(events);
    if (!events->is_in_strings)
        events_chunk_begin(beside, EVENTS_STRINGS, NULL, 0);
    events->is_in_strings = true;
    events_write_string(beside, kind, key, value, text, strlen(text));
}

/* True if a number was not seen yet, or was seen with another note. If there are too many numbers, or no memory, all
 * are forgotten, and count as new again. */
static bool is_new(struct number_map *seen, uint64_t number, uint64_t note) {
    uint64_t value = note != 0 ? note : UINT64_MAX;
    if (number_map_get(seen, number) == value)
        return false;
    if (seen->count >= SEEN_MAX || number_map_set(seen, number, value) < 0)
        number_map_finish(seen);
    return true;
}

static void ask_tasks(struct events_recorder *events, struct events_stream *stream) {
    const struct events_source *source = &events->source;
    uint32_t written = __atomic_load_n(&stream->new_written, __ATOMIC_ACQUIRE);
    for (uint32_t taken = stream->new_taken; taken != written; taken++) {
        uint32_t thread = stream->new_tasks[taken % EVENTS_MET_COUNT];
        char name[EVENTS_TASK_NAME_SIZE] = "";
        uint64_t process = 0;
        bool is_found = source->find_task && source->find_task(source->context, thread, &process, name);
        /* If a caller gets another name, or another caller gets its number, the note differs and it counts as new. */
        uint64_t note = process;
        for (const char *at = name; *at; at++)
            note = note * 31 + (unsigned char)*at;
        if (is_found && is_new(&events->tasks, thread, note))
            add_string(events, EVENTS_STRING_TASK, thread, process, name);
        __atomic_store_n(&stream->new_taken, taken + 1, __ATOMIC_RELEASE);
    }
}

/* Nodes that calls find or create have their names in the records. Paths of all other nodes are asked for. */
static void ask_paths(struct events_recorder *events, const unsigned char *records, size_t size_bytes) {
    struct events_record record;
    for (size_t at = 0; at < size_bytes; at += (size_t)events_head_words(record.head) * 8) {
        memcpy(&record, records + at, sizeof(record));
        int column = events->entry_columns[events_head_op(record.head)];
        uint64_t entry = 0;
        if (column >= 0) {
            size_t place = sizeof(record) + (events_head_flags(record.head) & EVENTS_LONG ? 8 : 0) + 8 * (size_t)column;
            memcpy(&entry, records + at + place, sizeof(entry));
        }
        if (record.node != 0 && is_new(&events->nodes, record.node, 0) && events->source.find_path) {
            CLEANUP_FREE char *path = events->source.find_path(events->source.context, record.node);
            if (path)
                add_string(events, EVENTS_STRING_PATH, record.node, record.start_cycles, path);
        }
        if (entry != 0)
            is_new(&events->nodes, entry, 0);
    }
}

/* ---- Records ---- */

/* How far records may be saved: all of them, or as many as the file's maximum size allows. */
static uint64_t limit_run(const struct events_recorder *events, const struct events_half *half, uint64_t published) {
    const uint64_t heads_bytes = sizeof(struct events_chunk) + sizeof(struct events_buffer) + EVENTS_END_BYTES;
    uint64_t used_bytes = events->size_bytes + heads_bytes;
    uint64_t room_bytes = events->wanted.size_bytes > used_bytes ? events->wanted.size_bytes - used_bytes : 0;
    uint64_t end = half->saved;
    struct events_record record;
    if (events->wanted.size_bytes == 0 || (uint32_t)published - (uint32_t)half->saved <= room_bytes)
        return published;
    while (end != published) {
        memcpy(&record, half->bytes + (uint32_t)end, sizeof(record));
        uint64_t next = end + (UINT64_C(1) << 32 | (uint64_t)events_head_words(record.head) * 8);
        if ((uint32_t)next - (uint32_t)half->saved > room_bytes)
            break;
        end = next;
    }
    return end;
}

static int save_run(struct events_recorder *events, const struct events_stream *stream, struct events_half *half,
                    uint64_t published) {
    const unsigned char *records = half->bytes + (uint32_t)half->saved;
    uint64_t saved_count = half->saved >> 32;
    size_t size_bytes = (uint32_t)published - (uint32_t)half->saved;
    const struct events_buffer head = {
        .stream = stream->number,
        .worker = half->worker,
        .first_index = half->first_index + saved_count,
        .dropped = half->dropped,
        .record_count = (uint32_t)((published >> 32) - saved_count),
    };
    const struct events_chunk chunk =
        events_chunk_seal(EVENTS_BUFFER, events->beside.sequence, &head, sizeof(head), records, size_bytes);
    const void *const parts[3] = {&chunk, &head, records};
    const size_t part_bytes[3] = {sizeof(chunk), sizeof(head), size_bytes};
    int err;
    if (events->wanted.ring_bytes > 0) {
        pthread_mutex_lock(&events->ring_lock);
        err = ring_add_records(&events->ring, parts, part_bytes);
        pthread_mutex_unlock(&events->ring_lock);
    } else {
        err = events_output_write(events, parts, part_bytes);
    }
    if (err < 0)
        return err;
    events->beside.sequence++;
    half->saved = published;
    pthread_mutex_lock(&events->lock);
    events->state.recorded += head.record_count;
    events->state.saved_bytes = events->size_bytes;
    pthread_mutex_unlock(&events->lock);
    if (events->wanted.names || events->wanted.paths)
        ask_paths(events, records, size_bytes);
    return 0;
}

/* all: includes a buffer that is being filled. Errors: AT_SIZE */
static int save_half(struct events_recorder *events, const struct events_stream *stream, struct events_half *half,
                     bool all) {
    uint64_t state = __atomic_load_n(&half->state, __ATOMIC_ACQUIRE);
    if (state == EVENTS_HALF_FREE || (state == EVENTS_HALF_FILLING && !all))
        return 0;
    uint64_t published = __atomic_load_n(&half->published, __ATOMIC_ACQUIRE);
    uint64_t end = limit_run(events, half, published);
    int err = end != half->saved ? save_run(events, stream, half, end) : 0;
    if (err == 0 && end != published)
        err = AT_SIZE;
    if (err == 0 && state == EVENTS_HALF_FULL)
        __atomic_store_n(&half->state, EVENTS_HALF_FREE, __ATOMIC_RELEASE);
    return err;
}

/* Looks up callers first: they may end soon. Of a stream's buffers the one with the earlier calls comes first, so that
 * its calls are saved in order; a free buffer has none. */
static int save_streams(struct events_recorder *events, bool all) {
    struct events_stream *first = __atomic_load_n(&events->streams, __ATOMIC_ACQUIRE);
    int err = 0;
    for (struct events_stream *stream = first; stream; stream = stream->next)
        if (is_of_session(events, stream))
            ask_tasks(events, stream);
    for (struct events_stream *stream = first; stream && err == 0; stream = stream->next) {
        struct events_half *halves = stream->halves;
        if (!is_of_session(events, stream))
            continue;
        bool has_first = __atomic_load_n(&halves[0].state, __ATOMIC_ACQUIRE) != EVENTS_HALF_FREE;
        bool has_other = __atomic_load_n(&halves[1].state, __ATOMIC_ACQUIRE) != EVENTS_HALF_FREE;
        unsigned earlier = !has_first || (has_other && halves[1].first_index < halves[0].first_index);
        err = save_half(events, stream, &halves[earlier], all);
        if (err == 0)
            err = save_half(events, stream, &halves[1 - earlier], all);
    }
    return err;
}

static int save_marks(struct events_recorder *events) {
    for (struct pending_mark *mark; (mark = events_take_mark(events));) {
        write_mark(events, &mark->head, mark->streams);
        free(mark);
    }
    return put_beside(events);
}

static int save_all(struct events_recorder *events, bool all) {
    if (now_ns() - events->clock_written_ns >= CLOCK_NS)
        write_clock(events);
    int err = save_streams(events, all);
    int other = save_marks(events);
    return err < 0 ? err : other;
}

/* ---- The end ---- */

/* The stream of that number; NULL: it has recorded nothing in this session. */
static const struct events_stream *find_stream(const struct events_recorder *events, uint32_t number) {
    const struct events_stream *stream = events->streams;
    while (stream && stream->number != number)
        stream = stream->next;
    return stream && is_of_session(events, stream) ? stream : NULL;
}

/* The numbers of all streams, and how many calls each has dropped. Numbers are read first, so calls that are dropped
 * afterwards are not included. */
static size_t streams_with_drops(struct events_recorder *events, bool is_end, struct events_mark_stream **ret_streams) {
    size_t count = events_streams_now(events, is_end, ret_streams);
    for (size_t i = 0; i < count; i++) {
        const struct events_stream *stream = find_stream(events, (*ret_streams)[i].stream);
        (*ret_streams)[i].dropped = stream ? __atomic_load_n(&stream->dropped, __ATOMIC_RELAXED) : 0;
    }
    return count;
}

static void save_end(struct events_recorder *events, bool is_full) {
    CLEANUP_FREE struct events_mark_stream *streams = NULL;
    const struct timespec moment = {.tv_nsec = 10000000};
    uint64_t unsaved = 0;
    /* A thread that has begun to end a call has either seen the session's end, or is visible as ending a call. */
    __atomic_store_n(&events->hot.session, 0, __ATOMIC_SEQ_CST);
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) < 0)
        nanosleep(&moment, NULL);
    size_t count = streams_with_drops(events, true, &streams);
    int err = is_full ? save_marks(events) : save_all(events, true);
    for (size_t i = 0; i < count; i++) {
        const struct events_stream *stream = find_stream(events, streams[i].stream);
        for (int j = 0; stream && j < 2; j++) { /* records that are still in its buffers could not be saved */
            const struct events_half *half = &stream->halves[j];
            if (__atomic_load_n(&half->state, __ATOMIC_ACQUIRE) == EVENTS_HALF_FREE)
                continue;
            uint64_t here = (__atomic_load_n(&half->published, __ATOMIC_ACQUIRE) >> 32) - (half->saved >> 32);
            streams[i].dropped += here;
            unsaved += here;
        }
    }
    is_full = is_full || err == AT_SIZE;
    events_note_outcome(events, err == AT_SIZE ? 0 : err);
    if (events->state.error < 0 && events->beside.size_bytes > EVENTS_END_BYTES / 2)
        events->beside.size_bytes = 0;
    events_note_end(events, unsaved, is_full);
    write_clock(events); /* room was reserved for the last chunks */
    write_mark_now(events, EVENTS_MARK_STOP, streams, count);
    events->keeps_reserve = false;
    int other = put_beside(events);
    if (ftruncate(events->wanted.fd, (off_t)events->size_bytes) < 0 && other == 0 && events->wanted.fd >= 0)
        other = negative_errno();
    if (err == 0 || err == AT_SIZE)
        events_note_outcome(events, other);
    close_fd(&events->wanted.fd);
    pthread_mutex_lock(&events->lock);
    events->state.is_on = false;
    events->state.is_full = is_full;
    events->state.dropped += unsaved;
    events->state.saved_bytes = events->size_bytes;
    pthread_cond_broadcast(&events->flushed);
    pthread_mutex_unlock(&events->lock);
}

/* ---- The thread ---- */

/* Saves all calls recorded until now to the ring, and then a mark. */
static int complete_ring(struct events_recorder *events, enum events_mark_kind kind) {
    CLEANUP_FREE struct events_mark_stream *streams = NULL;
    size_t count = streams_with_drops(events, false, &streams);
    int err = save_all(events, true);
    write_mark_now(events, kind, streams, count);
    int other = put_beside(events);
    return err < 0 ? err : other;
}

/* Writes the ring if a slow call has ended, and if it was not written lately. */
static void write_for_slow_call(struct events_recorder *events) {
    bool has_slow_call = __atomic_exchange_n(&events->has_slow_call, false, __ATOMIC_SEQ_CST);
    if (!has_slow_call || events->wanted.ring_bytes == 0 || !events->source.open_slow ||
        (events->slow_written_ns != 0 && now_ns() - events->slow_written_ns < SLOW_NS))
        return;
    events->slow_written_ns = now_ns();
    int err = complete_ring(events, EVENTS_MARK_SLOW);
    CLEANUP_FD int fd = events->source.open_slow(events->source.context);
    if (fd < 0)
        return;
    pthread_mutex_lock(&events->ring_lock);
    int other = ring_write(&events->ring, fd, &events->ring_written);
    pthread_mutex_unlock(&events->ring_lock);
    events_note_outcome(events, err < 0 ? err : other);
}

static void sleep_until_woken(struct events_recorder *events, uint32_t wakes, int64_t for_ns) {
    const struct timespec timeout = timespec_of(for_ns);
    __atomic_store_n(&events->is_asleep, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&events->wakes, __ATOMIC_SEQ_CST) == wakes)
        syscall(SYS_futex, &events->wakes, FUTEX_WAIT_PRIVATE, wakes, &timeout, NULL, 0);
    __atomic_store_n(&events->is_asleep, 0, __ATOMIC_SEQ_CST);
}

/* One iteration of the thread. Errors: those of saving, AT_SIZE */
static int save_turn(struct events_recorder *events, int64_t *flushed_ns) {
    pthread_mutex_lock(&events->lock);
    uint32_t wanted = events->flushes_wanted;
    pthread_mutex_unlock(&events->lock);
    int64_t now = now_ns();
    bool is_written = wanted != events->flushes_done;
    bool all = is_written || now - *flushed_ns >= FLUSH_NS;
    int err = is_written && events->wanted.ring_bytes > 0 ? complete_ring(events, EVENTS_MARK_WRITTEN)
                                                          : save_all(events, all);
    if (err != AT_SIZE)
        events_note_outcome(events, err);
    if (all) {
        *flushed_ns = now;
        pthread_mutex_lock(&events->lock);
        events->flushes_done = wanted;
        pthread_cond_broadcast(&events->flushed);
        pthread_mutex_unlock(&events->lock);
    }
    write_for_slow_call(events);
    return err;
}

void *events_save(void *recorder) {
    struct events_recorder *events = recorder;
    events->keeps_reserve = events->wanted.fd >= 0;
    setpriority(PRIO_PROCESS, 0, NICE); /* of this thread; without the permission it keeps its priority */
    int64_t flushed_ns = now_ns();
    int err = 0;
    while (err != AT_SIZE && !__atomic_load_n(&events->is_ending, __ATOMIC_SEQ_CST)) {
        uint32_t wakes = __atomic_load_n(&events->wakes, __ATOMIC_SEQ_CST);
        err = save_turn(events, &flushed_ns);
        int64_t left_ns = flushed_ns + FLUSH_NS - now_ns();
        if (err != AT_SIZE && left_ns > 0)
            sleep_until_woken(events, wakes, left_ns);
    }
    save_end(events, err == AT_SIZE);
    return NULL;
}
