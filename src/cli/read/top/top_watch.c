/* From snapshot to snapshot. */
#include "top_watch.h"

#include "base.h"
#include "proc.h"

void top_watch_init(struct top_watch *watch, struct top_source *source, enum top_order order) {
    *watch = (struct top_watch){.source = *source, .order = order};
    *source = (struct top_source){.live_fd = -1};
}

static void forget(struct top_snapshot *snapshot, bool *has_snapshot) {
    if (*has_snapshot)
        top_snapshot_finish(snapshot);
    *has_snapshot = false;
}

void top_watch_finish(struct top_watch *watch) {
    forget(&watch->mark, &watch->has_mark);
    forget(&watch->previous, &watch->has_previous);
    forget(&watch->latest, &watch->has_latest);
    top_callers_finish(&watch->callers);
    top_frame_finish(&watch->frame);
    top_source_finish(&watch->source);
}

/* Live files do not have them. */
static void name_commands(struct top_frame *frame) {
    for (size_t i = 0; i < frame->profile.in_flight_count; i++) {
        struct aggstats_call *call = &frame->profile.in_flight[i];
        if (!call->program[0])
            proc_name_read(call->pid, call->program, sizeof(call->program));
    }
}

/* Makes the frame of the current snapshots. */
static int make_frame(struct top_watch *watch) {
    const struct aggstats_profile *before = NULL;
    if (watch->summing)
        before = watch->has_mark ? &watch->mark.profile : NULL;
    else
        before = watch->has_previous ? &watch->previous.profile : NULL;
    struct top_frame frame;
    int error = top_frame_make(before, &watch->latest.profile, &frame);
    if (error)
        return error;
    name_commands(&frame);
    top_frame_sort(&frame, watch->order);
    top_frame_finish(&watch->frame);
    watch->frame = frame;
    watch->since_beginning = !before;
    return 0;
}

/* Counts from before the recording began anew do not matter any more. */
static int begin_anew(struct top_watch *watch) {
    forget(&watch->mark, &watch->has_mark);
    forget(&watch->previous, &watch->has_previous);
    watch->began_anew = true;
    return make_frame(watch);
}

static int update_frame(struct top_watch *watch) {
    int error = make_frame(watch);
    return error == -ERANGE ? begin_anew(watch) : error;
}

/* A control file does not say so, but its elapsed time does not advance. */
static bool is_paused(const struct top_watch *watch) {
    const struct aggstats_profile *profile = &watch->latest.profile;
    return watch->latest.paused || (watch->has_previous && profile->has_elapsed &&
                                    profile->elapsed_cycles == watch->previous.profile.elapsed_cycles);
}

/* A process notes its end a moment before it ends: a snapshot in between has more elapsed time than the last one, but
 * no more calls. */
static void keep_time(struct top_watch *watch) {
    const struct aggstats_profile *previous = &watch->previous.profile;
    struct aggstats_profile *latest = &watch->latest.profile;
    if (watch->has_ended && watch->has_previous && top_is_one_recording(previous, latest) &&
        latest->elapsed_cycles < previous->elapsed_cycles)
        latest->elapsed_cycles = previous->elapsed_cycles;
}

/* If callers are asked for through the mount itself, that waits for the daemon too. */
static void look_at_daemon(struct top_watch *watch, const struct top_snapshot *snapshot) {
    const bool was_in_trouble = watch->daemon.trouble == DAEMON_STOPPED || watch->daemon.trouble == DAEMON_STUCK;
    const uint64_t own = watch->callers.reader.pid > 0 && watch->callers.is_in_mount;
    watch->daemon = daemon_watch_look(&watch->daemon_watch, &snapshot->profile, snapshot->pid, own);
    watch->daemon_is_back = was_in_trouble && watch->daemon.trouble == DAEMON_WORKS && snapshot->pid > 0;
}

static int take(struct top_watch *watch, const struct top_snapshot *snapshot) {
    look_at_daemon(watch, snapshot);
    forget(&watch->previous, &watch->has_previous);
    watch->previous = watch->latest;
    watch->has_previous = watch->has_latest;
    watch->latest = *snapshot;
    watch->has_latest = true;
    watch->has_asked = false;
    watch->is_fresh = true;
    watch->has_ended = snapshot->has_ended;
    watch->is_paused = is_paused(watch);
    keep_time(watch);
    if (watch->has_previous && !top_is_one_recording(&watch->previous.profile, &watch->latest.profile))
        return begin_anew(watch);
    return update_frame(watch);
}

/* ---- Callers ------------------------------------------------------------------------------------ */

bool top_watch_collect_callers(struct top_watch *watch) {
    return top_callers_collect(&watch->callers, &watch->latest.profile, watch->summing, watch->order);
}

/* An answer that nobody has taken yet is the last one, not the next. */
void top_watch_ask_callers(struct top_watch *watch) {
    if (watch->callers.wanted == TOP_CALLERS_UNWANTED || !watch->has_latest || watch->has_ended)
        return;
    top_watch_collect_callers(watch);
    if (watch->callers.wanted == TOP_CALLERS_IF_ANY && watch->callers.error == -ENODATA && !watch->began_anew)
        return;
    watch->has_asked = true;
    top_callers_ask(&watch->callers, &watch->latest.profile, watch->source.live_fd < 0 ? watch->source.path : NULL);
}

void top_watch_want_callers(struct top_watch *watch, enum top_callers_wanted wanted) {
    bool begins = wanted > watch->callers.wanted;
    watch->callers.wanted = wanted;
    if (begins && (!watch->has_asked || watch->callers.error))
        top_watch_ask_callers(watch);
}

void top_watch_await_callers(struct top_watch *watch) {
    int64_t left_ns;
    top_watch_collect_callers(watch);
    while ((left_ns = top_callers_due_ns(&watch->callers)) >= 0) {
        control_reader_wait(&watch->callers.reader, left_ns);
        top_watch_collect_callers(watch);
    }
}

void top_watch_regroup(struct top_watch *watch) {
    top_callers_regroup(&watch->callers, watch->summing, watch->order);
}

/* ---- Snapshots ---------------------------------------------------------------------------------- */

int top_watch_refresh(struct top_watch *watch) {
    struct top_snapshot snapshot;
    watch->is_fresh = false;
    watch->began_anew = false;
    int error = top_source_read(&watch->source, &snapshot);
    if (error == -ENOTCONN)
        watch->has_ended = true;
    if (error == -ENOTCONN || error == -EAGAIN)
        return 0;
    if (!error)
        error = take(watch, &snapshot);
    if (!error)
        top_watch_ask_callers(watch);
    return error;
}

int top_watch_sum(struct top_watch *watch, bool summing) {
    bool before = watch->summing;
    watch->summing = summing;
    int error = update_frame(watch);
    if (error)
        watch->summing = before;
    else
        top_callers_update(&watch->callers, summing, watch->order);
    return error;
}

int top_watch_begin_here(struct top_watch *watch) {
    struct top_snapshot mark = watch->latest;
    int error = aggstats_profile_copy(&watch->latest.profile, &mark.profile);
    if (error)
        return error;
    forget(&watch->mark, &watch->has_mark);
    watch->mark = mark;
    watch->has_mark = true;
    top_callers_begin_here(&watch->callers);
    return top_watch_sum(watch, true);
}

void top_watch_sort(struct top_watch *watch, enum top_order order) {
    watch->order = order;
    top_frame_sort(&watch->frame, order);
    top_callers_frame_sort(&watch->callers.frame, order);
}
