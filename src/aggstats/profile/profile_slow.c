/* Calls and causes of slow calls in profiles: freeing, copying, and arithmetic. */
#include "profile_slow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/fields.h"
#include "aggstats/why.h"
#include "base.h"
#include "profile_callers.h"
#include "profile_owned.h"

void profile_free_slow(struct aggstats_profile *profile) {
    calls_free(&profile->in_flight, &profile->in_flight_count);
    calls_free(&profile->slow_calls, &profile->slow_call_count);
    profile_free_callers(profile);
    for (size_t i = 0; i < profile->cause_count; i++)
        free(profile->causes[i].buckets);
    free(profile->causes);
    profile->causes = NULL;
    profile->cause_count = 0;
    profile->slow_cycles = 0;
}

static size_t buckets_bytes(const struct aggstats_profile *profile) {
    return profile_bucket_count(profile) * sizeof(uint64_t);
}

int profile_give_cause_buckets(const struct aggstats_profile *profile, struct aggstats_cause *cause) {
    if (!cause->buckets)
        cause->buckets = calloc(1, buckets_bytes(profile));
    return cause->buckets ? 0 : -ENOMEM;
}

int profile_append_cause(struct aggstats_profile *profile, const struct aggstats_cause *cause) {
    struct aggstats_cause *grown = reallocarray(profile->causes, profile->cause_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    profile->causes = grown;
    struct aggstats_cause *added = &profile->causes[profile->cause_count];
    *added = *cause;
    added->buckets = NULL;
    if (cause->buckets && profile_give_cause_buckets(profile, added) < 0)
        return -ENOMEM;
    if (cause->buckets)
        memcpy(added->buckets, cause->buckets, buckets_bytes(profile));
    profile->cause_count++;
    return 0;
}

int profile_copy_slow(const struct aggstats_profile *profile, struct aggstats_profile *copy) {
    int err = 0;
    for (size_t i = 0; i < profile->cause_count && err == 0; i++)
        err = profile_append_cause(copy, &profile->causes[i]);
    for (size_t i = 0; i < profile->slow_call_count && err == 0; i++)
        err = calls_append(&copy->slow_calls, &copy->slow_call_count, &profile->slow_calls[i]);
    for (size_t i = 0; i < profile->in_flight_count && err == 0; i++)
        err = calls_append(&copy->in_flight, &copy->in_flight_count, &profile->in_flight[i]);
    return err < 0 ? err : profile_copy_callers(profile, copy);
}

struct aggstats_cause *profile_find_cause(const struct aggstats_profile *profile, const char *op,
                                          const struct aggstats_why *why) {
    for (size_t i = 0; i < profile->cause_count; i++)
        if (strcmp(profile->causes[i].op, op) == 0 && aggstats_why_is_same(&profile->causes[i].why, why))
            return &profile->causes[i];
    return NULL;
}

static int compare_causes(const void *left, const void *right) {
    const struct aggstats_cause *a = left;
    const struct aggstats_cause *b = right;
    if (a->total_cycles != b->total_cycles)
        return a->total_cycles < b->total_cycles ? 1 : -1;
    int order = strcmp(a->op, b->op);
    return order != 0 ? order : strcmp(a->why.words, b->why.words);
}

static int compare_ends(const void *left, const void *right) {
    const struct aggstats_call *a = left;
    const struct aggstats_call *b = right;
    return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

void profile_sort_slow(struct aggstats_profile *profile) {
    if (profile->cause_count > 1)
        qsort(profile->causes, profile->cause_count, sizeof(*profile->causes), compare_causes);
    if (profile->slow_call_count > 1)
        qsort(profile->slow_calls, profile->slow_call_count, sizeof(*profile->slow_calls), compare_ends);
}

/* ---- Sums ---- */

static int add_cause_buckets(const struct aggstats_profile *sum, struct aggstats_cause *same,
                             const struct aggstats_cause *cause) {
    int err = cause->buckets ? profile_give_cause_buckets(sum, same) : 0;
    for (unsigned bucket = 0; cause->buckets && err == 0 && bucket < profile_bucket_count(sum); bucket++)
        if (__builtin_add_overflow(same->buckets[bucket], cause->buckets[bucket], &same->buckets[bucket]))
            err = -EOVERFLOW;
    return err;
}

/* If there is no room for more, the rest of an op's causes are added together. */
static int add_cause(struct aggstats_profile *sum, const struct aggstats_cause *cause) {
    struct aggstats_cause added = *cause;
    struct aggstats_cause *same = profile_find_cause(sum, added.op, &added.why);
    if (!same && sum->cause_count >= PROFILE_CAUSES_MAX - AGGSTATS_OPS_MAX) {
        added.why = other_causes;
        same = profile_find_cause(sum, added.op, &added.why);
    }
    if (!same)
        return profile_append_cause(sum, &added);
    if (same->longest_cycles < cause->longest_cycles)
        same->longest_cycles = cause->longest_cycles;
    if (__builtin_add_overflow(same->calls, cause->calls, &same->calls) ||
        __builtin_add_overflow(same->total_cycles, cause->total_cycles, &same->total_cycles))
        return -EOVERFLOW;
    return add_cause_buckets(sum, same, cause);
}

/* The latest ones stay, as in a recorder. */
static void drop_oldest_slow_calls(struct aggstats_profile *profile) {
    size_t dropped =
        profile->slow_call_count > PROFILE_SLOW_CALLS_MAX ? profile->slow_call_count - PROFILE_SLOW_CALLS_MAX : 0;
    if (dropped == 0)
        return;
    for (size_t i = 0; i < dropped; i++)
        call_finish(&profile->slow_calls[i]);
    profile->slow_call_count -= dropped;
    memmove(profile->slow_calls, profile->slow_calls + dropped,
            profile->slow_call_count * sizeof(*profile->slow_calls));
}

/* Of two thresholds the higher one is valid for all. */
int profile_add_slow(struct aggstats_profile *sum, const struct aggstats_profile *addend) {
    int err = 0;
    if (sum->slow_cycles < addend->slow_cycles)
        sum->slow_cycles = addend->slow_cycles;
    for (size_t i = 0; i < addend->cause_count && err == 0; i++)
        err = add_cause(sum, &addend->causes[i]);
    for (size_t i = 0; i < addend->slow_call_count && err == 0; i++)
        err = calls_append(&sum->slow_calls, &sum->slow_call_count, &addend->slow_calls[i]);
    if (err == 0)
        err = profile_add_callers(sum, addend);
    profile_sort_slow(sum);
    drop_oldest_slow_calls(sum);
    return err;
}

/* ---- Differences ---- */

static bool is_same_call(const struct aggstats_call *a, const struct aggstats_call *b) {
    return a->end_ns == b->end_ns && a->latency_cycles == b->latency_cycles && a->pid == b->pid &&
           strcmp(a->op, b->op) == 0;
}

static void drop_slow_calls_of(struct aggstats_profile *difference, const struct aggstats_profile *earlier) {
    size_t kept = 0;
    for (size_t i = 0; i < difference->slow_call_count; i++) {
        bool is_old = false;
        for (size_t j = 0; j < earlier->slow_call_count && !is_old; j++)
            is_old = is_same_call(&difference->slow_calls[i], &earlier->slow_calls[j]);
        if (is_old)
            call_finish(&difference->slow_calls[i]);
        else
            difference->slow_calls[kept++] = difference->slow_calls[i];
    }
    difference->slow_call_count = kept;
}

static void drop_empty_causes(struct aggstats_profile *profile) {
    size_t kept = 0;
    for (size_t i = 0; i < profile->cause_count; i++)
        if (profile->causes[i].total_cycles > 0)
            profile->causes[kept++] = profile->causes[i];
        else
            free(profile->causes[i].buckets);
    profile->cause_count = kept;
}

/* Nothing can be subtracted from unknown buckets. */
static int subtract_cause_buckets(const struct aggstats_profile *difference, const struct aggstats_cause *taken,
                                  struct aggstats_cause *cause) {
    for (unsigned bucket = 0; taken->buckets && bucket < profile_bucket_count(difference); bucket++)
        if (taken->buckets[bucket] > 0 &&
            (!cause->buckets ||
             __builtin_sub_overflow(cause->buckets[bucket], taken->buckets[bucket], &cause->buckets[bucket])))
            return -ERANGE;
    return 0;
}

int profile_subtract_slow(struct aggstats_profile *difference, const struct aggstats_profile *earlier) {
    for (size_t i = 0; i < earlier->cause_count; i++) {
        const struct aggstats_cause *taken = &earlier->causes[i];
        struct aggstats_cause *cause = profile_find_cause(difference, taken->op, &taken->why);
        if (!cause || cause->calls < taken->calls || cause->total_cycles < taken->total_cycles)
            return -ERANGE;
        cause->calls -= taken->calls;
        cause->total_cycles -= taken->total_cycles;
        int err = subtract_cause_buckets(difference, taken, cause);
        if (err < 0)
            return err;
    }
    drop_slow_calls_of(difference, earlier);
    drop_empty_causes(difference);
    profile_sort_slow(difference);
    return profile_subtract_callers(difference, earlier);
}
