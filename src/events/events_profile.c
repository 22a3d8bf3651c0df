/* Makes a profile of calls. */
#include "events_profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/caller_groups.h"
#include "aggstats/cells.h"
#include "aggstats/counted.h"
#include "aggstats/words.h"
#include "base.h"
#include "events_private.h"
#include "number_map.h"

/* ---- Windows and spans: the window of a call follows from its number in its stream, as it was counted, and not from its
 * time. So the profile of a window has the same calls as the recorded profile. ---- */

/* The time from one change of counting (reset, rotation, pause, resume) to the next. */
struct span {
    const struct events_mark_seen *mark; /* the mark at its start; NULL: recording began */
    uint64_t from_cycles;
    uint64_t counted_cycles; /* how long the profile had counted until the span's start, since recording began */
    bool is_paused;
    unsigned window; /* number of the window, from 1 */
};

struct window {
    uint64_t from_cycles;
    uint64_t to_cycles;
    int64_t from_unix_ns; /* 0: not known */
};

struct windows {
    struct span *spans;
    size_t span_count;
    struct window *windows;
    unsigned window_count;
    uint64_t end_cycles;
    struct number_map places; /* by stream: index of the span of its latest call */
};

static void add_window(struct windows *windows, uint64_t from_cycles, int64_t from_unix_ns) {
    if (windows->window_count > 0)
        windows->windows[windows->window_count - 1].to_cycles = from_cycles;
    windows->windows[windows->window_count++] =
        (struct window){.from_cycles = from_cycles, .from_unix_ns = from_unix_ns};
}

static uint64_t counted_since(const struct span *span, uint64_t cycles) {
    return span->is_paused || cycles <= span->from_cycles ? 0 : cycles - span->from_cycles;
}

static void add_span(struct windows *windows, const struct events_mark_seen *seen) {
    const struct events_mark *mark = &seen->mark;
    const struct span *last = &windows->spans[windows->span_count - 1];
    struct span span = {.mark = seen, .from_cycles = mark->cycles, .is_paused = last->is_paused};
    span.counted_cycles = last->counted_cycles + counted_since(last, mark->cycles);
    if (mark->kind == EVENTS_MARK_PAUSE || mark->kind == EVENTS_MARK_RESUME)
        span.is_paused = mark->kind == EVENTS_MARK_PAUSE;
    else
        add_window(windows, mark->cycles, mark->realtime_ns);
    span.window = windows->window_count;
    windows->spans[windows->span_count++] = span;
}

static int find_spans(const struct events_file *file, struct windows *windows) {
    struct number_map rotated = {0}; /* numbers of rotations that succeeded */
    int err = 0;
    for (size_t i = 0; i < file->mark_count && err == 0; i++)
        if (file->marks[i].mark.kind == EVENTS_MARK_ROTATED)
            err = number_map_set(&rotated, file->marks[i].mark.number, 1);
    for (size_t i = 0; i < file->mark_count && err == 0; i++) {
        const struct events_mark *mark = &file->marks[i].mark;
        if (mark->kind == EVENTS_MARK_PAUSE || mark->kind == EVENTS_MARK_RESUME || mark->kind == EVENTS_MARK_RESET ||
            (mark->kind == EVENTS_MARK_ROTATE && number_map_get(&rotated, mark->number)))
            add_span(windows, &file->marks[i]);
    }
    windows->windows[windows->window_count - 1].to_cycles = windows->end_cycles;
    number_map_finish(&rotated);
    return err;
}

static int extend(void *context, const struct event *event) {
    struct window *extent = context;
    if (event->start_cycles < extent->from_cycles)
        extent->from_cycles = event->start_cycles;
    if (event->end_cycles > extent->to_cycles)
        extent->to_cycles = event->end_cycles;
    return 0;
}

