/* Summing blocks that are being written. The order of the loads preserves the invariant calls >= sum(buckets) >=
 * failures: a thread counts the call first, then its bucket, and its failure last. So here failures are read first,
 * then buckets, and calls last. A total may already include a latency whose bucket was not yet read. The longest call
 * is raised before its bucket is counted, so it is read after the buckets. */
#include "tally.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggstats/numbered.h"
#include "base.h"

int tally_init(struct tally *tally, const struct layout *layout) {
    void *table = calloc(layout->op_count, layout->counters_stride_bytes);
    if (!table)
        return -ENOMEM;
    *tally = (struct tally){.layout = *layout, .table = table};
    return 0;
}

void tally_finish(struct tally *tally) {
    free(tally->table);
    free(tally->in_flight);
    free(tally->numbered);
    *tally = (struct tally){0};
}

/* ---- Reading a block that counts ---- */

#define READ_ATTEMPTS_MAX 16
#define BETWEEN_CALLS_ATTEMPTS_MAX 2000 /* a third of a second */
#define YIELDS_MAX 100

static void read_counters(const struct layout *layout, const struct aggstats_counters *counters,
                          struct aggstats_counters *ret_copy) {
    for (unsigned word = layout_word_count(layout);
         word-- > 0;) /* backwards: the counters beside the buckets come first */
        ret_copy->buckets[word] = __atomic_load_n(&counters->buckets[word], __ATOMIC_ACQUIRE);
    ret_copy->total_cycles = __atomic_load_n(&counters->total_cycles, __ATOMIC_ACQUIRE);
    ret_copy->calls = __atomic_load_n(&counters->calls, __ATOMIC_ACQUIRE);
    longest_put(ret_copy, layout->resolution, longest_read(counters, layout->resolution));
}

static void read_current(const struct aggstats_block *block, struct aggstats_block *ret_copy) {
    ret_copy->current_op = __atomic_load_n(&block->current_op, __ATOMIC_ACQUIRE);
    ret_copy->current_start_cycles = __atomic_load_n(&block->current_start_cycles, __ATOMIC_ACQUIRE);
    ret_copy->current_object = __atomic_load_n(&block->current_object, __ATOMIC_RELAXED);
    ret_copy->current_pid = __atomic_load_n(&block->current_pid, __ATOMIC_RELAXED);
    ret_copy->clamped = __atomic_load_n(&block->clamped, __ATOMIC_RELAXED);
}

static uint64_t unfinished(const struct aggstats_counters *counters, unsigned bucket_count) {
    uint64_t calls = counters->calls;
    for (unsigned bucket = 0; bucket < bucket_count; bucket++)
        calls -= counters->buckets[bucket];
    return calls;
}

/* One reading of a block, op by op. */
struct reading {
    const struct layout *layout;
    const struct aggstats_block *block;
    struct aggstats_block *copy;
    struct aggstats_block *takes_from;      /* the block, if its longest calls are to be reset; or NULL */
    struct longest taken[AGGSTATS_OPS_MAX]; /* those taken so far */
    uint64_t open_calls[AGGSTATS_OPS_MAX];  /* begun and not ended, according to the copy */
    bool is_whole[AGGSTATS_OPS_MAX];        /* no numbered call has ended while the op was read */
    bool is_still[AGGSTATS_OPS_MAX];        /* two readings were the same: nothing happens, the calls are really open */
};

/* In place of counters that an op does not have. */
static const uint64_t
    no_calls[(unsigned)(sizeof(struct aggstats_counters) / sizeof(uint64_t)) + AGGSTATS_BUCKETS_MAX + AGGSTATS_BESIDE];

static const struct aggstats_counters *counters_of(const struct reading *reading, unsigned op) {
    const struct aggstats_counters *counters =
        layout_block_counters(reading->layout, (struct aggstats_block *)(uintptr_t)reading->block, op);
    return counters ? counters : (const struct aggstats_counters *)(const void *)no_calls;
}

/* True if the longest call is one of those in the buckets, or there is none. A call may be just between the two. */
static bool longest_is_counted(const struct layout *layout, const struct aggstats_counters *counters) {
    unsigned bucket = aggstats_bucket_of(counters->longest_cycles, layout->resolution);
    return counters->longest_cycles == 0 || counters->buckets[aggstats_slot(bucket, layout->resolution)] > 0;
}

