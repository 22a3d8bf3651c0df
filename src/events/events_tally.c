/* Counting, as the recorder does it. */
#include "events_tally.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_op(struct aggstats_op_profile *op) {
    if (op)
        free(op->buckets);
    free(op);
}

void events_tally_finish(struct events_tally *tally) {
    for (unsigned op = 0; op < EVENTS_OPS_MAX; op++)
        free_op(tally->ops[op]);
    *tally = (struct events_tally){0};
}

/* NULL: no memory. */
static struct aggstats_op_profile *op_of(struct events_tally *tally, const char *name, unsigned op,
                                         unsigned resolution) {
    if (tally->ops[op])
        return tally->ops[op];
    struct aggstats_op_profile *made = calloc(1, sizeof(*made));
    if (made)
        made->buckets = calloc(64 * (size_t)resolution, sizeof(*made->buckets));
    if (!made || !made->buckets) {
        free_op(made);
        return NULL;
    }
    snprintf(made->name, sizeof(made->name), "%s", name);
    tally->ops[op] = made;
    return made;
}

static void note_longest(struct aggstats_op_profile *op, const struct event *event) {
    if (event->latency_cycles <= op->longest_cycles)
        return;
    op->longest_cycles = event->latency_cycles;
    op->longest_object = event->node;
}

int events_tally_count(struct events_tally *tally, const struct events_file *file, const struct event *event,
                       unsigned resolution) {
    struct aggstats_op_profile *op = op_of(tally, file->ops[event->op].name, event->op, resolution);
    if (!op)
        return -ENOMEM;
    if (__builtin_add_overflow(op->total_cycles, event->latency_cycles, &op->total_cycles))
        return -EOVERFLOW;
    op->calls++;
    op->buckets[aggstats_bucket_of(event->latency_cycles, resolution)]++;
    note_longest(op, event);
    if (event->error)
        op->failures[aggstats_failure_of_error((int)event->error)]++;
    if (file->ops[event->op].counts_bytes) {
        op->asked_bytes += events_value(file, event, "size");
        op->moved_bytes += events_value(file, event, "result");
    }
    if (__builtin_add_overflow(tally->total_cycles, event->latency_cycles, &tally->total_cycles))
        tally->total_cycles = UINT64_MAX; /* serves only to compare groups */
    return 0;
}

static int add_op(struct events_tally *a, const struct aggstats_op_profile *from, unsigned op, unsigned resolution) {
    struct aggstats_op_profile *into = op_of(a, from->name, op, resolution);
    if (!into)
        return -ENOMEM;
    if (__builtin_add_overflow(into->total_cycles, from->total_cycles, &into->total_cycles))
        return -EOVERFLOW;
    into->calls += from->calls;
    for (unsigned bucket = 0; bucket < 64 * resolution; bucket++)
        into->buckets[bucket] += from->buckets[bucket];
    return 0;
}

int events_tally_add(struct events_tally *a, struct events_tally *b, unsigned resolution) {
    int err = 0;
    for (unsigned op = 0; op < EVENTS_OPS_MAX && err == 0; op++)
        if (b->ops[op])
            err = add_op(a, b->ops[op], op, resolution);
    events_tally_finish(b);
    return err;
}

static void drop_details(struct aggstats_op_profile *op) {
    op->asked_bytes = op->moved_bytes = 0;
    op->longest_cycles = op->longest_object = 0;
    memset(op->failures, 0, sizeof(op->failures));
}

int events_tally_hand_over(struct events_tally *tally, bool is_group, struct aggstats_profile *profile) {
    profile->ops = calloc(EVENTS_OPS_MAX, sizeof(*profile->ops));
    if (!profile->ops)
        return -ENOMEM;
    for (unsigned op = 0; op < EVENTS_OPS_MAX; op++) {
        if (!tally->ops[op])
            continue;
        if (is_group)
            drop_details(tally->ops[op]);
        profile->ops[profile->op_count++] = *tally->ops[op]; /* with its buckets */
        free(tally->ops[op]);
        tally->ops[op] = NULL;
    }
    aggstats_profile_sort(profile);
    return 0;
}
