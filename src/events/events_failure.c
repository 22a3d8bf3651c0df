/* Reasons why calls are missing in the file. After a failure to save, all calls dropped since the latest successful
 * save and until the next successful save are counted as dropped because of the failure. */
#include "base.h"
#include "recorder_private.h"

static uint64_t now_cycles(const struct events_recorder *events) {
    return aggstats_clock_now(aggstats_hot(events->source.recorder)->clock_kind);
}

uint64_t events_count_dropped(const struct events_recorder *events) {
    uint64_t dropped = 0;
    for (const struct events_stream *stream = __atomic_load_n(&events->streams, __ATOMIC_ACQUIRE); stream;
         stream = stream->next)
        if (__atomic_load_n(&stream->session, __ATOMIC_ACQUIRE) == events->last_session)
            dropped += __atomic_load_n(&stream->dropped, __ATOMIC_RELAXED);
    return dropped;
}

static void write_failure(struct events_recorder *events, const struct events_failure *failure) {
    if (failure->dropped == 0)
        return;
    if (events->is_in_strings)
        events_chunk_end(&events->beside);
    events->is_in_strings = false;
    events_chunk_begin(&events->beside, EVENTS_FAILURE, failure, sizeof(*failure));
    events_chunk_end(&events->beside);
    pthread_mutex_lock(&events->lock);
    events->state.failed += failure->dropped;
    if (events->state.failure == 0)
        events->state.failure = -(int)failure->error;
    pthread_mutex_unlock(&events->lock);
}

/* All calls that were dropped since the last successful save count as dropped for this error. */
static void begin_failure(struct events_recorder *events, int err) {
    events->failure.error = (uint32_t)-err;
    events->failure.first_cycles = now_cycles(events);
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
    if (err < 0)
        begin_failure(events, err);
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
