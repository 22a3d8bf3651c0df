/* Snapshots of a recorder, and the changes of its window that need one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/numbered.h"
#include "base.h"
#include "profile_owned.h"
#include "quiet_lock.h"
#include "recorder_state.h"
#include "snapshot.h"
#include "text_format.h"

/* Uses the sums of all counters, under the window lock. */
typedef int (*tally_fn)(struct aggstats_recorder *recorder, struct tally *tally, void *argument);

int recorder_tally(struct aggstats_recorder *recorder, bool takes_longest, struct tally *tally) {
    uint64_t broken = 0;
    int err = threads_tally(&recorder->threads, takes_longest, tally);
    if (err == 0 && recorder->live.is_shared) {
        err = shared_part_tally(&recorder->shared, takes_longest, tally, &broken);
        __atomic_store_n(&recorder->broken_threads, broken, __ATOMIC_RELAXED);
    }
    return err;
}

/* The longest calls are moved from the threads to the window. If the process is killed meanwhile, longest_changes is
 * odd: readers of the live file then ignore longest calls. */
static int tally_and_keep_longest(struct aggstats_recorder *recorder, struct tally *tally) {
    uint64_t *changes = &recorder->live.header->longest_changes;
    __atomic_fetch_add(changes, 1, __ATOMIC_SEQ_CST);
    int err = recorder_tally(recorder, true, tally);
    struct window *window = live_edit_window(&recorder->live, &recorder->layout);
    window_keep_longest(window, tally);
    live_publish_window(&recorder->live, &recorder->layout);
    __atomic_fetch_add(changes, 1, __ATOMIC_SEQ_CST);
    return err;
}

static int with_tally(struct aggstats_recorder *recorder, bool changes_window, tally_fn use, void *argument) {
    struct tally tally;
    int err = tally_init(&tally, &recorder->layout);
    if (err < 0)
        return err;
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before);
    RECORDER_PROBES_DO(recorder, read);
    err = changes_window ? tally_and_keep_longest(recorder, &tally) : recorder_tally(recorder, false, &tally);
    RECORDER_PROBES_DO(recorder, hold);
    if (err == 0)
        err = use(recorder, &tally, argument);
    RECORDER_PROBES_DO(recorder, go_on);
    quiet_unlock(&recorder->window_lock, &before);
    tally_finish(&tally);
    return err;
}

/* The current time and the improved frequency are also stored in the live file. */
static struct snapshot_source make_source(struct aggstats_recorder *recorder, const struct tally *tally) {
    struct live_header *header = recorder->live.header;
    struct snapshot_source source = {
        .op_names = (const char(*)[AGGSTATS_NAME_SIZE])recorder->op_names,
        .window = live_window(&recorder->live),
        .tally = tally,
        .labels = recorder->labels,
        .label_count = recorder->label_count,
        .incomplete = threads_fallback_used(&recorder->threads) || header->lost > 0 ||
                      (recorder->live.is_shared && !aggstats_recorder_live_complete(recorder)) ||
                      __atomic_load_n(&recorder->broken_threads, __ATOMIC_RELAXED) > 0,
        .header = header,
        .slow = recorder->live.slow,
        .looks = recorder->live.looks,
        .recorder = recorder,
    };
    source.clock = aggstats_recorder_clock(recorder);
    source.now_cycles = aggstats_clock_now(source.clock.kind);
    __atomic_store_n(&header->frequency_hz, source.clock.frequency_hz, __ATOMIC_RELAXED);
    __atomic_store_n(&header->seen_cycles, source.now_cycles, __ATOMIC_RELAXED);
    live_write_facts(&recorder->live);
    return source;
}

static int make_snapshot(struct aggstats_recorder *recorder, struct tally *tally, void *ret_profile) {
    const struct snapshot_source source = make_source(recorder, tally);
    return snapshot_make(&source, ret_profile);
}