/* Owner: the caller finishes it, also after an error. Errors: -ENOMEM */
static int find_windows(const struct events_file *file, struct windows *windows) {
    const struct events_mark_seen *start = events_mark_of_kind(file, EVENTS_MARK_START);
    const struct events_mark_seen *stop = events_mark_of_kind(file, EVENTS_MARK_STOP);
    struct window extent = {.from_cycles = UINT64_MAX};
    windows->spans = calloc(file->mark_count + 1, sizeof(*windows->spans));
    windows->windows = calloc(file->mark_count + 1, sizeof(*windows->windows));
    if (!windows->spans || !windows->windows)
        return -ENOMEM;
    int err = start && stop ? 0 : events_each(file, extend, &extent);
    if (err < 0)
        return err;
    windows->end_cycles = stop ? stop->mark.cycles : extent.to_cycles;
    if (start)
        add_window(windows, start->mark.cycles, start->mark.realtime_ns);
    else
        add_window(windows, extent.from_cycles, events_unix_ns(file, extent.from_cycles));
    windows->spans[windows->span_count++] = (struct span){.from_cycles = windows->windows[0].from_cycles, .window = 1};
    return find_spans(file, windows);
}

static void finish_windows(struct windows *windows) {
    free(windows->spans);
    free(windows->windows);
    number_map_finish(&windows->places);
}

/* Number of the window that counts the next call of its stream, from 1; 0: none, because the call ended in a pause.
 * Calls of a stream must be passed in order. */
static unsigned window_of(struct windows *windows, const struct event *event) {
    size_t before = number_map_get(&windows->places, event->stream);
    size_t place = before;
    while (place + 1 < windows->span_count && !events_is_before(windows->spans[place + 1].mark, event))
        place++;
    if (place != before) /* without memory the next call looks from the beginning again */
        (void)number_map_set(&windows->places, event->stream, place);
    return windows->spans[place].is_paused ? 0 : windows->spans[place].window;
}

/* How long the profile had counted at a moment. */
static uint64_t counted_at(const struct windows *windows, uint64_t cycles) {
    size_t from = 0;
    size_t to = windows->span_count;
    while (to - from > 1) { /* the last span that begins before or at that moment */
        size_t middle = from + (to - from) / 2;
        if (windows->spans[middle].from_cycles <= cycles)
            from = middle;
        else
            to = middle;
    }
    return windows->spans[from].counted_cycles + counted_since(&windows->spans[from], cycles);
}

/* ---- Groups, identified by grouping, number and name ---- */

struct groups {
    const struct events_file *file;
    unsigned groupings;
    struct aggstats_group *groups; /* in the order in which they were found */
    size_t count;
    struct number_map places; /* by hash: index in groups + 1 */
};

/* If a text is too long, its end is kept: the end of a path says more. */
static void copy_name(const struct events_text *text, struct aggstats_group *group) {
    size_t length = text->length < sizeof(group->name) ? text->length : sizeof(group->name) - 1;
    memcpy(group->name, text->bytes + (text->length - length), length);
    group->name[length] = '\0';
    make_line(group->name);
}

static void identify_caller(const struct events_file *file, const struct event *event, struct aggstats_group *group) {
    struct events_text name;
    uint64_t process = events_task(file, event, &name);
    if (event->thread == 0) {
        group->who = AGGSTATS_WHO_KERNEL;
        return;
    }
    if (group->grouping == AGGSTATS_BY_PROCESS)
        group->id = process ? process : event->thread;
    if (name.bytes && name.length > 0)
        copy_name(&name, group);
    else if (group->grouping == AGGSTATS_BY_PROGRAM)
        group->who = AGGSTATS_WHO_OTHER;
}

