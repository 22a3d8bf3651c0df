/* Counts calls in ops, and sorts groups. */
#include "aggstats/counted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile_owned.h"

/* ---- Calls ---- */

int counted_op_add(struct aggstats_op_profile *op, unsigned resolution, const struct counted_call *call) {
    if (__builtin_add_overflow(op->total_cycles, call->latency_cycles, &op->total_cycles)) {
        op->total_cycles -= call->latency_cycles;
        return -EOVERFLOW;
    }
    op->calls++;
    op->buckets[aggstats_bucket_of(call->latency_cycles, resolution)]++;
    op->asked_bytes += call->asked_bytes;
    op->moved_bytes += call->moved_bytes;
    if (call->error)
        op->failures[aggstats_failure_of_error((int)call->error)]++;
    if (call->latency_cycles > op->longest_cycles) {
        op->longest_cycles = call->latency_cycles;
        op->longest_object = call->object;
    }
    return 0;
}

struct aggstats_op_profile *counted_op_of(struct aggstats_profile *profile, const char *name) {
    static const uint64_t no_calls[AGGSTATS_BUCKETS_MAX];
    struct aggstats_op_profile op = {.buckets = (uint64_t *)(uintptr_t)no_calls}; /* only read */
    for (size_t i = 0; i < profile->op_count; i++)
        if (profile->ops[i].name[0] == name[0] && strncmp(profile->ops[i].name, name, sizeof(op.name) - 1) == 0)
            return &profile->ops[i];
    strncat(op.name, name, sizeof(op.name) - 1);
    return profile_append_op(profile, &op) < 0 ? NULL : &profile->ops[profile->op_count - 1];
}

int counted_add(struct aggstats_profile *profile, const char *op_name, const struct counted_call *call) {
    struct aggstats_op_profile *op = counted_op_of(profile, op_name);
    return op ? counted_op_add(op, profile->resolution, call) : -ENOMEM;
}

/* ---- Groups ---- */

static long double total_cycles(const struct aggstats_profile *profile) {
    long double total = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        total += profile->ops[i].total_cycles;
    return total;
}

static int compare_groups(const void *left, const void *right) {
    const struct aggstats_group *a = left;
    const struct aggstats_group *b = right;
    long double a_cycles = total_cycles(&a->profile);
    long double b_cycles = total_cycles(&b->profile);
    if (a->grouping != b->grouping)
        return a->grouping < b->grouping ? -1 : 1;
    if ((a->who == AGGSTATS_WHO_OTHER) != (b->who == AGGSTATS_WHO_OTHER))
        return a->who == AGGSTATS_WHO_OTHER ? 1 : -1;
    if (a_cycles < b_cycles || a_cycles > b_cycles)
        return a_cycles < b_cycles ? 1 : -1;
    if (a->who != b->who)
        return a->who < b->who ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return strcmp(a->name, b->name);
}

void counted_sort_groups(struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->group_count; i++)
        aggstats_profile_sort(&profile->groups[i].profile);
    if (profile->group_count > 1)
        qsort(profile->groups, profile->group_count, sizeof(*profile->groups), compare_groups);
}
