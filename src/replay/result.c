/* The outcome of a replay: counts, how closely it kept to the recorded times, and profiles. */
#include <math.h>
#include <string.h>

#include "aggstats/counted.h"
#include "base.h"
#include "events_profile.h"
#include "replay_private.h"

#define DIFFERENCES_MAX 1000U

const char *replay_reason_text(enum replay_reason reason) {
    static const char *const texts[REPLAY_REASONS] = {
        [REPLAY_DONE] = "done",
        [REPLAY_NO_NAME] = "the name was not recorded, or only a part of it",
        [REPLAY_BAD_NAME] = "the name is not a single component of a path",
        [REPLAY_NO_PLACE] = "where it was is not known, or it is not there",
        [REPLAY_NO_FILE] = "the file is not open: opening it was not recorded, or failed",
        [REPLAY_UNKNOWN_OP] = "what it was to do is not recorded",
        [REPLAY_NOT_A_FILE] = "it is no regular file or directory, which is not opened",
        [REPLAY_TOO_LARGE] = "files would hold more than --max-bytes, or a call would move more than 16 MiB",
        [REPLAY_NOT_RECORDED] = "values of such attributes are not recorded",
        [REPLAY_NOT_PRIVILEGED] = "owners and devices need --privileged",
        [REPLAY_BAD_TIME] = "it lies more than an hour apart from all other times of the recording",
        [REPLAY_STOPPED] = "the replay was ended before",
    };
    return texts[reason];
}

/* ---- Counts ---- */

static const char *name_of(const struct replay *replay, const struct replay_op *op) {
    const char *name = replay->file->ops[op->op].name;
    return name ? name : ""; /* a planned operation has one */
}

static struct replay_count *count_of(struct replay *replay, const char *name) {
    size_t i = 0;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): those that are counted have names */
    while (i < replay->report.count_count && strcmp(replay->counts[i].name, name) != 0)
        i++;
    if (i == replay->report.count_count)
        replay->counts[replay->report.count_count++].name = name;
    return &replay->counts[i];
}

static void add_difference(struct replay *replay, const struct replay_op *op) {
    size_t i = 0;
    for (; i < replay->report.difference_count; i++) {
        struct replay_difference *known = &replay->differences[i];
        if (known->name == name_of(replay, op) && known->recorded_error == op->error && known->error == op->new_error)
            break;
    }
    if (i == DIFFERENCES_MAX)
        return;
    if (i == replay->report.difference_count)
        replay->differences[replay->report.difference_count++] =
            (struct replay_difference){name_of(replay, op), op->error, op->new_error, 0};
    replay->differences[i].count++;
}

static void count_op(struct replay *replay, const struct replay_op *op) {
    struct replay_count *count = count_of(replay, name_of(replay, op));
    count->recorded++;
    if (op->reason) {
        count->not_done[op->reason]++;
        return;
    }
    count->done++;
    if (op->error != op->new_error) {
        count->other_error++;
        add_difference(replay, op);
    } else if (replay->file->ops[op->op].counts_bytes && op->error == 0) {
        count->other_result += op->result != op->new_result;
    }
}

/* Counts those that are not even planned. */
static void count_left_out(struct replay *replay) {
    for (unsigned op = 0; op < EVENTS_OPS_MAX; op++) {
        if (replay->left_out[op] == 0)
            continue;
        const char *name = replay->file->ops[op].name;
        struct replay_count *count = count_of(replay, name ? name : "");
        count->recorded += replay->left_out[op];
        count->not_done[REPLAY_BAD_TIME] += replay->left_out[op];
    }
}

static int by_count(const void *a, const void *b) {
    const struct replay_difference *one = a;
    const struct replay_difference *other = b;
    return one->count > other->count ? -1 : one->count < other->count;
}

static int by_name(const void *a, const void *b) {
    const struct replay_count *one = a;
    const struct replay_count *other = b;
    return strcmp(one->name, other->name);
}

/* ---- Times (thesis §8.2: the difference between traced and replayed rates as a function of time) ---- */

static int by_time(const void *a, const void *b) {
    const int64_t *one = a;
    const int64_t *other = b;
    return *one < *other ? -1 : *one > *other;
}

static int find_lateness(struct replay *replay) {
    static const unsigned per_cent[] = {50, 95, 99, 100};
    CLEANUP_FREE int64_t *late = calloc(replay->ops.count, sizeof(*late));
    size_t count = 0;
    if (!late)
        return -ENOMEM;
    for (uint32_t i = 1; i < replay->ops.count; i++) {
        const struct replay_op *op = &replay->ops.at[i];
        if (op->reason == REPLAY_DONE)
            late[count++] = op->begun_ns - replay_recorded_ns(replay, op->start_cycles);
    }
    qsort(late, count, sizeof(*late), by_time);
    for (size_t i = 0; count > 0 && i < ARRAY_SIZE(per_cent); i++)
        replay->report.late_ns[i] = late[(count * per_cent[i] + 99) / 100 - 1];
    return 0;
}

