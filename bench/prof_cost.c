/* What the prof layer costs per operation: getattr through the layer above a null layer that does nothing, in the
 * variants of thesis §6.2 (no layer, an extra call, two clock reads, everything). Warm: in a loop, and what "off" takes
 * is the loop and the null layer themselves. Cold: one op after so much other memory was touched that the counters have
 * left the nearer caches, as between two requests; what "off" takes is mostly the reading of the clock. And what it
 * costs to relate latencies to a value, to count calls by caller, and if getattr fails (failed), or it is a read of
 * bytes instead (read; without the profiler: read-off).
 *
 * usage: prof_cost                cycles per op of all variants, and how much memory the counters take
 *        prof_cost VARIANT N      runs that variant N times and prints nothing. VARIANT: off, call, tsc, full, failed,
 *                                 read-off, read, joint-error, joint-blocked, joint-cpu, slow, events, read-events,
 *                                 by-uid, by-process, by-file, by-three, by-run
 *
 * For instructions per op, of which the "Collected" figure is divided by N:
 *     valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=run_ops prof_cost full 1000003
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "aggstats/slow.h"
#include "partial_ops.h"
#include "prof.h"

#define ROUNDS 1009
#define OPS_PER_ROUND 10007
#define COLD_ROUNDS 257
#define OTHER_BYTES (16U << 20)
#define CACHE_LINE_BYTES 64U

struct variant {
    const char *name;
    const struct fs_ops *part; /* of the profiler; NULL: all of it */
    unsigned joint;            /* values with which the op's latencies are correlated */
    unsigned groupings;        /* as bits */
    bool is_off;               /* no prof layer */
    bool is_read;
    bool is_failing;
    bool is_slow;   /* slow calls are watched for; there are none */
    bool is_events; /* events are recorded, in memory */
};

static const struct variant variants[] = {
    {.name = "off", .is_off = true},
    {.name = "call", .part = &partial_call_ops},
    {.name = "tsc", .part = &partial_tsc_ops},
    {.name = "full"},
    {.name = "failed", .is_failing = true},
    {.name = "read-off", .is_off = true, .is_read = true},
    {.name = "read", .is_read = true},
    {.name = "joint-error", .joint = 1U << AGGSTATS_ERROR},
    {.name = "joint-blocked", .joint = 1U << AGGSTATS_BLOCKED},
    {.name = "joint-cpu", .joint = 1U << AGGSTATS_CPU},
    {.name = "slow", .is_slow = true},
    {.name = "events", .is_events = true},
    {.name = "read-events", .is_read = true, .is_events = true},
    {.name = "by-uid", .groupings = 1U << AGGSTATS_BY_UID},
    {.name = "by-process", .groupings = 1U << AGGSTATS_BY_PROCESS},
    {.name = "by-file", .groupings = 1U << AGGSTATS_BY_FILE},
    {.name = "by-three", .groupings = 1U << AGGSTATS_BY_PROCESS | 1U << AGGSTATS_BY_PROGRAM | 1U << AGGSTATS_BY_UID},
    {.name = "by-run", /* as osprof run sets it */
     .groupings = 1U << AGGSTATS_BY_FILE | 1U << AGGSTATS_BY_DIRECTORY | 1U << AGGSTATS_BY_PROGRAM},
};
#define VARIANT_COUNT (sizeof(variants) / sizeof(variants[0]))

static int null_getattr(struct fs_layer *layer, FS_CALL, fs_file file, struct stat *ret_attr) {
    (void)layer, (void)caller, (void)ino, (void)file, (void)ret_attr;
    return 0;
}

static int failing_getattr(struct fs_layer *layer, FS_CALL, fs_file file, struct stat *ret_attr) {
    (void)layer, (void)caller, (void)ino, (void)file, (void)ret_attr;
    return -ENOENT;
}

static int null_read(struct fs_layer *layer, FS_CALL, fs_file file, struct fs_read_into *into, size_t size_bytes,
                     off_t offset, size_t *ret_read_bytes) {
    (void)layer, (void)caller, (void)ino, (void)file, (void)into, (void)size_bytes, (void)offset;
    *ret_read_bytes = 100;
    return 0;
}

static const struct fs_ops null_ops = {.getattr = null_getattr, .read = null_read};
static const struct fs_ops failing_ops = {.getattr = failing_getattr, .read = null_read};

