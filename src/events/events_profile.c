/* From calls to a profile. */
#include "events_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "events_cells.h"
#include "events_groups.h"
#include "events_tally.h"
#include "events_windows.h"

#define GROUPINGS_KNOWN                                                                                                \
    (1U << AGGSTATS_BY_PROCESS | 1U << AGGSTATS_BY_PROGRAM | 1U << AGGSTATS_BY_UID | 1U << AGGSTATS_BY_FILE |          \
     1U << AGGSTATS_BY_DIRECTORY)
#define NS_PER_SECOND 1000000000.0L

struct counting {
    const struct events_file *file;
    const struct events_profile_options *options;
    unsigned resolution;
    struct events_windows windows;
    unsigned window; /* from 1 */
    struct events_window span;
    uint64_t counted_cycles; /* of the span, without pauses */
    uint64_t interval_cycles;
    uint64_t interval_count;
    struct events_tally tally;
    struct events_cells samples; /* a table for each op */
    struct events_cells joints;  /* a table for each of options->joints */
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
    return aggstats_resolution_valid(resolution) && (options->groupings & ~GROUPINGS_KNOWN) == 0 &&
           options->joint_count <= EVENTS_CELL_TABLES_MAX;
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
    long double cycles =
        (long double)counting->options->interval_ns * (long double)counting->file->clock_hz / NS_PER_SECOND;
    if (counting->options->interval_ns == 0)
        return 0;
    if (cycles < 1 || cycles > 1e19L)
        return -EINVAL;
    counting->interval_cycles = (uint64_t)cycles;
    counting->interval_count = counting->counted_cycles / counting->interval_cycles + 1;
    return counting->interval_count > AGGSTATS_INTERVALS_MAX ? -ERANGE : 0;
}

static int prepare(struct counting *counting) {
    if (!are_valid(counting->options, counting->resolution))
        return -EINVAL;
    int err = events_windows_find(counting->file, &counting->windows);
    if (err == 0 && counting->options->window > counting->windows.window_count)
        err = -ERANGE;
    if (err < 0)
        return err;
    choose_span(counting);
    counting->groups = (struct events_groups){
        .file = counting->file, .groupings = counting->options->groupings, .resolution = counting->resolution};
    return choose_intervals(counting);
}

/* ---- Counting ---- */

static uint64_t moment_of(const struct counting *counting, uint64_t cycles) {
    if (!counting->options->all)
        return events_windows_counted(&counting->windows, &counting->span, cycles);
    return cycles > counting->span.from_cycles ? cycles - counting->span.from_cycles : 0;
}

static int sample(struct counting *counting, const struct event *event, unsigned bucket) {
    if (counting->interval_cycles == 0)
        return 0;
    uint64_t interval = moment_of(counting, event->end_cycles) / counting->interval_cycles;
    interval = interval < counting->interval_count ? interval : counting->interval_count - 1;
    return events_cells_add(&counting->samples, event->op, interval, bucket);
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
            err = events_cells_add(&counting->joints, (unsigned)i,
                                   aggstats_value_row(joint->value, number_of(counting->file, event, joint->value)),
                                   bucket);
    }
    return err;
}

static bool is_wanted(struct counting *counting, const struct event *event) {
    const struct events_profile_options *options = counting->options;
    bool is_inside = events_windows_of(&counting->windows, event) == counting->window || options->all;
    return is_inside && (!options->wants || options->wants(options->context, event));
}

static int count(struct counting *counting, const struct event *event) {
    unsigned bucket = aggstats_bucket_of(event->latency_cycles, counting->resolution);
    int err = events_tally_count(&counting->tally, counting->file, event, counting->resolution);
    err = err < 0 ? err : sample(counting, event, bucket);
    err = err < 0 ? err : relate(counting, event, bucket);
    return err < 0 ? err : events_groups_count(&counting->groups, event);
}

static int count_all(struct counting *counting) {
    struct events_cursor *cursor;
    struct event event;
    int err = events_cursor_open(counting->file, &cursor);
    if (err < 0)
        return err;
    while (err == 0 && events_next(cursor, &event))
        if (is_wanted(counting, &event))
            err = count(counting, &event);
    events_cursor_close(cursor);
    return err;
}

/* ---- The profile ---- */

