#include "lock_places.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "number_map.h"

#define SEEN_MAX WAITED_STACKS_MAX

struct lock_places {
    struct locks *locks;
    struct lock_place **places; /* [count] */
    size_t count;
    struct number_map seen; /* places from 1, by stack and kind; up to SEEN_MAX */
};

struct lock_places *lock_places_create(struct locks *locks) {
    struct lock_places *places = calloc(1, sizeof(*places));
    if (places)
        places->locks = locks;
    return places;
}

void lock_places_destroy(struct lock_places *places) {
    if (!places)
        return;
    for (size_t i = 0; i < places->count; i++)
        free(places->places[i]);
    free(places->places);
    number_map_finish(&places->seen);
    free(places);
}

/* ---- Words -------------------------------------------------------------------------------------- */

const char *lock_place_name(const struct lock_place *place) {
    const bool may_be_read = place->kind & (LOCKED_READING | LOCKED_WRITING);
    if (place->kind & LOCKED_MUTEX)
        return "mutex";
    if (place->kind & LOCKED_PERCPU)
        return "percpu rwsem";
    if (place->kind & LOCKED_RT)
        return may_be_read ? "rt rwlock" : "rt mutex";
    if (place->kind & LOCKED_SPINNING)
        return may_be_read ? "rwlock" : "spinlock";
    return may_be_read ? "rwsem" : "semaphore";
}

const char *lock_place_access(const struct lock_place *place) {
    return place->kind & LOCKED_READING ? "read" : place->kind & LOCKED_WRITING ? "write" : NULL;
}

const char *lock_place_state(const struct lock_place *place) {
    return place->kind & LOCKED_SPINNING ? "spinning" : "asleep";
}

/* "rwsem to write, asleep: filename_create" */
static void name_place(struct lock_place *place) {
    const char *access = lock_place_access(place);
    snprintf(place->cause.why.words, sizeof(place->cause.why.words), "%s%s%s, %s: %s", lock_place_name(place),
             access ? " to " : "", access ? access : "", lock_place_state(place),
             place->function[0] ? place->function : "a function that cannot be seen");
}

/* ---- Functions ---------------------------------------------------------------------------------- */

static bool matches(const char *function, const char *const *patterns) {
    for (; *patterns; patterns++)
        if (fnmatch(*patterns, function, 0) == 0)
            return true;
    return false;
}

/* The stack is read in the tracepoint: that, and what reads it, is innermost. */
static bool is_of_tracepoint(const char *function) {
    static const char *const patterns[] = {
        "*get_task_stack*", "*bpf_get_stack*", "*callchain*",      "bpf_prog_*",
        "bpf_trace_run*",   "__bpf_trace_*",   "__traceiter_*",    "trace_contention_*",
        "bpf_trampoline_*", "stack_trace_*",   "arch_stack_walk*", NULL,
    };
    return matches(function, patterns);
}

/* Functions that are part of the lock. */
static bool is_of_lock(const char *function) {
    static const char *const patterns[] = {
        "*mutex_lock*", "*rwsem_*",      "down",        "down_*",      "__down*",   "percpu_*",   "__percpu_*",
        "*rt_mutex_*",  "*rtlock_*",     "rwbase_*",    "rt_spin_*",   "rt_read_*", "rt_write_*", "*_raw_spin_*",
        "*_raw_read_*", "*_raw_write_*", "*_slowpath*", "*spin_lock*", "*queued_*", NULL,
    };
    return matches(function, patterns);
}

/* Returns NULL if it is not known. */
static const char *find_function(const struct kernel_stack *stack) {
    size_t i = 0;
    while (i < stack->count && is_of_tracepoint(stack->functions[i]))
        i++;
    while (i < stack->count && is_of_lock(stack->functions[i]))
        i++;
    return i < stack->count ? stack->functions[i] : NULL;
}

static void read_function(const struct lock_places *places, uint64_t stack, char ret_function[CAUSE_FUNCTION_SIZE]) {
    CLEANUP_FREE char *text = NULL;
    struct kernel_stack functions = {.count = 0};
    if (stack != 0 && locks_name_stack(places->locks, stack, &text) == 0)
        kernel_stack_parse(text, &functions);
    const char *function = find_function(&functions);
    snprintf(ret_function, CAUSE_FUNCTION_SIZE, "%s", function ? function : "");
}

/* ---- Places ------------------------------------------------------------------------------------- */

/* From 1; 0 without memory. */
static size_t find_or_add(struct lock_places *places, const struct lock_place *wanted) {
    for (size_t i = 0; i < places->count; i++)
        if (strcmp(places->places[i]->cause.why.words, wanted->cause.why.words) == 0)
            return i + 1;
    struct lock_place **grown = reallocarray(places->places, places->count + 1, sizeof(struct lock_place *));
    if (!grown)
        return 0;
    places->places = grown;
    struct lock_place *place = malloc(sizeof(*place));
    if (!place)
        return 0;
    *place = *wanted;
    places->places[places->count++] = place;
    return places->count;
}

const struct lock_place *lock_places_find(struct lock_places *places, const struct waited_cell *cell) {
    const uint64_t key = cell->stack + cell->kind; /* numbers of stacks are hashes */
    uint64_t place = number_map_get(&places->seen, key);
    if (place == 0) {
        struct lock_place made = {.cause = {.class = WAIT_COUNTS, .is_named = true}, .kind = cell->kind};
        read_function(places, cell->stack, made.function);
        name_place(&made);
        place = find_or_add(places, &made);
        if (places->seen.count == SEEN_MAX)
            number_map_finish(&places->seen); /* those that are in use are read again */
        if (place == 0 || number_map_set(&places->seen, key, place) != 0)
            return NULL;
    }
    return places->places[place - 1];
}