int aggstats_recorder_snapshot(struct aggstats_recorder *recorder, struct aggstats_profile *ret_profile) {
    RECORDER_PROBES_DO(recorder, prepare);
    return with_tally(recorder, false, make_snapshot, ret_profile);
}

/* ---- Reset, pause, resume ---- */

void aggstats_recorder_tell_changes(struct aggstats_recorder *recorder, aggstats_changed_fn changed, void *context) {
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before);
    recorder->changed = changed;
    recorder->changed_context = context;
    quiet_unlock(&recorder->window_lock, &before);
}

/* tally: NULL: no blocks. Call under the window lock */
static void tell_change(const struct aggstats_recorder *recorder, enum aggstats_change change,
                        const struct tally *tally, uint64_t cycles, int64_t realtime_ns) {
    const struct aggstats_changed changed = {
        .change = change,
        .cycles = cycles,
        .realtime_ns = realtime_ns,
        .blocks = tally ? tally->numbered : NULL,
        .block_count = tally ? tally->numbered_count : 0,
    };
    if (recorder->changed)
        recorder->changed(recorder->changed_context, &changed);
}

/* Call under the window lock */
static void take_lost(struct aggstats_recorder *recorder, uint64_t taken) {
    uint64_t *lost = &recorder->live.header->lost;
    __atomic_store_n(lost, *lost > taken ? *lost - taken : 0, __ATOMIC_RELAXED);
}

static int make_change(struct aggstats_recorder *recorder, struct tally *tally, void *argument) {
    const enum aggstats_change change = *(const enum aggstats_change *)argument;
    tally_settle(tally, recorder->live.is_shared && change == AGGSTATS_CHANGE_RESET);
    struct window *window = live_edit_window(&recorder->live, &recorder->layout);
    uint64_t now_cycles = aggstats_clock_now(recorder->clock.kind);
    if (change == AGGSTATS_CHANGE_RESET) {
        window_reset(window, tally, now_cycles);
        recorder->rotation = NULL; /* its span has been reset */
        take_lost(recorder, recorder->live.header->lost);
        RECORDER_PROBES_DO(recorder, reset);
    } else if (change == AGGSTATS_CHANGE_PAUSE) {
        window_pause(window, tally, now_cycles);
        RECORDER_PROBES_DO(recorder, pause);
    } else {
        window_resume(window, tally, now_cycles);
        RECORDER_PROBES_DO(recorder, resume);
    }
    int64_t start_ns = window->start_ns;
    live_publish_window(&recorder->live, &recorder->layout);
    tell_change(recorder, change, tally, now_cycles,
                change == AGGSTATS_CHANGE_RESET ? start_ns : (int64_t)clock_realtime_ns());
    return 0;
}

static int change_window(struct aggstats_recorder *recorder, enum aggstats_change change) {
    return with_tally(recorder, true, make_change, &change);
}

int aggstats_recorder_reset(struct aggstats_recorder *recorder) {
    return change_window(recorder, AGGSTATS_CHANGE_RESET);
}

int aggstats_recorder_pause(struct aggstats_recorder *recorder) {
    return change_window(recorder, AGGSTATS_CHANGE_PAUSE);
}

int aggstats_recorder_resume(struct aggstats_recorder *recorder) {
    return change_window(recorder, AGGSTATS_CHANGE_RESUME);
}

/* ---- Rotation ----
 *
 * A profile is made under the lock, saved without it, and then subtracted from what the recorder shows. While it is
 * saved the recorder may be paused and resumed, and intervals and joint profiles may begin and end, since each of these
 * only adds to what was saved. */

/* Makes the span the same as the profile. The counters' total and failures may exceed what the buckets allow, and an op
 * without calls is not in the profile: the excess is left to the next span. */