static struct aggstats_clock clock_of(const struct events_file *file) {
    bool is_tsc = file->clock_kind && strcmp(file->clock_kind, "tsc") == 0;
    return (struct aggstats_clock){.kind = is_tsc ? AGGSTATS_CLOCK_TSC : AGGSTATS_CLOCK_MONOTONIC,
                                   .frequency_hz = file->clock_hz};
}

static bool lacks_calls(const struct events_file *file) {
    const struct events_losses *losses = &file->losses;
    return losses->dropped || losses->missing || losses->unreadable || losses->cut_bytes || losses->lost ||
           losses->is_open;
}

static int add_labels(const struct events_file *file, struct aggstats_profile *profile) {
    int err = 0;
    for (size_t i = 0; i < file->label_count && err == 0; i++)
        err = aggstats_profile_add_label(profile, file->labels[i].key, file->labels[i].value);
    if (err == 0 && file->host && !aggstats_profile_label(profile, "host"))
        err = aggstats_profile_add_label(profile, "host", file->host);
    return err;
}

static int add_samples(const struct counting *counting, struct aggstats_profile *profile) {
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

static unsigned number_of_op(const struct events_file *file, const char *name) {
    unsigned op = 0;
    while (op < EVENTS_OPS_MAX && !(file->ops[op].name && strcmp(file->ops[op].name, name) == 0))
        op++;
    return op;
}

static int add_op_samples(const struct counting *counting, struct aggstats_profile *profile) {
    int err = 0;
    for (size_t i = 0; i < profile->op_count && err == 0; i++) {
        struct aggstats_op_profile *op = &profile->ops[i];
        err = events_cells_take(&counting->samples, number_of_op(counting->file, op->name), &op->samples,
                                &op->sample_count);
    }
    return err;
}

static int add_joints(const struct counting *counting, struct aggstats_profile *profile) {
    const struct events_profile_options *options = counting->options;
    int err = 0;
    profile->joints = calloc(options->joint_count + 1, sizeof(*profile->joints));
    if (!profile->joints)
        return -ENOMEM;
    for (size_t i = 0; i < options->joint_count && err == 0; i++) {
        struct aggstats_joint_profile *joint = &profile->joints[profile->joint_count++];
        joint->value = options->joints[i].value;
        snprintf(joint->op, sizeof(joint->op), "%s", options->joints[i].op);
        err = events_cells_take(&counting->joints, (unsigned)i, &joint->cells, &joint->cell_count);
    }
    return err;
}

static int fill(struct counting *counting, struct aggstats_profile *profile) {
    *profile = (struct aggstats_profile){.resolution = counting->resolution,
                                         .clock = clock_of(counting->file),
                                         .start_ns = counting->span.from_unix_ns,
                                         .has_start = counting->span.from_unix_ns > 0,
                                         .elapsed_cycles = counting->counted_cycles,
                                         .has_elapsed = true,
                                         .incomplete = lacks_calls(counting->file)};
    events_cells_sort(&counting->samples);
    events_cells_sort(&counting->joints);
    int err = add_labels(counting->file, profile);
    err = err < 0 ? err : events_tally_hand_over(&counting->tally, false, profile);
    if (counting->interval_cycles > 0) {
        err = err < 0 ? err : add_samples(counting, profile);
        err = err < 0 ? err : add_op_samples(counting, profile);
    }
    if (counting->options->joint_count > 0)
        err = err < 0 ? err : add_joints(counting, profile);
    if (counting->options->groupings > 0)
        err = err < 0 ? err : events_groups_hand_over(&counting->groups, profile);
    return err;
}

int events_profile(const struct events_file *file, const struct events_profile_options *options,
                   struct aggstats_profile *ret_profile) {
    struct counting counting = {
        .file = file, .options = options, .resolution = options->resolution ? options->resolution : file->resolution};
    struct aggstats_profile profile = {0};
    int err = prepare(&counting);
    err = err < 0 ? err : count_all(&counting);
    err = err < 0 ? err : fill(&counting, &profile);
    events_windows_finish(&counting.windows);
    events_tally_finish(&counting.tally);
    events_cells_finish(&counting.samples);
    events_cells_finish(&counting.joints);
    events_groups_finish(&counting.groups);
    if (err < 0)
        aggstats_profile_finish(&profile);
    else
        *ret_profile = profile;
    return err;
}
