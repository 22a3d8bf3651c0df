/* Functions that slow calls came from, in profiles: freeing, copying, and arithmetic. */
#include "profile_callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void profile_free_callers(struct aggstats_profile *profile) {
    free(profile->callers);
    profile->callers = NULL;
    profile->caller_count = 0;
}

int profile_append_caller(struct aggstats_profile *profile, const struct aggstats_caller *caller) {
    struct aggstats_caller *grown = reallocarray(profile->callers, profile->caller_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    profile->callers = grown;
    profile->callers[profile->caller_count++] = *caller;
    return 0;
}

int profile_copy_callers(const struct aggstats_profile *profile, struct aggstats_profile *copy) {
    int err = 0;
    for (size_t i = 0; i < profile->caller_count && err == 0; i++)
        err = profile_append_caller(copy, &profile->callers[i]);
    return err;
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

static int compare_calls(const void *left, const void *right) {
    const struct aggstats_caller *a = left;
    const struct aggstats_caller *b = right;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    return compare_names(a, b);
}

void profile_sort_callers(struct aggstats_profile *profile) {
    if (profile->caller_count > 1)
        qsort(profile->callers, profile->caller_count, sizeof(*profile->callers), compare_calls);
}

/* If there is no room for more, the rest of an op's functions are added together. */
static int add_caller(struct aggstats_profile *sum, const struct aggstats_caller *caller) {
    struct aggstats_caller added = *caller;
    struct aggstats_caller *same = profile_find_caller(sum, &added);
    if (!same && sum->caller_count >= PROFILE_CALLERS_MAX - AGGSTATS_OPS_MAX) {
        added.program[0] = added.function[0] = '\0';
        same = profile_find_caller(sum, &added);
    }
    if (!same)
        return profile_append_caller(sum, &added);
    return __builtin_add_overflow(same->calls, caller->calls, &same->calls) ? -EOVERFLOW : 0;
}

int profile_add_callers(struct aggstats_profile *sum, const struct aggstats_profile *addend) {
    int err = 0;
    for (size_t i = 0; i < addend->caller_count && err == 0; i++)
        err = add_caller(sum, &addend->callers[i]);
    profile_sort_callers(sum);
    return err;
}

static void drop_empty(struct aggstats_profile *profile) {
    size_t kept = 0;
    for (size_t i = 0; i < profile->caller_count; i++)
        if (profile->callers[i].calls > 0)
            profile->callers[kept++] = profile->callers[i];
    profile->caller_count = kept;
}

int profile_subtract_callers(struct aggstats_profile *difference, const struct aggstats_profile *earlier) {
    for (size_t i = 0; i < earlier->caller_count; i++) {
        struct aggstats_caller *same = profile_find_caller(difference, &earlier->callers[i]);
        if (!same || __builtin_sub_overflow(same->calls, earlier->callers[i].calls, &same->calls))
            return -ERANGE;
    }
    drop_empty(difference);
    profile_sort_callers(difference);
    return 0;
}
