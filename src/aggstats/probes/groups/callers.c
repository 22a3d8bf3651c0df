/* Callers by key, sixteen to a set. */
#include "callers.h"
#include "aggstats/caller_groups.h"

void callers_finish(struct callers *callers) {
    for (unsigned set = 0; set < CALLERS_SETS; set++)
        for (unsigned way = 0; way < CALLERS_WAYS; way++)
            group_finish(&callers->sets[set][way].pending, callers->op_count);
}

/* Uses the top bits of the product with 2^64 / the golden ratio, which differ for neighbours and for multiples. */
static struct caller *set_of(struct callers *callers, uint64_t key) {
    return callers->sets[key * UINT64_C(11400714819323198485) / (UINT64_MAX / CALLERS_SETS + 1)];
}

struct caller *callers_find(struct callers *callers, uint64_t key) {
    struct caller *set = set_of(callers, key);
    for (unsigned way = 0; way < CALLERS_WAYS; way++)
        if (set[way].is_used && set[way].key == key)
            return &set[way];
    return NULL;
}

static bool goes_before(const struct caller *caller, const struct caller *other) {
    if ((caller->group != NULL) != (other->group != NULL))
        return caller->group != NULL;
    return caller->seen < other->seen;
}

struct caller *callers_place(struct callers *callers, uint64_t key) {
    struct caller *set = set_of(callers, key);
    struct caller *place = &set[0];
    for (unsigned way = 0; way < CALLERS_WAYS; way++) {
        if (!set[way].is_used)
            return &set[way];
        if (goes_before(&set[way], place))
            place = &set[way];
    }
    return place;
}

int callers_put(struct callers *callers, struct caller *place, uint64_t key, int64_t now_ns) {
    struct group pending = place->pending;
    *place = (struct caller){.key = key, .check_ns = now_ns, .check_interval_ns = CHECK_INTERVAL_MIN_NS};
    int err = pending.ops ? 0 : group_init(&pending, AGGSTATS_WHO_ID, callers->op_count);
    place->pending = pending;
    place->pending.identity = (struct aggstats_identity){.id = key};
    place->is_used = err == 0;
    return err;
}

void callers_set_next_check(struct caller *caller, int64_t now_ns) {
    caller->has_called = false;
    caller->check_ns = now_ns + caller->check_interval_ns;
    if (caller->check_interval_ns < CHECK_INTERVAL_MAX_NS)
        caller->check_interval_ns *= 2;
}

void callers_forget(struct callers *callers, const struct group *group) {
    for (unsigned set = 0; set < CALLERS_SETS; set++)
        for (unsigned way = 0; way < CALLERS_WAYS; way++)
            if (callers->sets[set][way].group == group) {
                callers->sets[set][way].is_used = false;
                callers->sets[set][way].group = NULL;
            }
}

unsigned callers_due(const struct callers *callers, int64_t now_ns, uint64_t ret_keys[CALLERS_MAX]) {
    unsigned count = 0;
    for (unsigned set = 0; set < CALLERS_SETS; set++) {
        for (unsigned way = 0; way < CALLERS_WAYS; way++) {
            const struct caller *caller = &callers->sets[set][way];
            if (caller->is_used && caller->has_called && caller->check_ns <= now_ns)
                ret_keys[count++] = caller->key;
        }
    }
    return count;
}
