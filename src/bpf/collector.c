/* Reads the counts of loaded programs and adds them to lanes: switches windows, waits until no program uses the old
 * one, reads and empties it. A call is added to its histogram before its cell, so groups never show more calls than
 * the whole. */
#include "collector_private.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "loading.h"

#define CELLS_TOGETHER 256U

/* ---- Starting ----------------------------------------------------------------------------------- */

struct collector {
    struct collector_programs programs;
    unsigned slot_count;
    unsigned cpu_count;
    int current_window_fd;
    unsigned in_use; /* the number of that window */
    int counts_of_windows_fd;
    int counts[COLLECTED_WINDOWS];
    int lost_fd;
    struct collected *of_cpus;    /* [cpu_count] */
    bool *is_used;                /* [slot_count]; programs set it */
    bool *was_used;               /* the last time, when it was reset */
    int cells[COLLECTED_WINDOWS]; /* negative: the programs have none */
    int names_fd;
    unsigned cells_taken;          /* of the last window */
    collector_group_fn *add_group; /* NULL: groups are not wanted */
    void *group_context;
};

static struct bpf_object *object_of(const struct collector *collector) {
    return *collector->programs.skeleton->obj;
}

static int find_maps(struct collector *collector) {
    struct bpf_object *object = object_of(collector);
    const int cpu_count = libbpf_num_possible_cpus();
    size_t size_bytes = 0;
    if (cpu_count < 0)
        return cpu_count;
    collector->current_window_fd = bpf_object__find_map_fd_by_name(object, "current_window");
    collector->counts_of_windows_fd = bpf_object__find_map_fd_by_name(object, "counts_of_windows");
    collector->counts[0] = bpf_object__find_map_fd_by_name(object, "counts_a");
    collector->counts[1] = bpf_object__find_map_fd_by_name(object, "counts_b");
    collector->lost_fd = bpf_object__find_map_fd_by_name(object, "lost");
    collector->cells[0] = bpf_object__find_map_fd_by_name(object, "cells_a");
    collector->cells[1] = bpf_object__find_map_fd_by_name(object, "cells_b");
    collector->names_fd = bpf_object__find_map_fd_by_name(object, "names");
    collector->cpu_count = (unsigned)cpu_count;
    collector->is_used =
        (bool *)(uintptr_t)bpf_map__initial_value(bpf_object__find_map_by_name(object, ".data.used"), &size_bytes);
    collector->slot_count = bpf_map__max_entries(bpf_object__find_map_by_name(object, "counts_a"));
    collector->of_cpus = calloc(collector->cpu_count, sizeof(*collector->of_cpus));
    collector->was_used = calloc(collector->slot_count, sizeof(*collector->was_used));
    return collector->of_cpus && collector->was_used ? 0 : -ENOMEM;
}

int collector_start(const struct collector_programs *programs, struct collector **ret_collector,
                    char ret_why[COLLECTOR_WHY_SIZE]) {
    struct collector *collector = calloc(1, sizeof(*collector));
    if (!collector) {
        programs->destroy(programs->programs);
        return loading_fail(-ENOMEM, ret_why);
    }
    collector->programs = *programs;
    int error = loading_load(programs->skeleton, &programs->needs, ret_why);
    if (error == 0) {
        error = find_maps(collector);
        if (error)
            loading_fail(error, ret_why);
    }
    if (error == 0)
        error = loading_attach(programs->skeleton, &programs->needs, ret_why);
    if (error) {
        collector_finish(collector);
        return error;
    }
    if (programs->attach_more)
        programs->attach_more(programs->programs);
    *ret_collector = collector;
    return 0;
}

void *collector_programs_of(const struct collector *collector) {
    return collector->programs.programs;
}

const char *const *collector_ops(const struct collector *collector, unsigned *ret_count) {
    *ret_count = collector->programs.op_count;
    return collector->programs.ops;
}

bool collector_has_caches(const struct collector *collector) {
    return bpf_object__find_map_by_name(object_of(collector), "unread") != NULL;
}

/* ---- Windows ------------------------------------------------------------------------------------ */

/* An update of a map of maps, even with the same map, waits until all running programs that may use the old map have
 * ended. */
int windows_wait(int windows_fd, unsigned number, int window_fd) {
    return bpf_map_update_elem(windows_fd, &number, &window_fd, BPF_ANY) < 0 ? negative_errno() : 0;
}

int windows_empty(int window_fd, void *keys, void *values, unsigned room, void (*taken)(void *context, unsigned count),
                  void *context) {
    unsigned place = 0; /* of the map's, opaque */
    bool is_first = true;
    int result = 0;
    while (result == 0) {
        unsigned count = room;
        result =
            bpf_map_lookup_and_delete_batch(window_fd, is_first ? NULL : &place, &place, keys, values, &count, NULL);
        if (result < 0 && errno != ENOENT) /* that is the end */
            return negative_errno();
        taken(context, count);
        is_first = false;
    }
    return 0;
}

/* ---- Taking ------------------------------------------------------------------------------------- */