static void read_shown(struct reading *reading, unsigned op) {
    const struct layout *layout = reading->layout;
    struct aggstats_counters *copy = layout_counters(layout, reading->copy->counters, op);
    int attempt = 0;
    do
        read_counters(layout, counters_of(reading, op), copy);
    while (!longest_is_counted(layout, copy) && ++attempt < READ_ATTEMPTS_MAX);
}

/* Repeats if a call has ended between the two readings: it would be in the buckets of neither side of the border. */
static void read_and_take(struct reading *reading, unsigned op) {
    const struct layout *layout = reading->layout;
    const size_t counts_bytes = layout_bucket_count(layout) * sizeof(uint64_t);
    struct aggstats_counters *copy = layout_counters(layout, reading->copy->counters, op);
    struct aggstats_counters *counters = layout_block_counters(layout, reading->takes_from, op);
    uint64_t before[AGGSTATS_BUCKETS_MAX];
    int attempt = 0;
    read_shown(reading, op);
    if (!counters)
        return;
    do {
        memcpy(before, copy->buckets, counts_bytes);
        longest_raise(&reading->taken[op], longest_take(counters, layout->resolution));
        read_counters(layout, counters, copy);
    } while (memcmp(before, copy->buckets, counts_bytes) != 0 && ++attempt < READ_ATTEMPTS_MAX);
    longest_put(copy, layout->resolution, reading->taken[op]);
}

static void read_op(struct reading *reading, unsigned op) {
    const struct layout *layout = reading->layout;
    const struct aggstats_counters *copy = layout_counters(layout, reading->copy->counters, op);
    if (reading->takes_from)
        read_and_take(reading, op);
    else
        read_shown(reading, op);
    reading->open_calls[op] = unfinished(copy, layout_bucket_count(layout));
}

/* The number of open calls explained by the block's name for its call in flight. */
static uint64_t named_calls(const struct aggstats_block *copy, unsigned op) {
    return copy->current_op == (uint64_t)op + 1 ? 1 : 0;
}

/* Reads again the ops that have more open calls than named ones. Returns false if there are none. */
static bool read_disagreeing(struct reading *reading) {
    bool any = false;
    for (unsigned op = 0; op < reading->layout->op_count; op++) {
        const struct aggstats_counters *copy = layout_counters(reading->layout, reading->copy->counters, op);
        const uint64_t calls = copy->calls;
        const uint64_t open_calls = reading->open_calls[op];
        if (open_calls <= named_calls(reading->copy, op) || reading->is_still[op])
            continue;
        read_op(reading, op);
        reading->is_still[op] = copy->calls == calls && reading->open_calls[op] == open_calls;
        any = true;
    }
    return any;
}

void tally_settle_op(const struct layout *layout, struct aggstats_block *copy, unsigned op, bool is_still) {
    struct aggstats_counters *counters = layout_counters(layout, copy->counters, op);
    uint64_t open_calls = unfinished(counters, layout_bucket_count(layout));
    uint64_t named = named_calls(copy, op);
    if (open_calls > named && !is_still)
        counters->calls -= open_calls - named;
    if (named > 0 && open_calls == 0)
        copy->current_op = 0;
}

static void read_block(struct reading *reading) {
    const struct layout *layout = reading->layout;
    for (unsigned op = 0; op < layout->op_count; op++)
        read_op(reading, op);
    read_current(reading->block, reading->copy);
    for (int attempt = 0; attempt < READ_ATTEMPTS_MAX && read_disagreeing(reading); attempt++)
        read_current(reading->block, reading->copy);
    for (unsigned op = 0; op < layout->op_count; op++)
        tally_settle_op(layout, reading->copy, op, reading->is_still[op]);
}

void tally_read_block(const struct layout *layout, const struct aggstats_block *block,
                      struct aggstats_block *ret_copy) {
    struct reading reading = {.layout = layout, .block = block, .copy = ret_copy};
    read_block(&reading);
}

/* ---- Between numbered calls ---- */

/* The thread may have lost its CPU there, and be of the idle class. */
static void wait_for_call_end(int attempt) {
    const struct timespec pause = {.tv_nsec = 100000};
    if (attempt < YIELDS_MAX)
        sched_yield();
    else
        nanosleep(&pause, NULL);
}

static uint64_t turns_of(const struct reading *reading) {
    return __atomic_load_n(&reading->block->turns, __ATOMIC_ACQUIRE);
}

