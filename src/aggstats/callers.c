/* Callers by number, four to a set; the one seen least recently is displaced. */
#include "callers.h"

#define CHECK_INTERVAL_MIN_NS 1000000
#define CHECK_INTERVAL_MAX_NS 1000000000

static struct caller *set_of(struct callers *callers, uint32_t number) {
    return callers->sets[number % CALLERS_SETS];
}

struct caller *callers_find(struct callers *callers, uint32_t number) {
    struct caller *set = set_of(callers, number);
    for (unsigned way = 0; way < CALLERS_WAYS; way++)
        if (set[way].group && set[way].number == number)
            return &set[way];
    return NULL;
}

static struct caller *place_in(struct caller *set) {
    struct caller *place = &set[0];
    for (unsigned way = 0; way < CALLERS_WAYS; way++) {
        if (!set[way].group)
            return &set[way];
        if (set[way].seen < place->seen)
            place = &set[way];
    }
    return place;
}

struct caller *callers_add(struct callers *callers, uint32_t number, struct group *group, int64_t now_ns) {
    struct caller *caller = place_in(set_of(callers, number));
    *caller = (struct caller){
        .number = number, .group = group, .check_ns = now_ns, .check_interval_ns = CHECK_INTERVAL_MIN_NS};
    return caller;
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
            if (callers->sets[set][way].group == group)
                callers->sets[set][way].group = NULL;
}

unsigned callers_due(const struct callers *callers, int64_t now_ns, uint32_t ret_numbers[CALLERS_MAX]) {
    unsigned count = 0;
    for (unsigned set = 0; set < CALLERS_SETS; set++) {
        for (unsigned way = 0; way < CALLERS_WAYS; way++) {
            const struct caller *caller = &callers->sets[set][way];
            if (caller->group && caller->has_called && caller->check_ns <= now_ns)
                ret_numbers[count++] = caller->number;
        }
    }
    return count;
}
