/* Makes a profile of calls. */
#include "events_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/cells.h"
#include "aggstats/words.h"
#include "base.h"
#include "events_profile_private.h"

struct counting {
    const struct events_file *file;
    const struct events_profile_options *options;
    struct events_windows windows;
    unsigned window; /* from 1 */
    struct events_window span;
    uint64_t counted_cycles; /* of the span, without pauses */
    uint64_t interval_cycles;
    uint64_t interval_count;
    struct aggstats_profile profile;
    struct cells samples[EVENTS_OPS_MAX]; /* for the profile's ops, in the order in which they were found */
    struct cells *joints;                 /* [options->joint_count] */
    struct events_groups groups;
};

unsigned events_window_count(const struct events_file *file) {
    struct events_windows windows;
    unsigned count = events_windows_find(file, &windows) == 0 ? windows.window_count : 1;
    events_windows_finish(&windows);
    return count;
}

/* ---- Preparing ---- */

static bool are_valid(const struct events_profile_options *options, unsigned resolution) {
    for (size_t i = 0; i < options->joint_count; i++)
        if (options->joints[i].value >= AGGSTATS_BLOCKED)
            return false;
    return aggstats_resolution_valid(resolution) && (options->groupings & ~GROUPINGS_OF_EVENTS) == 0;
}

static void choose_span(struct counting *counting) {
    const struct events_windows *windows = &counting->windows;
    counting->window = counting->options->window ? counting->options->window : windows->window_count;
    counting->span = windows->windows[counting->window - 1];
    counting->counted_cycles = events_windows_counted(windows, &counting->span, counting->span.to_cycles);
    if (!counting->options->all)
        return;
    counting->span = windows->windows[0];
    counting->span.to_cycles = windows->end_cycles;
    counting->counted_cycles = counting->span.to_cycles > counting->span.from_cycles
                                   ? counting->span.to_cycles - counting->span.from_cycles
                                   : 0;
}

static int choose_intervals(struct counting *counting) {
    long double cycles = (long double)counting->options->interval_ns * (long double)counting->file->clock_hz / NS_PER_S;
    if (counting->options->interval_ns == 0)
        return 0;
    if (cycles < 1 || cycles > 1e19L)
        return -EINVAL;
    counting->interval_cycles = (uint64_t)cycles;
    counting->interval_count = counting->counted_cycles / counting->interval_cycles + 1;
    return counting->interval_count > AGGSTATS_INTERVALS_MAX ? -ERANGE : 0;
}

static int prepare(struct counting *counting) {
    const struct events_profile_options *options = counting->options;
    if (!are_valid(options, counting->profile.resolution))
        return -EINVAL;
    counting->joints = calloc(options->joint_count + 1, sizeof(*counting->joints));
    int err = counting->joints ? events_windows_find(counting->file, &counting->windows) : -ENOMEM;
    if (err == 0 && options->window > counting->windows.window_count)
        err = -ERANGE;
    if (err < 0)
        return err;
    choose_span(counting);
    return choose_intervals(counting);
}

/* ---- Counting ---- */

static uint64_t moment_of(const struct counting *counting, uint64_t cycles) {
    if (!counting->options->all)
        return events_windows_counted(&counting->windows, &counting->span, cycles);
    return cycles > counting->span.from_cycles ? cycles - counting->span.from_cycles : 0;
}

static int sample(struct counting *counting, const struct event *event, size_t op, unsigned bucket) {
    if (counting->interval_cycles == 0)
        return 0;
    uint64_t interval = moment_of(counting, event->end_cycles) / counting->interval_cycles;
    interval = interval < counting->interval_count ? interval : counting->interval_count - 1;
    return cells_count(&counting->samples[op], (uint32_t)interval, bucket);
}

static uint64_t number_of(const struct events_file *file, const struct event *event, enum aggstats_value value) {
    switch (value) {
    case AGGSTATS_SIZE:
        return events_value(file, event, "size");
    case AGGSTATS_RESULT:
        return events_value(file, event, "result");
    case AGGSTATS_OFFSET:
        return events_value(file, event, "offset");
    case AGGSTATS_ERROR:
        return event->error;
    default:
        return event->is_past_eof;
    }
}

static int relate(struct counting *counting, const struct event *event, unsigned bucket) {
    int err = 0;
    for (size_t i = 0; i < counting->options->joint_count && err == 0; i++) {
        const struct events_joint *joint = &counting->options->joints[i];
        if (strcmp(joint->op, counting->file->ops[event->op].name) == 0)
            err = cells_count(&counting->joints[i],
                              aggstats_value_row(joint->value, number_of(counting->file, event, joint->value)), bucket);
    }
    return err;
}

static bool is_wanted(struct counting *counting, const struct event *event) {
    const struct events_profile_options *options = counting->options;
    bool is_inside = events_windows_of(&counting->windows, event) == counting->window || options->all;
    return is_inside && (!options->wants || options->wants(options->context, event));
}