/* Returns false if nothing that was read can have changed, since no call was open and none has begun. */
static bool may_have_changed(const struct reading *reading, unsigned op) {
    const struct aggstats_counters *counters = counters_of(reading, op);
    const struct aggstats_counters *copy = layout_counters_const(reading->layout, reading->copy->counters, op);
    return !reading->is_whole[op] || reading->open_calls[op] != 0 ||
           __atomic_load_n(&counters->calls, __ATOMIC_ACQUIRE) != copy->calls;
}

/* Reads all ops, then again those that have changed meanwhile, which takes less time than a call. */
static void read_between_calls(struct reading *reading, struct aggstats_numbered *ret_numbered) {
    bool is_exact = false;
    uint64_t turns = 0;
    for (int attempt = 0; attempt < BETWEEN_CALLS_ATTEMPTS_MAX && !is_exact; attempt++) {
        turns = turns_of(reading);
        for (unsigned op = 0; op < reading->layout->op_count; op++) {
            if (!may_have_changed(reading, op))
                continue;
            const uint64_t before = turns_of(reading);
            read_op(reading, op);
            reading->is_whole[op] = before % 2 == 0 && turns_of(reading) == before;
        }
        is_exact = turns % 2 == 0 && turns_of(reading) == turns;
        if (turns % 2 != 0)
            wait_for_call_end(attempt);
    }
    read_current(reading->block, reading->copy);
    for (unsigned op = 0; op < reading->layout->op_count; op++)
        tally_settle_op(reading->layout, reading->copy, op, false);
    *ret_numbered = (struct aggstats_numbered){.block = reading->block, .count = turns / 2, .is_inexact = !is_exact};
}

void tally_take_block(const struct layout *layout, struct aggstats_block *block, struct aggstats_block *ret_copy,
                      struct aggstats_numbered *ret_numbered) {
    struct reading reading = {.layout = layout, .block = block, .copy = ret_copy, .takes_from = block};
    *ret_numbered = (struct aggstats_numbered){.block = block};
    if (turns_of(&reading) == 0)
        read_block(&reading);
    if (turns_of(&reading) != 0)
        read_between_calls(&reading, ret_numbered);
}