static void agree(const struct aggstats_recorder *recorder, struct rotation *rotation) {
    const struct layout *layout = &recorder->layout;
    for (unsigned op = 0; op < layout->op_count; op++) {
        struct aggstats_counters *taken = layout_counters(layout, rotation->span.table, op);
        struct aggstats_op_profile *shown = profile_find_op(&rotation->profile, recorder->op_names[op]);
        if (!shown) {
            memset(taken, 0, layout->counters_stride_bytes);
            continue;
        }
        profile_limit_total(shown, layout->resolution);
        taken->total_cycles = shown->total_cycles;
        memcpy(&aggstats_beside(taken, layout->resolution)[AGGSTATS_FAILED], shown->failures, sizeof(shown->failures));
    }
}

/* taken: NULL: what was marked stays */
static void end_marks(struct aggstats_recorder *recorder, const struct aggstats_profile *taken) {
    for (unsigned place = 0; place < PROBES_MAX; place++) {
        struct probe *probe = recorder_probe(recorder, place);
        if (probe && probe->ops->end_mark)
            probe->ops->end_mark(probe, taken);
    }
}

/* Calls in flight belong to the next span: without them the number of calls is the sum of the buckets. The probes are
 * read after the counters: so a probe's data of a call is in the profile if the counters have the call, and otherwise
 * belongs to the next span. Missing are only calls that a thread has counted and not yet added to the probe. */
static int begin_rotation(struct aggstats_recorder *recorder, struct tally *tally, void *argument) {
    struct rotation *rotation = argument;
    char end[UTC_TEXT_SIZE];
    if (recorder->rotation)
        return -EBUSY;
    tally_settle(tally, false);
    tally->in_flight_count = 0;
    RECORDER_PROBES_DO(recorder, read);
    struct window *window = live_edit_window(&recorder->live, &recorder->layout);
    struct snapshot_source source = make_source(recorder, tally);
    source.is_marked = true;
    window_mark(window, tally, source.now_cycles, &rotation->span);
    rotation->lost = recorder->live.header->lost;
    live_publish_window(&recorder->live, &recorder->layout);
    format_utc(rotation->span.end_ns, end);
    int err = snapshot_make(&source, &rotation->profile);
    if (err == 0)
        err = aggstats_profile_add_label(&rotation->profile, "end", end);
    if (err < 0) {
        end_marks(recorder, NULL);
        return err;
    }
    agree(recorder, rotation);
    RECORDER_PROBES_DO(recorder, mark);
    recorder->rotation = rotation;
    tell_change(recorder, AGGSTATS_CHANGE_ROTATE, tally, rotation->span.end_cycles, rotation->span.end_ns);
    return 0;
}

static void end_rotation(struct aggstats_recorder *recorder, const struct rotation *rotation, bool is_saved) {
    sigset_t before;
    quiet_lock(&recorder->window_lock, &before);
    bool is_taken = is_saved && recorder->rotation == rotation;
    if (is_taken) {
        window_take(live_edit_window(&recorder->live, &recorder->layout), &recorder->layout, &rotation->span);
        take_lost(recorder, rotation->lost);
        end_marks(recorder, &rotation->profile);
        live_publish_window(&recorder->live, &recorder->layout);
    } else if (recorder->rotation == rotation) {
        end_marks(recorder, NULL);
    }
    if (recorder->rotation == rotation)
        recorder->rotation = NULL;
    tell_change(recorder, is_taken ? AGGSTATS_CHANGE_ROTATED : AGGSTATS_CHANGE_NOT_ROTATED, NULL,
                rotation->span.end_cycles, rotation->span.end_ns);
    quiet_unlock(&recorder->window_lock, &before);
}

int aggstats_recorder_rotate(struct aggstats_recorder *recorder, aggstats_save_fn save, void *context) {
    CLEANUP_FREE void *table = calloc(1, layout_table_bytes(&recorder->layout));
    struct rotation rotation = {.span.table = table};
    RECORDER_PROBES_DO(recorder, prepare);
    int err = table ? with_tally(recorder, true, begin_rotation, &rotation) : -ENOMEM;
    if (err == 0) {
        err = save(context, &rotation.profile);
        end_rotation(recorder, &rotation, err == 0);
    }
    aggstats_profile_finish(&rotation.profile);
    return err;
}
