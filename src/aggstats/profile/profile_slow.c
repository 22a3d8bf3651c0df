/* Calls, causes of slow calls, and functions that made slow calls, in profiles: freeing, copying, and arithmetic. */
#include "profile_slow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/fields.h"
#include "aggstats/why.h"
#include "facts.h"
#include "profile_owned.h"

void profile_free_callers(struct aggstats_profile *profile) {
    free(profile->callers);
    profile->callers = NULL;
    profile->caller_count = 0;
}

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

int profile_give_cause_buckets(const struct aggstats_profile *profile, struct aggstats_cause *cause) {
    if (!cause->buckets)
        cause->buckets = calloc(profile_bucket_count(profile), sizeof(*cause->buckets));
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
    if (cause->buckets) {
        if (profile_give_cause_buckets(profile, added) < 0)
            return -ENOMEM;
        memcpy(added->buckets, cause->buckets, profile_bucket_count(profile) * sizeof(*added->buckets));
    }
    profile->cause_count++;
    return 0;
}

int profile_append_caller(struct aggstats_profile *profile, const struct aggstats_caller *caller) {
    struct aggstats_caller *grown = reallocarray(profile->callers, profile->caller_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    profile->callers = grown;
    profile->callers[profile->caller_count++] = *caller;
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
    for (size_t i = 0; i < profile->caller_count && err == 0; i++)
        err = profile_append_caller(copy, &profile->callers[i]);
    return err;
}

/* ---- Finding and sorting ---- */

struct aggstats_cause *profile_find_cause(const struct aggstats_profile *profile, const char *op,
                                          const struct aggstats_why *why) {
    for (size_t i = 0; i < profile->cause_count; i++)
        if (strcmp(profile->causes[i].op, op) == 0 && aggstats_why_is_same(&profile->causes[i].why, why))
            return &profile->causes[i];
    return NULL;
}

/* Orders callers by op, program and function. */
static int compare_names(const struct aggstats_caller *a, const struct aggstats_caller *b) {
    int order = strcmp(a->op, b->op);
    if (order == 0)
        order = strcmp(a->program, b->program);
    return order != 0 ? order : strcmp(a->function, b->function);
}

struct aggstats_caller *profile_find_caller(const struct aggstats_profile *profile,
                                            const struct aggstats_caller *same) {
    for (size_t i = 0; i < profile->caller_count; i++)
        if (compare_names(&profile->callers[i], same) == 0)
            return &profile->callers[i];
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

static int compare_callers(const void *left, const void *right) {
    const struct aggstats_caller *a = left;
    const struct aggstats_caller *b = right;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    return compare_names(a, b);
}

void profile_sort_slow(struct aggstats_profile *profile) {
    if (profile->cause_count > 1)
        qsort(profile->causes, profile->cause_count, sizeof(*profile->causes), compare_causes);
    if (profile->slow_call_count > 1)
        qsort(profile->slow_calls, profile->slow_call_count, sizeof(*profile->slow_calls), compare_ends);
    if (profile->caller_count > 1)
        qsort(profile->callers, profile->caller_count, sizeof(*profile->callers), compare_callers);
}

/* ---- Sums ---- */

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
    if (number_add(&same->calls, cause->calls) < 0 || number_add(&same->total_cycles, cause->total_cycles) < 0)
        return -EOVERFLOW;
    if (cause->buckets && profile_give_cause_buckets(sum, same) < 0)
        return -ENOMEM;
    for (unsigned bucket = 0; cause->buckets && bucket < profile_bucket_count(sum); bucket++)
        if (number_add(&same->buckets[bucket], cause->buckets[bucket]) < 0)
            return -EOVERFLOW;
    return 0;
}

/* The same of an op's functions. */
static int add_caller(struct aggstats_profile *sum, const struct aggstats_caller *caller) {
    struct aggstats_caller added = *caller;
    struct aggstats_caller *same = profile_find_caller(sum, &added);
    if (!same && sum->caller_count >= PROFILE_CALLERS_MAX - AGGSTATS_OPS_MAX) {
        added.program[0] = added.function[0] = '\0';
        same = profile_find_caller(sum, &added);
    }
    if (!same)
        return profile_append_caller(sum, &added);
    return number_add(&same->calls, caller->calls);
}

/* Of two thresholds the higher one is valid for all. Of calls the latest ones stay, as in a recorder. */
int profile_add_slow(struct aggstats_profile *sum, const struct aggstats_profile *addend) {
    int err = 0;
    if (sum->slow_cycles < addend->slow_cycles)
        sum->slow_cycles = addend->slow_cycles;
    for (size_t i = 0; i < addend->cause_count && err == 0; i++)
        err = add_cause(sum, &addend->causes[i]);
    for (size_t i = 0; i < addend->slow_call_count && err == 0; i++)
        err = calls_append(&sum->slow_calls, &sum->slow_call_count, &addend->slow_calls[i]);
    for (size_t i = 0; i < addend->caller_count && err == 0; i++)
        err = add_caller(sum, &addend->callers[i]);
    profile_sort_slow(sum);
    if (sum->slow_call_count > PROFILE_SLOW_CALLS_MAX) {
        const size_t dropped = sum->slow_call_count - PROFILE_SLOW_CALLS_MAX;
        for (size_t i = 0; i < dropped; i++)
            call_finish(&sum->slow_calls[i]);
        sum->slow_call_count = PROFILE_SLOW_CALLS_MAX;
        memmove(sum->slow_calls, sum->slow_calls + dropped, PROFILE_SLOW_CALLS_MAX * sizeof(*sum->slow_calls));
    }
    return err;
}

/* ---- Differences ---- */

static bool has_call(const struct aggstats_profile *profile, const struct aggstats_call *call) {
    for (size_t i = 0; i < profile->slow_call_count; i++) {
        const struct aggstats_call *other = &profile->slow_calls[i];
        if (other->end_ns == call->end_ns && other->latency_cycles == call->latency_cycles && other->pid == call->pid &&
            strcmp(other->op, call->op) == 0)
            return true;
    }
    return false;
}

static int subtract_cause(struct aggstats_profile *difference, const struct aggstats_cause *taken) {
    struct aggstats_cause *cause = profile_find_cause(difference, taken->op, &taken->why);
    if (!cause || number_subtract(&cause->calls, taken->calls) < 0 ||
        number_subtract(&cause->total_cycles, taken->total_cycles) < 0)
        return -ERANGE;
    for (unsigned bucket = 0; taken->buckets && bucket < profile_bucket_count(difference); bucket++)
        if (taken->buckets[bucket] > 0 && (!cause->buckets || /* nothing can be subtracted from unknown buckets */
                                           number_subtract(&cause->buckets[bucket], taken->buckets[bucket]) < 0))
            return -ERANGE;
    return 0;
}

/* What is empty now goes, and calls that the earlier profile has. */
static void drop_gone(struct aggstats_profile *difference, const struct aggstats_profile *earlier) {
    size_t causes = 0;
    size_t calls = 0;
    size_t callers = 0;
    for (size_t i = 0; i < difference->cause_count; i++)
        if (difference->causes[i].total_cycles > 0)
            difference->causes[causes++] = difference->causes[i];
        else
            free(difference->causes[i].buckets);
    for (size_t i = 0; i < difference->slow_call_count; i++)
        if (!has_call(earlier, &difference->slow_calls[i]))
            difference->slow_calls[calls++] = difference->slow_calls[i];
        else
            call_finish(&difference->slow_calls[i]);
    for (size_t i = 0; i < difference->caller_count; i++)
        if (difference->callers[i].calls > 0)
            difference->callers[callers++] = difference->callers[i];
    difference->cause_count = causes;
    difference->slow_call_count = calls;
    difference->caller_count = callers;
}

int profile_subtract_slow(struct aggstats_profile *difference, const struct aggstats_profile *earlier) {
    int err = 0;
    for (size_t i = 0; i < earlier->cause_count && err == 0; i++)
        err = subtract_cause(difference, &earlier->causes[i]);
    for (size_t i = 0; i < earlier->caller_count && err == 0; i++) {
        struct aggstats_caller *same = profile_find_caller(difference, &earlier->callers[i]);
        err = same ? number_subtract(&same->calls, earlier->callers[i].calls) : -ERANGE;
    }
    if (err < 0)
        return err;
    drop_gone(difference, earlier);
    profile_sort_slow(difference);
    return 0;
}