int tally_add_numbered(struct tally *tally, const struct aggstats_numbered *numbered) {
    if (numbered->count == 0)
        return 0;
    struct aggstats_numbered *grown = reallocarray(tally->numbered, tally->numbered_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    tally->numbered = grown;
    tally->numbered[tally->numbered_count++] = *numbered;
    return 0;
}

/* ---- Summing ---- */

/* Returns true on overflow. */
static bool add_to(uint64_t *sum, uint64_t value) {
    return __builtin_add_overflow(*sum, value, sum);
}

/* Bytes are counted modulo 2^64: a caller that asks for so many must not make a profile impossible. Returns true on
 * overflow of a number of failures. */
static bool add_beside(uint64_t *sum, const uint64_t *beside) {
    bool overflow = false;
    for (unsigned i = 0; i < AGGSTATS_LONGEST_OF; i++) {
        bool wraps = add_to(&sum[i], __atomic_load_n(&beside[i], __ATOMIC_RELAXED));
        overflow |= wraps && i >= AGGSTATS_FAILED;
    }
    return overflow;
}

/* Adds one op of one block. shared: see tally_add_shared_block(). */
static int add_counters(struct aggstats_counters *sum, const struct aggstats_counters *counters,
                        const struct layout *layout, bool shared) {
    const unsigned bucket_count = layout_bucket_count(layout);
    uint64_t finished = 0;
    bool overflow = add_beside(&sum->buckets[bucket_count], &counters->buckets[bucket_count]);
    for (unsigned bucket = 0; bucket < bucket_count; bucket++) {
        uint64_t count = __atomic_load_n(&counters->buckets[bucket], __ATOMIC_ACQUIRE);
        overflow |= add_to(&finished, count);
        overflow |= add_to(&sum->buckets[bucket], count);
    }
    overflow |= add_to(&sum->total_cycles, __atomic_load_n(&counters->total_cycles, __ATOMIC_RELAXED));
    uint64_t calls = __atomic_load_n(&counters->calls, __ATOMIC_RELAXED);
    if (shared && calls < finished)
        calls = finished;
    overflow |= add_to(&sum->calls, calls);
    struct longest longest = longest_get(sum, layout->resolution);
    struct longest other = longest_read(counters, layout->resolution);
    if (shared) /* the object may belong to another call */
        other.object = 0;
    longest_raise(&longest, other);
    longest_put(sum, layout->resolution, longest);
    return overflow || calls < finished ? -EBADMSG : 0;
}

/* Most ops of most blocks were not, and there may be thousands of blocks. */
static bool was_called(const struct aggstats_counters *counters) {
    return __atomic_load_n(&counters->calls, __ATOMIC_RELAXED) > 0;
}

bool tally_may_add_block(const struct tally *tally, const struct aggstats_block *block) {
    const struct layout *layout = &tally->layout;
    CLEANUP_FREE struct aggstats_counters *sum = malloc(layout->counters_stride_bytes);
    uint64_t clamped = tally->clamped;
    for (unsigned op = 0; sum && op < layout->op_count; op++) {
        const struct aggstats_counters *counters = layout_counters_const(layout, block->counters, op);
        if (!was_called(counters))
            continue;
        memcpy(sum, layout_counters_const(layout, tally->table, op), layout->counters_stride_bytes);
        if (add_counters(sum, counters, layout, false) < 0)
            return false;
    }
    return sum && !add_to(&clamped, block->clamped);
}

static int add_block(struct tally *tally, const struct aggstats_block *block, bool shared) {
    const struct layout *layout = &tally->layout;
    for (unsigned op = 0; op < layout->op_count; op++) {
        const struct aggstats_counters *counters = layout_counters_const(layout, block->counters, op);
        int err = shared || was_called(counters)
                      ? add_counters(layout_counters(layout, tally->table, op), counters, layout, shared)
                      : 0;
        if (err < 0)
            return err;
    }
    uint64_t last_start_cycles = __atomic_load_n(&block->current_start_cycles, __ATOMIC_RELAXED);
    if (last_start_cycles > tally->last_start_cycles)
        tally->last_start_cycles = last_start_cycles;
    return add_to(&tally->clamped, __atomic_load_n(&block->clamped, __ATOMIC_RELAXED)) ? -EBADMSG : 0;
}

int tally_add_block(struct tally *tally, const struct aggstats_block *block) {
    return add_block(tally, block, false);
}

void tally_add_shared_block(struct tally *tally, const struct aggstats_block *block) {
    add_block(tally, block, true);
}

static bool read_call(const struct aggstats_block *block, unsigned op_count, struct tally_call *ret_call) {
    uint64_t op_number = __atomic_load_n(&block->current_op, __ATOMIC_ACQUIRE);
    if (op_number == 0 || op_number > op_count)
        return false;
    *ret_call = (struct tally_call){
        .op = (unsigned)op_number - 1,
        .start_cycles = __atomic_load_n(&block->current_start_cycles, __ATOMIC_ACQUIRE),
        .object = __atomic_load_n(&block->current_object, __ATOMIC_ACQUIRE),
        .pid = __atomic_load_n(&block->current_pid, __ATOMIC_ACQUIRE),
    };
    return true;
}

/* A call that ends, or begins, while its fields are being read would give a mixture. Reading op and start once more
 * afterwards shows that: no two calls of a thread start at the same time. */
int tally_add_call(struct tally *tally, const struct aggstats_block *block) {
    struct tally_call call;
    struct tally_call again;
    if (!read_call(block, tally->layout.op_count, &call) || !read_call(block, tally->layout.op_count, &again))
        return 0;
    if (again.op != call.op || again.start_cycles != call.start_cycles)
        return 0;
    struct tally_call *grown = reallocarray(tally->in_flight, tally->in_flight_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    tally->in_flight = grown;
    tally->in_flight[tally->in_flight_count++] = call;
    return 0;
}

void tally_settle(struct tally *tally, bool keeps_left) {
    const struct layout *layout = &tally->layout;
    for (unsigned op = 0; op < layout->op_count; op++) {
        struct aggstats_counters *counters = layout_counters(layout, tally->table, op);
        const uint64_t open_calls = unfinished(counters, layout_bucket_count(layout));
        uint64_t named = keeps_left ? 0 : open_calls;
        for (size_t i = 0; i < tally->in_flight_count && keeps_left; i++)
            named += tally->in_flight[i].op == op;
        counters->calls -= open_calls < named ? open_calls : named;
    }
}