/* Returns false if there are no calls. */
static bool add_up(const struct collector *collector, struct collected *ret_sum) {
    unsigned long long calls = 0;
    *ret_sum = (struct collected){0};
    for (unsigned cpu = 0; cpu < collector->cpu_count; cpu++) {
        const struct collected *one = &collector->of_cpus[cpu];
        for (unsigned bucket = 0; bucket < COLLECTED_BUCKETS; bucket++) {
            ret_sum->buckets[bucket] += one->buckets[bucket];
            calls += one->buckets[bucket];
        }
        ret_sum->total_ns += one->total_ns;
        ret_sum->asked_bytes += one->asked_bytes;
        ret_sum->moved_bytes += one->moved_bytes;
        ret_sum->reads.cached_bytes += one->reads.cached_bytes;
        ret_sum->reads.missed_bytes += one->reads.missed_bytes;
        ret_sum->reads.unjudged_bytes += one->reads.unjudged_bytes;
        for (unsigned error = 0; error < COLLECTED_ERRORS; error++)
            ret_sum->failures[error] += one->failures[error];
        if (one->longest_ns > ret_sum->longest_ns)
            ret_sum->longest_ns = one->longest_ns;
    }
    return calls > 0;
}

/* A program that already counts in the other window may have marked the slot as used before the slot is taken here. So
 * the next call takes the slot once more. counts: the map of the window */
static int take_slots(struct collector *collector, int counts, const struct counting_lane *lanes) {
    const uint64_t seen_ns = (uint64_t)read_clock_ns(CLOCK_MONOTONIC);
    for (unsigned slot = 0; slot < collector->slot_count; slot++) {
        const struct collector_slot *what = &collector->programs.slots[slot];
        const bool is_used = __atomic_exchange_n(&collector->is_used[slot], false, __ATOMIC_SEQ_CST);
        const bool must_take = is_used || collector->was_used[slot];
        struct collected sum;
        collector->was_used[slot] = is_used;
        if (must_take && bpf_map_lookup_elem(counts, &slot, collector->of_cpus) < 0)
            return negative_errno();
        if (!must_take || !add_up(collector, &sum))
            continue;
        counting_lane_add(&lanes[what->lane], what->op, &sum, seen_ns);
        memset(collector->of_cpus, 0, collector->cpu_count * sizeof(*collector->of_cpus));
        if (bpf_map_update_elem(counts, &slot, collector->of_cpus, BPF_ANY) < 0)
            return negative_errno();
    }
    return 0;
}

struct taking_cells {
    struct collector *collector;
    struct collected_cell cells[CELLS_TOGETHER];
    struct collected_cell_sum sums[CELLS_TOGETHER];
};

static void add_cells(void *context, unsigned count) {
    const struct taking_cells *taking = context;
    struct collector *collector = taking->collector;
    for (unsigned i = 0; i < count; i++)
        collector->add_group(collector->group_context, collector->programs.slots[taking->cells[i].slot].op,
                             &taking->cells[i], &taking->sums[i]);
    collector->cells_taken += count;
}

/* A call is added to a histogram first, then to a cell of the same or a later window. So all calls of groups are in the
 * histograms. */
int collector_count(struct collector *collector, const struct counting_lane *lanes) {
    const unsigned first = 0;
    const unsigned window = collector->in_use;
    const unsigned next = 1 - window;
    struct taking_cells cells = {.collector = collector};
    bool has_any = false;
    collector->cells_taken = 0;
    for (unsigned slot = 0; slot < collector->slot_count && !has_any; slot++)
        has_any = collector->was_used[slot] || __atomic_load_n(&collector->is_used[slot], __ATOMIC_ACQUIRE);
    if (!has_any)
        return 0;
    if (bpf_map_update_elem(collector->current_window_fd, &first, &next, BPF_ANY) < 0)
        return negative_errno();
    collector->in_use = next; /* from now on programs count there */
    int error = windows_wait(collector->counts_of_windows_fd, window, collector->counts[window]);
    if (error)
        return error;
    error = take_slots(collector, collector->counts[window], lanes);
    if (error == 0 && collector->add_group)
        error = windows_empty(collector->cells[window], cells.cells, cells.sums, CELLS_TOGETHER, add_cells, &cells);
    return error;
}

void collector_group(struct collector *collector, collector_group_fn *add, void *context) {
    collector->add_group = collector->cells[0] >= 0 ? add : NULL;
    collector->group_context = context;
}

bool collector_is_crowded(const struct collector *collector) {
    return collector->cells_taken > COLLECTED_CELLS_MAX / 32;
}

bool collector_name(const struct collector *collector, uint64_t object, struct collected_name *ret_name) {
    return collector->names_fd >= 0 && bpf_map_lookup_elem(collector->names_fd, &object, ret_name) == 0;
}

/* ---- Losses ------------------------------------------------------------------------------------- */

uint64_t collector_lost(const struct collector *collector) {
    const unsigned first = 0;
    uint64_t count = 0;
    if (bpf_map_lookup_elem(collector->lost_fd, &first, &count) < 0)
        count = 0;
    return count + loading_count_skipped(collector->programs.skeleton);
}

/* ---- The end ------------------------------------------------------------------------------------ */

void collector_stop(struct collector *collector) {
    if (collector->programs.detach_more)
        collector->programs.detach_more(collector->programs.programs);
    bpf_object__detach_skeleton(collector->programs.skeleton);
}

void collector_finish(struct collector *collector) {
    if (!collector)
        return;
    collector->programs.destroy(collector->programs.programs);
    free(collector->of_cpus);
    free(collector->was_used);
    free(collector);
}