/* The stack of one variant. */
struct stack {
    struct aggstats_recorder *recorder;
    struct fs_layer null_layer;
    struct prof prof;
    struct fs_layer *top;
    struct events_recorder *events; /* NULL: none */
};

static bool identify(void *unused, uint32_t caller, struct aggstats_identity *ret_identity) {
    (void)unused;
    *ret_identity = (struct aggstats_identity){.id = caller, .name = "program"};
    return true;
}

static bool name_file(void *unused, uint64_t object, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]) {
    (void)unused, (void)may_wait;
    snprintf(ret_name, AGGSTATS_GROUP_NAME_SIZE, "/%" PRIu64, object);
    return true;
}

static uint64_t directory_of(void *unused, uint64_t object) {
    (void)unused;
    return object / 16 + 1;
}

static struct aggstats_recorder *create_recorder(unsigned groupings) {
    struct aggstats_recorder *recorder;
    struct aggstats_recorder_options options = {.op_names = fs_op_names, .op_count = FS_OP_COUNT, .resolution = 1};
    int err = aggstats_recorder_create(&options, &recorder);
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS && err == 0; grouping++) {
        bool has_objects = aggstats_grouping_has_objects((enum aggstats_grouping)grouping);
        bool asks = grouping != AGGSTATS_BY_UID && !has_objects;
        const struct aggstats_grouping_options wanted = {.grouping = (enum aggstats_grouping)grouping,
                                                         .identify = asks ? identify : NULL,
                                                         .identify_first = asks ? identify : NULL,
                                                         .name_object = has_objects ? name_file : NULL,
                                                         .place_of =
                                                             grouping == AGGSTATS_BY_DIRECTORY ? directory_of : NULL};
        if (groupings & 1U << grouping)
            err = aggstats_recorder_group(recorder, &wanted);
    }
    if (err == 0)
        return recorder;
    fprintf(stderr, "prof_cost: cannot create a recorder: %s\n", strerror(-err));
    exit(EXIT_FAILURE);
}

static void stack_finish(struct stack *stack) {
    if (stack->events) {
        prof_set_events(&stack->prof, NULL);
        events_recorder_stop(stack->events);
        events_recorder_destroy(stack->events);
    }
    aggstats_recorder_destroy(stack->recorder);
}

static bool find_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait) {
    (void)context, (void)look, (void)ret_wait;
    return false;
}

static void look_for_slow_calls(struct stack *stack) {
    const struct aggstats_slow_options wanted = {.threshold_ns = 10000000, .find_cause = find_cause};
    if (aggstats_recorder_set_slow(stack->recorder, &wanted) < 0) {
        fprintf(stderr, "prof_cost: cannot look for slow calls\n");
        exit(EXIT_FAILURE);
    }
    prof_set_slow(&stack->prof);
}

static void record_events(struct stack *stack) {
    const struct events_source source = {
        .recorder = stack->recorder, .ops = fs_op_events, .op_count = FS_OP_COUNT, .resolution = 1, .version = "bench"};
    const struct events_wanted wanted = {.fd = -1, .ring_bytes = 64U << 20};
    if (events_recorder_create(&source, &stack->events) < 0 || events_recorder_start(stack->events, &wanted) < 0) {
        fprintf(stderr, "prof_cost: cannot record events\n");
        exit(EXIT_FAILURE);
    }
    prof_set_events(&stack->prof, stack->events);
}

static void stack_init(struct stack *stack, const struct variant *variant) {
    stack->events = NULL;
    stack->recorder = create_recorder(variant->groupings);
    stack->null_layer = (struct fs_layer){.ops = variant->is_failing ? &failing_ops : &null_ops};
    stack->top = &stack->null_layer;
    if (variant->is_off)
        return;
    prof_init(&stack->prof, stack->recorder, &stack->null_layer);
    if (variant->part)
        stack->prof.layer.ops = variant->part;
    if (variant->joint && prof_set_joint(&stack->prof, FS_OP_GETATTR, variant->joint) < 0) {
        fprintf(stderr, "prof_cost: no memory for %s\n", variant->name);
        exit(EXIT_FAILURE);
    }
    if (variant->groupings != 0)
        prof_set_grouped(&stack->prof, true);
    if (variant->is_slow)
        look_for_slow_calls(stack);
    if (variant->is_events)
        record_events(stack);
    stack->top = &stack->prof.layer;
}