static void identify_object(const struct events_file *file, const struct event *event, struct aggstats_group *group) {
    char bytes[EVENTS_PATH_SIZE];
    struct events_text path = {.bytes = bytes};
    bool is_directory_op = events_text_of(file, event, "name").bytes;
    path.length = events_whole_path(file, event->node, event->start_cycles, bytes);
    if (path.length == 0) {
        snprintf(group->name, sizeof(group->name), "(node %" PRIu64 ")", event->node);
        return;
    }
    if (group->grouping == AGGSTATS_BY_DIRECTORY && !is_directory_op) { /* "/" for what is in the root */
        while (path.length > 1 && path.bytes[path.length - 1] != '/')
            path.length--;
        if (path.length > 1)
            path.length--;
    }
    copy_name(&path, group);
}

static void identify(const struct events_file *file, const struct event *event, struct aggstats_group *group) {
    if (aggstats_grouping_has_objects(group->grouping))
        identify_object(file, event, group);
    else if (group->grouping != AGGSTATS_BY_UID)
        identify_caller(file, event, group);
    else if (event->thread == 0 && event->uid == 0)
        group->who = AGGSTATS_WHO_KERNEL;
    else
        group->id = event->uid;
}

/* Returns the group, which is added if it is new. NULL: no memory. If two groups have the same hash, the later one is
 * stored under the next hash. */
static struct aggstats_group *find_or_add(struct groups *groups, const struct aggstats_group *wanted) {
    uint64_t number = wanted->id ^ (uint64_t)wanted->who << 56 ^ (uint64_t)wanted->grouping << 60;
    uint64_t hash = hash_text(HASH_BEGIN ^ number * UINT64_C(11400714819323198485), wanted->name);
    for (size_t place; (place = number_map_get(&groups->places, hash)) > 0; hash++) {
        struct aggstats_group *group = &groups->groups[place - 1];
        if (group->grouping == wanted->grouping && group->who == wanted->who && group->id == wanted->id &&
            strcmp(group->name, wanted->name) == 0)
            return group;
    }
    if (grow_array(&groups->groups, groups->count, sizeof(*groups->groups)) < 0 ||
        number_map_set(&groups->places, hash, groups->count + 1) < 0)
        return NULL;
    groups->groups[groups->count] = *wanted;
    return &groups->groups[groups->count++];
}

/* Counts a call in one group of each grouping. whole: the profile, for its clock and resolution
 * Errors: -ENOMEM, -EOVERFLOW */
static int count_in_groups(struct groups *groups, const struct event *event, const struct aggstats_profile *whole) {
    const struct counted_call call = {.latency_cycles = event->latency_cycles}; /* groups have nothing else */
    int err = 0;
    for (unsigned grouping = 0; grouping < AGGSTATS_GROUPINGS && err == 0; grouping++) {
        struct aggstats_group wanted = {.grouping = (enum aggstats_grouping)grouping,
                                        .profile = {.resolution = whole->resolution, .clock = whole->clock}};
        if (!(groups->groupings & 1U << grouping))
            continue;
        identify(groups->file, event, &wanted);
        struct aggstats_group *group = find_or_add(groups, &wanted);
        err = group ? counted_add(&group->profile, groups->file->ops[event->op].name, &call) : -ENOMEM;
    }
    return err;
}

/* Merges a group into the group `other` of its grouping, the last group shown. If there is none, the group itself
 * becomes the group `other`. */
static int fold(struct aggstats_profile *profile, struct aggstats_group *group) {
    struct aggstats_group *last = profile->group_count > 0 ? &profile->groups[profile->group_count - 1] : NULL;
    if (!last || last->grouping != group->grouping || last->who != AGGSTATS_WHO_OTHER) {
        last = &profile->groups[profile->group_count++];
        *last = *group;
        last->who = AGGSTATS_WHO_OTHER;
        last->id = 0;
        last->name[0] = '\0';
        return 0;
    }
    int err = counted_add_ops(&last->profile, &group->profile);
    aggstats_profile_finish(&group->profile);
    return err;
}

