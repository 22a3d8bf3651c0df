/* Snapshots of a recorder, and the changes of window that are made of them. */
#include "quiet_lock.h"
#include "recorder.h"
#include "snapshot.h"

/* The live file, too, learns how far the clock has come and how fast it runs. */
static void note_clock(const struct aggstats_recorder *recorder, struct snapshot_source *source) {
    source->clock = aggstats_recorder_clock(recorder);
    source->now_cycles = aggstats_clock_now(source->clock.kind);
    struct live_header *header = recorder->live.header;
    __atomic_store_n(&header->frequency_hz, source->clock.frequency_hz, __ATOMIC_RELAXED);
    __atomic_store_n(&header->seen_cycles, source->now_cycles, __ATOMIC_RELAXED);
}

/* What is kept beside the counters is read before these. */
static void read_beside(struct aggstats_recorder *recorder) {
    joints_read(&recorder->joints);
    if (recorder_grouping(recorder))
        grouping_take_in(recorder->grouping);
}

/* What is to be done with the sums of all counters, while no window changes. */
typedef int (*tally_fn)(struct aggstats_recorder *recorder, struct tally *tally, void *argument);

static int with_tally(struct aggstats_recorder *recorder, tally_fn use, void *argument) {
    struct tally tally;
    int err = tally_init(&tally, &recorder->layout);
    if (err < 0)
        return err;
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before);
    read_beside(recorder);
    err = threads_tally(&recorder->threads, &tally);
    if (err == 0)
        err = use(recorder, &tally, argument);
    quiet_unlock(&recorder->window_lock, &before);
    tally_finish(&tally);
    return err;
}

static int make_snapshot(struct aggstats_recorder *recorder, struct tally *tally, void *ret_profile) {
    struct snapshot_source source = {
        .op_names = (const char(*)[AGGSTATS_NAME_SIZE])recorder->op_names,
        .window = live_window(&recorder->live),
        .tally = tally,
        .labels = recorder->labels,
        .label_count = recorder->label_count,
        .incomplete = threads_fallback_used(&recorder->threads),
        .timeline = recorder_timeline(recorder),
        .joints = &recorder->joints,
        .grouping = recorder_grouping(recorder),
    };
    note_clock(recorder, &source);
    return snapshot_make(&source, ret_profile);
}

int aggstats_recorder_snapshot(struct aggstats_recorder *recorder, struct aggstats_profile *ret_profile) {
    return with_tally(recorder, make_snapshot, ret_profile);
}

/* ---- Reset, pause, resume ---- */

typedef void (*window_change_fn)(struct aggstats_recorder *recorder, struct window *window, const struct tally *settled,
                                 uint64_t now_cycles);

static void reset_all(struct aggstats_recorder *recorder, struct window *window, const struct tally *settled,
                      uint64_t now_cycles) {
    window_reset(window, settled, now_cycles);
    joints_reset(&recorder->joints);
    if (recorder_grouping(recorder))
        grouping_reset(recorder->grouping);
    if (recorder->timeline)
        timeline_clear(recorder->timeline);
}

static void pause_all(struct aggstats_recorder *recorder, struct window *window, const struct tally *settled,
                      uint64_t now_cycles) {
    window_pause(window, settled, now_cycles);
    joints_pause(&recorder->joints);
    if (recorder_grouping(recorder))
        grouping_pause(recorder->grouping);
}

static void resume_all(struct aggstats_recorder *recorder, struct window *window, const struct tally *settled,
                       uint64_t now_cycles) {
    window_resume(window, settled, now_cycles);
    joints_resume(&recorder->joints);
    if (recorder_grouping(recorder))
        grouping_resume(recorder->grouping);
}

static int make_change(struct aggstats_recorder *recorder, struct tally *tally, void *argument) {
    const window_change_fn *change = argument;
    tally_settle(tally);
    struct window *window = live_edit_window(&recorder->live, &recorder->layout);
    (*change)(recorder, window, tally, aggstats_clock_now(recorder->clock.kind));
    live_publish_window(&recorder->live);
    return 0;
}

static int change_window(struct aggstats_recorder *recorder, window_change_fn change) {
    return with_tally(recorder, make_change, &change);
}

int aggstats_recorder_reset(struct aggstats_recorder *recorder) {
    return change_window(recorder, reset_all);
}

int aggstats_recorder_pause(struct aggstats_recorder *recorder) {
    return change_window(recorder, pause_all);
}

int aggstats_recorder_resume(struct aggstats_recorder *recorder) {
    return change_window(recorder, resume_all);
}