/* As the recorder counts it. */
static int count(void *context, const struct event *event) {
    struct counting *counting = context;
    const struct events_op *kind = &counting->file->ops[event->op];
    struct counted_call call = {.latency_cycles = event->latency_cycles, .object = event->node, .error = event->error};
    if (!is_wanted(counting, event))
        return 0;
    if (kind->counts_bytes) {
        call.asked_bytes = events_value(counting->file, event, "size");
        call.moved_bytes = events_value(counting->file, event, "result");
    }
    struct aggstats_op_profile *op = counted_op_of(&counting->profile, kind->name);
    int err = op ? counted_op_add(op, counting->profile.resolution, &call) : -ENOMEM;
    unsigned bucket = aggstats_bucket_of(event->latency_cycles, counting->profile.resolution);
    err = err < 0 ? err : sample(counting, event, (size_t)(op - counting->profile.ops), bucket);
    err = err < 0 ? err : relate(counting, event, bucket);
    return err < 0 ? err : events_groups_count(&counting->groups, event, &counting->profile);
}

/* ---- The profile ---- */

struct aggstats_clock events_profile_clock(const struct events_file *file) {
    struct aggstats_clock clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = file->clock_hz};
    for (uint32_t kind = AGGSTATS_CLOCK_TSC; file->clock_kind && kind <= AGGSTATS_CLOCK_MONOTONIC; kind++)
        if (strcmp(aggstats_clock_name(kind), file->clock_kind) == 0)
            clock.kind = kind;
    return clock;
}

static bool lacks_calls(const struct events_file *file) {
    const struct events_losses *losses = &file->losses;
    return events_only(file) || losses->dropped || losses->missing || losses->unreadable || losses->cut_bytes ||
           losses->lost || losses->is_open;
}

static int add_labels(const struct events_file *file, struct aggstats_profile *profile) {
    int err = 0;
    for (size_t i = 0; i < file->label_count && err == 0; i++)
        err = aggstats_profile_add_label(profile, file->labels[i].key, file->labels[i].value);
    if (err == 0 && file->host && !aggstats_profile_label(profile, "host"))
        err = aggstats_profile_add_label(profile, "host", file->host);
    return err;
}

static int add_intervals(const struct counting *counting, struct aggstats_profile *profile) {
    profile->interval_cycles = counting->interval_cycles;
    profile->interval_count = counting->interval_count;
    profile->borders = calloc(counting->interval_count, sizeof(*profile->borders));
    if (!profile->borders)
        return -ENOMEM;
    for (uint64_t i = 0; i + 1 < counting->interval_count; i++)
        profile->borders[i] = (i + 1) * counting->interval_cycles;
    profile->borders[counting->interval_count - 1] = profile->elapsed_cycles;
    return 0;
}

static void take_cells(struct cells *cells, struct aggstats_cell **ret_cells, size_t *ret_count) {
    cells_settle(cells);
    *ret_cells = steal_pointer(&cells->cells);
    *ret_count = cells->count;
}

static int add_joints(struct counting *counting, struct aggstats_profile *profile) {
    const struct events_profile_options *options = counting->options;
    profile->joints = calloc(options->joint_count + 1, sizeof(*profile->joints));
    if (!profile->joints)
        return -ENOMEM;
    for (size_t i = 0; i < options->joint_count; i++) {
        struct aggstats_joint_profile *joint = &profile->joints[profile->joint_count++];
        joint->value = options->joints[i].value;
        snprintf(joint->op, sizeof(joint->op), "%s", options->joints[i].op);
        take_cells(&counting->joints[i], &joint->cells, &joint->cell_count);
    }
    return 0;
}

static int fill(struct counting *counting, struct aggstats_profile *profile) {
    profile->start_ns = counting->span.from_unix_ns;
    profile->has_start = counting->span.from_unix_ns > 0;
    profile->elapsed_cycles = counting->counted_cycles;
    profile->has_elapsed = true;
    profile->incomplete = lacks_calls(counting->file);
    int err = add_labels(counting->file, profile);
    if (err == 0 && counting->interval_cycles > 0)
        err = add_intervals(counting, profile);
    for (size_t i = 0; i < profile->op_count; i++)
        take_cells(&counting->samples[i], &profile->ops[i].samples, &profile->ops[i].sample_count);
    aggstats_profile_sort(profile);
    if (err == 0 && counting->options->joint_count > 0)
        err = add_joints(counting, profile);
    if (err == 0 && counting->options->groupings > 0)
        err = events_groups_hand_over(&counting->groups, profile);
    return err;
}

static void finish(struct counting *counting) {
    events_windows_finish(&counting->windows);
    events_groups_finish(&counting->groups);
    for (unsigned op = 0; op < EVENTS_OPS_MAX; op++)
        free(counting->samples[op].cells);
    for (size_t i = 0; counting->joints && i < counting->options->joint_count; i++)
        free(counting->joints[i].cells);
    free(counting->joints);
    aggstats_profile_finish(&counting->profile);
}

int events_profile(const struct events_file *file, const struct events_profile_options *options,
                   struct aggstats_profile *ret_profile) {
    struct counting counting = {
        .file = file,
        .options = options,
        .profile = {.clock = events_profile_clock(file),
                    .resolution = options->resolution ? options->resolution : file->resolution},
        .groups = {.file = file, .groupings = options->groupings},
    };
    int err = prepare(&counting);
    err = err < 0 ? err : events_each(file, count, &counting);
    err = err < 0 ? err : fill(&counting, &counting.profile);
    if (err == 0) {
        *ret_profile = counting.profile;
        counting.profile = (struct aggstats_profile){0};
    }
    finish(&counting);
    return err;
}