/* Groups for which there is no room, and calls of which no group is known, are shown as one group. */
static int fold_others(struct aggstats_profile *profile) {
    size_t count = profile->group_count;
    unsigned room = 0;
    int err = 0;
    profile->group_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct aggstats_group group = profile->groups[i];
        if (i == 0 || group.grouping != profile->groups[profile->group_count - 1].grouping)
            room = AGGSTATS_GROUPS_MAX;
        if (err < 0) {
            aggstats_profile_finish(&group.profile);
        } else if (group.who == AGGSTATS_WHO_OTHER || room == 0) {
            err = fold(profile, &group);
        } else {
            profile->groups[profile->group_count++] = group;
            room--;
        }
    }
    return err;
}

/* Moves all groups into a profile that has none. Errors: -EOVERFLOW */
static int hand_groups_over(struct groups *groups, struct aggstats_profile *profile) {
    profile->groupings = groups->groupings;
    profile->groups = steal_pointer(&groups->groups);
    profile->group_count = groups->count;
    groups->count = 0;
    counted_sort_groups(profile);
    int err = fold_others(profile);
    counted_sort_groups(profile);
    return err;
}

/* ---- The profile ---- */

struct counting {
    const struct events_file *file;
    const struct events_profile_options *options;
    struct windows windows;
    unsigned window; /* from 1 */
    struct window span;
    uint64_t counted_cycles; /* of the span, without pauses */
    uint64_t interval_cycles;
    uint64_t interval_count;
    struct aggstats_profile profile;
    struct cells samples[EVENTS_OPS_MAX]; /* for the profile's ops, in the order in which they were found */
    struct cells *joints;                 /* [options->joint_count] */
    struct groups groups;
};

unsigned events_window_count(const struct events_file *file) {
    struct windows windows = {0};
    unsigned count = find_windows(file, &windows) == 0 ? windows.window_count : 1;
    finish_windows(&windows);
    return count;
}

/* How long the profile had counted at that moment of the span, without pauses unless it is of all calls. */
static uint64_t moment_of(const struct counting *counting, uint64_t cycles) {
    const uint64_t from_cycles = counting->span.from_cycles;
    if (cycles <= from_cycles)
        return 0;
    if (counting->options->all)
        return cycles - from_cycles;
    uint64_t before_cycles = counted_at(&counting->windows, from_cycles);
    uint64_t by_then_cycles = counted_at(&counting->windows, cycles);
    return by_then_cycles > before_cycles ? by_then_cycles - before_cycles : 0;
}

