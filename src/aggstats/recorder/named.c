/* The list of named programs is written without locks: a program's state becomes WHOLE after all its other members
 * are written, and readers read the state first. */
#include "aggstats/named.h"

#include <string.h>
#include <time.h>

#include "base.h"
#include "live_owner.h"

static bool has_our_numbers(const struct aggstats_named *named) {
    return named->namespace != 0 && named->namespace == live_owner_namespace();
}

void aggstats_named_set_pid(const struct aggstats_named *named, struct aggstats_named_program *program, uint32_t pid) {
    if (has_our_numbers(named))
        __atomic_store_n(&program->pid, pid, __ATOMIC_RELEASE);
}

struct aggstats_named_program *aggstats_named_add(struct aggstats_named *named, uint32_t note, const char *name,
                                                  uint32_t pid) {
    if (__atomic_load_n(&named->count, __ATOMIC_RELAXED) >= AGGSTATS_NAMED_MAX)
        return NULL;
    const uint64_t number = __atomic_fetch_add(&named->count, 1, __ATOMIC_RELAXED);
    if (number >= AGGSTATS_NAMED_MAX)
        return NULL;
    struct aggstats_named_program *program = &named->programs[number];
    program->note = note;
    program->start_ns = read_clock_ns(CLOCK_MONOTONIC);
    memcpy(program->name, name, strnlen(name, sizeof(program->name)));
    if (pid != 0)
        aggstats_named_set_pid(named, program, pid);
    __atomic_store_n(&program->state, AGGSTATS_NAMED_WHOLE, __ATOMIC_RELEASE);
    return program;
}

void aggstats_named_take_back(struct aggstats_named_program *program) {
    __atomic_store_n(&program->state, AGGSTATS_NAMED_TAKEN_BACK, __ATOMIC_RELEASE);
}

/* The kernel is asked for the namespace only if a number is the same: a filter may allow few system calls. */
void aggstats_named_end(struct aggstats_named *named, uint32_t pid) {
    const uint64_t made = __atomic_load_n(&named->count, __ATOMIC_ACQUIRE);
    for (uint64_t i = 0; i < made && i < AGGSTATS_NAMED_MAX; i++) {
        struct aggstats_named_program *program = &named->programs[i];
        int64_t unknown = 0;
        if (__atomic_load_n(&program->state, __ATOMIC_ACQUIRE) == AGGSTATS_NAMED_WHOLE &&
            __atomic_load_n(&program->pid, __ATOMIC_ACQUIRE) == pid && has_our_numbers(named))
            __atomic_compare_exchange_n(&program->end_ns, &unknown, read_clock_ns(CLOCK_MONOTONIC), false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
}
