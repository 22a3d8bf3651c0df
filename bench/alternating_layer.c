/* osproffs that profiles intermittently: 5 ms of requests go through the prof layer, 5 ms past it, on one mount and in
 * one run. What differs between neighbours is the profiling, and what changes from mount to mount, or from second to
 * second, is the same for both. So a few thousand pairs show a cost that as many runs side by side would not.
 *
 * The program alternating_osproffs is osproffs, linked with --wrap=ctl_init: the control layer gets the layer below
 * instead of the prof layer. The environment variable ALTERNATING_OSPROFFS names a file that gets a line for each turn
 * at the end: how it went (full or off), the calls that began in it through the prof layer and past it, and
 * nanoseconds. For one worker (-s). */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ctl.h"
#include "fs_ops.h"

#define TURN_NS 5000000
#define TURNS_MAX 1000000U /* more than an hour */

enum way { OFF, FULL, WAYS };

struct turn {
    enum way way;
    uint64_t calls[WAYS];
    uint64_t length_ns;
};

struct alternating {
    struct fs_layer layer;
    struct fs_layer *ways[WAYS];
    enum way way;         /* atomic */
    uint64_t calls[WAYS]; /* atomic; written by the worker alone */
    unsigned seed;
    struct turn *turns;
    unsigned turn_count;
    pthread_t thread; /* that takes them */
    bool is_over;     /* atomic */
};

static struct alternating alternating;

/* The linker's names for the original and for what takes its place. */
// NOLINTBEGIN(bugprone-reserved-identifier)
void __real_ctl_init(struct ctl *ctl, const struct ctl_options *options, struct fs_layer *next);
void __wrap_ctl_init(struct ctl *ctl, const struct ctl_options *options, struct fs_layer *next);
// NOLINTEND(bugprone-reserved-identifier)

/* ---- The layer ---- */

static struct fs_layer *next_way(struct fs_layer *layer) {
    struct alternating *self = (struct alternating *)layer;
    enum way way = __atomic_load_n(&self->way, __ATOMIC_RELAXED);
    __atomic_store_n(&self->calls[way], self->calls[way] + 1, __ATOMIC_RELAXED);
    return self->ways[way];
}

#define ALTERNATING_OP(NAME, member, params, ...)                                                                      \
    static int alternating_##member(struct fs_layer *layer, FS_PARAMETERS(params)) {                                   \
        struct fs_layer *next = next_way(layer);                                                                       \
        return next->ops->member(next, FS_ARGUMENTS(params));                                                          \
    }
FS_OPS(ALTERNATING_OP)

static void forget(struct fs_layer *layer, fs_ino ino, uint64_t count) {
    struct fs_layer *next = ((struct alternating *)layer)->ways[OFF];
    next->ops->forget(next, ino, count);
}

#define ALTERNATING_ROW(NAME, member, params, ...) .member = alternating_##member,
static const struct fs_ops alternating_ops = {FS_OPS(ALTERNATING_ROW).forget = forget};

/* ---- Turns ---- */

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t when_ns) {
    const struct timespec when = {.tv_sec = (time_t)(when_ns / 1000000000U), .tv_nsec = (long)(when_ns % 1000000000U)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
}

/* Off this CPU, where the worker and its callers may be bound to: waking there would take their time. */
static void go_elsewhere(void) {
    cpu_set_t cpus;
    int own = sched_getcpu();
    CPU_ZERO(&cpus);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (cpu != own)
            CPU_SET(cpu, &cpus);
    sched_setaffinity(0, sizeof(cpus), &cpus); /* where there is no other, here */
}

/* Thue and Morse's order: each pair has both, and neither is first more often. It begins anywhere, so that what a
 * workload does at a certain time after mounting falls on both. */
static enum way way_of(const struct alternating *self, unsigned turn) {
    return __builtin_parity(self->seed * 2 + turn) ? OFF : FULL;
}

static void *take_turns(void *argument) {
    struct alternating *self = argument;
    go_elsewhere();
    uint64_t began_ns = now_ns();
    uint64_t due_ns = began_ns;
    uint64_t calls_before[WAYS] = {0};
    bool is_last = false;
    while (!is_last && self->turn_count < TURNS_MAX) {
        struct turn *turn = &self->turns[self->turn_count++];
        due_ns += TURN_NS;
        sleep_until(due_ns);
        uint64_t ended_ns = now_ns();
        is_last = __atomic_load_n(&self->is_over, __ATOMIC_ACQUIRE);
        *turn = (struct turn){.way = self->way, .length_ns = ended_ns - began_ns};
        for (unsigned way = 0; way < WAYS; way++) {
            uint64_t calls = __atomic_load_n(&self->calls[way], __ATOMIC_RELAXED);
            turn->calls[way] = calls - calls_before[way];
            calls_before[way] = calls;
        }
        began_ns = ended_ns;
        __atomic_store_n(&self->way, way_of(self, self->turn_count), __ATOMIC_RELAXED);
    }
    return NULL;
}

static void tell(void) {
    struct alternating *self = &alternating;
    FILE *file = fopen(getenv("ALTERNATING_OSPROFFS"), "w");
    __atomic_store_n(&self->is_over, true, __ATOMIC_RELEASE);
    pthread_join(self->thread, NULL);
    for (unsigned index = 0; file && index < self->turn_count; index++) {
        const struct turn *turn = &self->turns[index];
        fprintf(file, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", turn->way == FULL ? "full" : "off", turn->calls[FULL],
                turn->calls[OFF], turn->length_ns);
    }
    if (!file || fclose(file) != 0)
        perror("alternating_osproffs: ALTERNATING_OSPROFFS");
}

static _Noreturn void refuse(const char *why) {
    fprintf(stderr, "alternating_osproffs: %s\n", why);
    exit(2);
}

/* Asked for once, while the daemon is set up. */
void __wrap_ctl_init(struct ctl *ctl, const struct ctl_options *options, struct fs_layer *next) {
    struct alternating *self = &alternating;
    if (!getenv("ALTERNATING_OSPROFFS"))
        refuse("ALTERNATING_OSPROFFS must name a file for what is measured");
    if (!next->next)
        refuse("there is nothing to leave out (timing=off)");
    self->layer.ops = &alternating_ops;
    self->ways[FULL] = next;
    self->ways[OFF] = next->next;
    self->seed = (unsigned)now_ns() % TURNS_MAX;
    self->way = way_of(self, 0);
    self->turns = calloc(TURNS_MAX, sizeof(*self->turns));
    if (!self->turns || pthread_create(&self->thread, NULL, take_turns, self) != 0)
        refuse("no memory");
    atexit(tell);
    __real_ctl_init(ctl, options, &self->layer);
}