/* Checks the options, and finds the span that is counted and its intervals. */
static int prepare(struct counting *counting) {
    const struct events_profile_options *options = counting->options;
    const struct windows *windows = &counting->windows;
    struct window *span = &counting->span;
    long double cycles = (long double)options->interval_ns * (long double)counting->file->clock_hz / NS_PER_S;
    if (!aggstats_resolution_valid(counting->profile.resolution) || options->groupings & ~GROUPINGS_OF_EVENTS)
        return -EINVAL;
    for (size_t i = 0; i < options->joint_count; i++)
        if (options->joints[i].value >= AGGSTATS_BLOCKED)
            return -EINVAL;
    counting->joints = calloc(options->joint_count + 1, sizeof(*counting->joints));
    int err = counting->joints ? find_windows(counting->file, &counting->windows) : -ENOMEM;
    if (err == 0 && options->window > windows->window_count)
        err = -ERANGE;
    if (err < 0)
        return err;
    counting->window = options->window ? options->window : windows->window_count;
    *span = windows->windows[options->all ? 0 : counting->window - 1];
    if (options->all)
        span->to_cycles = windows->end_cycles;
    counting->counted_cycles = moment_of(counting, span->to_cycles);
    if (options->interval_ns == 0)
        return 0;
    if (cycles < 1 || cycles > 1e19L)
        return -EINVAL;
    counting->interval_cycles = (uint64_t)cycles;
    counting->interval_count = counting->counted_cycles / counting->interval_cycles + 1;
    return counting->interval_count > AGGSTATS_INTERVALS_MAX ? -ERANGE : 0;
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

/* As the recorder counts it. */
static int count(void *context, const struct event *event) {
    struct counting *counting = context;
    const struct events_op *kind = &counting->file->ops[event->op];
    struct counted_call call = {.latency_cycles = event->latency_cycles, .object = event->node, .error = event->error};
    bool is_inside = window_of(&counting->windows, event) == counting->window || counting->options->all;
    if (!is_inside || (counting->options->wants && !counting->options->wants(counting->options->context, event)))
        return 0;
    if (kind->counts_bytes) {
        call.asked_bytes = events_value(counting->file, event, "size");
        call.moved_bytes = events_value(counting->file, event, "result");
    }
    struct aggstats_op_profile *op = counted_op_of(&counting->profile, kind->name);
    int err = op ? counted_op_add(op, counting->profile.resolution, &call) : -ENOMEM;
    unsigned bucket = aggstats_bucket_of(event->latency_cycles, counting->profile.resolution);
    if (err == 0 && counting->interval_cycles > 0) {
        uint64_t interval = moment_of(counting, event->end_cycles) / counting->interval_cycles;
        interval = interval < counting->interval_count ? interval : counting->interval_count - 1;
        err = cells_count(&counting->samples[op - counting->profile.ops], (uint32_t)interval, bucket);
    }
    err = err < 0 ? err : relate(counting, event, bucket);
    return err < 0 ? err : count_in_groups(&counting->groups, event, &counting->profile);
}

struct aggstats_clock events_profile_clock(const struct events_file *file) {
    struct aggstats_clock clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = file->clock_hz};
    for (uint32_t kind = AGGSTATS_CLOCK_TSC; file->clock_kind && kind <= AGGSTATS_CLOCK_MONOTONIC; kind++)
        if (strcmp(aggstats_clock_name(kind), file->clock_kind) == 0)
            clock.kind = kind;
    return clock;
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
    const struct events_file *file = counting->file;
    const struct events_losses *losses = &file->losses;
    profile->start_ns = counting->span.from_unix_ns;
    profile->has_start = counting->span.from_unix_ns > 0;
    profile->elapsed_cycles = counting->counted_cycles;
    profile->has_elapsed = true;
    profile->incomplete = events_only(file) || losses->dropped || losses->missing || losses->unreadable ||
                          losses->cut_bytes || losses->lost || losses->is_open;
    int err = 0;
    for (size_t i = 0; i < file->label_count && err == 0; i++)
        err = aggstats_profile_add_label(profile, file->labels[i].key, file->labels[i].value);
    if (err == 0 && file->host && !aggstats_profile_label(profile, "host"))
        err = aggstats_profile_add_label(profile, "host", file->host);
    if (err == 0 && counting->interval_cycles > 0)
        err = add_intervals(counting, profile);
    for (size_t i = 0; i < profile->op_count; i++)
        take_cells(&counting->samples[i], &profile->ops[i].samples, &profile->ops[i].sample_count);
    aggstats_profile_sort(profile);
    if (err == 0 && counting->options->joint_count > 0)
        err = add_joints(counting, profile);
    if (err == 0 && counting->options->groupings > 0)
        err = hand_groups_over(&counting->groups, profile);
    return err;
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
    finish_windows(&counting.windows);
    for (size_t i = 0; i < counting.groups.count; i++)
        aggstats_profile_finish(&counting.groups.groups[i].profile);
    free(counting.groups.groups);
    number_map_finish(&counting.groups.places);
    for (unsigned op = 0; op < EVENTS_OPS_MAX; op++)
        free(counting.samples[op].cells);
    for (size_t i = 0; counting.joints && i < options->joint_count; i++)
        free(counting.joints[i].cells);
    free(counting.joints);
    aggstats_profile_finish(&counting.profile);
    return err;
}