/* Not inlined, and visible, so that valgrind can count inside it. */
__attribute__((noinline)) void run_ops(struct fs_layer *top, uint64_t count, bool is_read);
__attribute__((noinline)) void run_ops(struct fs_layer *top, uint64_t count, bool is_read) {
    const struct fs_caller caller = {.pid = 4711};
    struct fs_read_into into = {.pipe_fd = -1};
    size_t read_bytes;
    struct stat attr;
    for (uint64_t i = 0; i < count && is_read; i++)
        top->ops->read(top, &caller, FS_ROOT_INO + i, FS_NO_FILE, &into, 4096, 0, &read_bytes);
    for (uint64_t i = 0; i < count && !is_read; i++)
        top->ops->getattr(top, &caller, FS_ROOT_INO + i, FS_NO_FILE, &attr);
}

static int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static void print_row(const char *state, const struct variant *variant, double *cycles, size_t count) {
    qsort(cycles, count, sizeof(cycles[0]), compare_doubles);
    printf("%s %-13s median %6.1f cycles per op  (5 %% %.1f, 95 %% %.1f)\n", state, variant->name, cycles[count / 2],
           cycles[count / 20], cycles[count - 1 - count / 20]);
}

static void measure_warm(const struct variant *variant) {
    static double cycles[ROUNDS];
    struct stack stack;
    stack_init(&stack, variant);
    uint32_t clock_kind = aggstats_recorder_clock(stack.recorder).kind;
    run_ops(stack.top, OPS_PER_ROUND, variant->is_read); /* warms up */
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start_cycles = aggstats_clock_now(clock_kind);
        run_ops(stack.top, OPS_PER_ROUND, variant->is_read);
        cycles[round] = (double)(aggstats_clock_now(clock_kind) - start_cycles) / OPS_PER_ROUND;
    }
    print_row("warm", variant, cycles, ROUNDS);
    stack_finish(&stack);
}

static void touch_other_memory(void) {
    static volatile unsigned char other[OTHER_BYTES];
    for (size_t i = 0; i < OTHER_BYTES; i += CACHE_LINE_BYTES)
        other[i]++;
}

static void measure_cold(const struct variant *variant) {
    static double cycles[COLD_ROUNDS];
    struct stack stack;
    stack_init(&stack, variant);
    uint32_t clock_kind = aggstats_recorder_clock(stack.recorder).kind;
    for (int round = 0; round < COLD_ROUNDS; round++) {
        touch_other_memory();
        uint64_t start_cycles = aggstats_clock_now(clock_kind);
        run_ops(stack.top, 1, variant->is_read);
        cycles[round] = (double)(aggstats_clock_now(clock_kind) - start_cycles);
    }
    print_row("cold", variant, cycles, COLD_ROUNDS);
    stack_finish(&stack);
}

static void measure_all(void) {
    struct aggstats_recorder *recorder = create_recorder(0);
    struct aggstats_clock clock = aggstats_recorder_clock(recorder);
    size_t op_bytes = aggstats_hot(recorder)->counters_stride_bytes;
    printf("clock %s, %.3f GHz\n", aggstats_clock_name(clock.kind), (double)clock.frequency_hz / 1e9);
    for (size_t i = 0; i < VARIANT_COUNT; i++)
        measure_warm(&variants[i]);
    for (size_t i = 0; i < VARIANT_COUNT; i++)
        measure_cold(&variants[i]);
    printf("counters: %zu bytes per op, %zu bytes per thread (%d ops)\n", op_bytes,
           sizeof(struct aggstats_block) + (size_t)FS_OP_COUNT * op_bytes, (int)FS_OP_COUNT);
    aggstats_recorder_destroy(recorder);
}

/* Returns false if there is no such variant, or the number is wrong. */
static bool run_named(const char *name, const char *count_text) {
    uint64_t count = strtoull(count_text, NULL, 10);
    for (size_t i = 0; i < VARIANT_COUNT && count > 0; i++) {
        if (strcmp(variants[i].name, name) == 0) {
            struct stack stack;
            stack_init(&stack, &variants[i]);
            run_ops(stack.top, count, variants[i].is_read);
            stack_finish(&stack);
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv) {
    if (argc == 1) {
        measure_all();
        return 0;
    }
    if (argc == 3 && run_named(argv[1], argv[2]))
        return 0;
    fprintf(stderr, "usage: prof_cost [off|call|tsc|full N]\n");
    return 2;
}