static void add_to_interval(struct replay_report *report, int64_t at_ns, int64_t length_ns, bool is_replayed) {
    size_t place = at_ns <= 0 ? 0 : (size_t)((long double)at_ns / (long double)length_ns * REPLAY_INTERVALS);
    struct replay_interval *interval = &report->intervals[place < REPLAY_INTERVALS ? place : REPLAY_INTERVALS - 1];
    if (is_replayed)
        interval->replayed++;
    else
        interval->recorded++;
}

/* Counts only operations that were done, on both sides: the others are reported elsewhere. */
static void find_rates(struct replay *replay) {
    struct replay_report *report = &replay->report;
    int64_t longer_ns = report->recorded_ns > report->replayed_ns ? report->recorded_ns : report->replayed_ns;
    double apart = 0;
    double total = 0;
    for (uint32_t i = 1; i < replay->ops.count; i++) {
        const struct replay_op *op = &replay->ops.at[i];
        if (op->reason != REPLAY_DONE)
            continue;
        add_to_interval(report, replay_recorded_ns(replay, op->start_cycles), longer_ns + 1, false);
        add_to_interval(report, op->begun_ns, longer_ns + 1, true);
    }
    for (size_t i = 0; i < REPLAY_INTERVALS; i++) {
        apart += fabs((double)report->intervals[i].recorded - (double)report->intervals[i].replayed);
        total += (double)report->intervals[i].recorded;
    }
    report->rate_error = total > 0 ? apart / total : 0;
}

int64_t replay_recorded_length_ns(const struct replay *replay) {
    int64_t last_ns = 0;
    for (uint32_t i = 1; i < replay->ops.count; i++) {
        const struct replay_op *op = &replay->ops.at[i];
        int64_t end_ns = replay_recorded_ns(replay, op->start_cycles + op->latency_cycles);
        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    return last_ns;
}

int replay_sum_up(struct replay *replay) {
    struct replay_report *report = &replay->report;
    replay->counts = calloc(EVENTS_OPS_MAX, sizeof(*replay->counts));
    replay->differences = calloc(DIFFERENCES_MAX, sizeof(*replay->differences));
    if (!replay->counts || !replay->differences)
        return -ENOMEM;
    for (uint32_t i = 1; i < replay->ops.count; i++)
        count_op(replay, &replay->ops.at[i]);
    count_left_out(replay);
    qsort(replay->counts, report->count_count, sizeof(*replay->counts), by_name);
    qsort(replay->differences, report->difference_count, sizeof(*replay->differences), by_count);
    report->counts = replay->counts;
    report->differences = replay->differences;
    report->thread_count = replay->lane_count;
    report->recorded_thread_count = replay->recorded_threads;
    report->replaced_targets = replay->replaced_targets;
    report->recorded_ns = replay_recorded_length_ns(replay);
    report->replayed_ns = replay->ended_ns - replay->started_ns;
    find_rates(replay);
    return find_lateness(replay);
}

const struct replay_report *replay_report_of(const struct replay *replay) {
    return &replay->report;
}

/* ---- Profiles ---- */

static int add_call(const struct replay *replay, const struct replay_op *op, bool is_replayed,
                    struct aggstats_profile *profile) {
    struct counted_call call = {.latency_cycles = is_replayed ? op->new_latency_cycles : op->latency_cycles,
                                .error = is_replayed ? op->new_error : op->error};
    if (replay->file->ops[op->op].counts_bytes) {
        call.asked_bytes = op->size;
        call.moved_bytes = is_replayed ? op->new_result : op->error ? 0 : op->result;
    }
    return counted_add(profile, name_of(replay, op), &call);
}

static int fill_profile(const struct replay *replay, bool is_replayed, struct aggstats_profile *profile) {
    int err = 0;
    for (uint32_t i = 1; i < replay->ops.count && err == 0; i++)
        if (!is_replayed || replay->ops.at[i].reason == REPLAY_DONE)
            err = add_call(replay, &replay->ops.at[i], is_replayed, profile);
    aggstats_profile_sort(profile);
    return err < 0 ? err : aggstats_profile_add_label(profile, "layer", "fs");
}

static int finish_profile(struct aggstats_profile *profile, int err, struct aggstats_profile *ret_profile) {
    if (err == 0)
        *ret_profile = *profile;
    else
        aggstats_profile_finish(profile);
    return err;
}

int replay_recorded_profile(const struct replay *replay, struct aggstats_profile *ret_profile) {
    struct aggstats_profile profile = {
        .resolution = replay->file->resolution,
        .clock = events_profile_clock(replay->file),
        .start_ns = events_unix_ns(replay->file, replay->first_cycles),
        .has_start = replay->file->clock_count > 0,
    };
    int err = fill_profile(replay, false, &profile);
    if (err == 0 && replay->file->host)
        err = aggstats_profile_add_label(&profile, "host", replay->file->host);
    return finish_profile(&profile, err, ret_profile);
}

int replay_replayed_profile(const struct replay *replay, struct aggstats_profile *ret_profile) {
    struct aggstats_profile profile = {
        .resolution = replay->file->resolution,
        .clock = replay->clock,
        .start_ns = replay->started_unix_ns,
        .has_start = true,
        .elapsed_cycles =
            (uint64_t)((long double)replay->report.replayed_ns * (long double)replay->clock.frequency_hz / 1e9L),
        .has_elapsed = true,
    };
    return finish_profile(&profile, fill_profile(replay, true, &profile), ret_profile);
}
