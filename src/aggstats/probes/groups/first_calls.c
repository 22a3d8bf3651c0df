/* Callers by number, as many in a set as fit a cache line. */
#include "first_calls.h"

#include <errno.h>
#include <stdlib.h>

#include "aggstats/caller_groups.h"
#include "base.h"
#include "quiet_lock.h"

void first_calls_init(struct first_calls *calls) {
    pthread_mutex_init(&calls->lock, NULL);
}

void first_calls_finish(struct first_calls *calls) {
    pthread_mutex_destroy(&calls->lock);
    free(calls->identities);
}

int first_calls_begin(struct first_calls *calls, aggstats_identify_fn identify, void *context) {
    calls->identities = calloc(FIRST_CALLS_SETS, sizeof(*calls->identities));
    if (!calls->identities)
        return -ENOMEM;
    calls->context = context;
    __atomic_store_n(&calls->identify, identify, __ATOMIC_RELEASE);
    return 0;
}

static bool is_begun(const struct first_calls *calls) {
    return __atomic_load_n(&calls->identify, __ATOMIC_ACQUIRE);
}

/* As in grouping_table.c. */
static unsigned set_of(uint32_t thread) {
    return (uint32_t)(thread * 2654435769U) / (UINT32_MAX / FIRST_CALLS_SETS + 1);
}

/* FIRST_CALLS_WAYS: it is not there. */
static unsigned way_of(const struct first_calls *calls, unsigned set, uint32_t thread) {
    unsigned way = 0;
    while (way < FIRST_CALLS_WAYS && __atomic_load_n(&calls->threads[set][way], __ATOMIC_RELAXED) != thread)
        way++;
    return way;
}

bool first_calls_meet(struct first_calls *calls, uint32_t thread) {
    const unsigned set = set_of(thread);
    struct aggstats_identity identity = {.id = 0};
    sigset_t before;
    if (!is_begun(calls) || way_of(calls, set, thread) < FIRST_CALLS_WAYS)
        return false;
    quiet_lock(&calls->lock, &before);
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    if (now_ns - calls->second_ns >= NS_PER_S) {
        calls->second_ns = now_ns;
        calls->asked = 0;
    }
    const bool asks = calls->asked++ < FIRST_CALLS_PER_SECOND;
    quiet_unlock(&calls->lock, &before);
    if (!asks)
        return false;
    if (!calls->identify(calls->context, thread, &identity))
        identity = (struct aggstats_identity){.id = 0};
    quiet_lock(&calls->lock, &before);
    unsigned way = way_of(calls, set, thread);
    if (way == FIRST_CALLS_WAYS) /* else two of its calls were the first */
        way = calls->next[set]++ % FIRST_CALLS_WAYS;
    calls->identities[set][way] = identity;
    __atomic_store_n(&calls->threads[set][way], thread, __ATOMIC_RELAXED);
    quiet_unlock(&calls->lock, &before);
    return true;
}

bool first_calls_find(struct first_calls *calls, uint32_t thread, struct aggstats_identity *ret_identity) {
    unsigned set = set_of(thread);
    bool is_known = false;
    if (!is_begun(calls))
        return false;
    pthread_mutex_lock(&calls->lock);
    unsigned way = way_of(calls, set, thread);
    if (way < FIRST_CALLS_WAYS) {
        *ret_identity = calls->identities[set][way];
        is_known = ret_identity->name[0] != '\0';
    }
    pthread_mutex_unlock(&calls->lock);
    return is_known;
}

void first_calls_clear(struct first_calls *calls) {
    sigset_t before;
    quiet_lock(&calls->lock, &before);
    for (unsigned set = 0; set < FIRST_CALLS_SETS; set++)
        for (unsigned way = 0; way < FIRST_CALLS_WAYS; way++)
            __atomic_store_n(&calls->threads[set][way], 0, __ATOMIC_RELAXED);
    quiet_unlock(&calls->lock, &before);
}

void first_calls_forget(struct first_calls *calls, uint32_t thread) {
    unsigned set = set_of(thread);
    if (!is_begun(calls))
        return;
    pthread_mutex_lock(&calls->lock);
    unsigned way = way_of(calls, set, thread);
    if (way < FIRST_CALLS_WAYS)
        __atomic_store_n(&calls->threads[set][way], 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&calls->lock);
}
