/* Summing blocks that are being written. The order of the loads carries the invariant calls >= sum(buckets) >=
 * failures: a thread counts the call first, then its bucket, and its failure last, so here failures come first, then
 * buckets, and calls last. A total may already hold a latency whose bucket was not yet seen. */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

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
    *tally = (struct tally){0};
}

/* ---- Reading a block that counts ---- */

#define READ_ATTEMPTS_MAX 16

static void read_counters(const struct aggstats_counters *counters, unsigned word_count,
                          struct aggstats_counters *ret_copy) {
    for (unsigned word = word_count; word-- > 0;) /* from behind: what is beside the buckets before these */
        ret_copy->buckets[word] = __atomic_load_n(&counters->buckets[word], __ATOMIC_ACQUIRE);
    ret_copy->total_cycles = __atomic_load_n(&counters->total_cycles, __ATOMIC_RELAXED);
    ret_copy->calls = __atomic_load_n(&counters->calls, __ATOMIC_ACQUIRE);
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
    uint64_t open_calls[AGGSTATS_OPS_MAX]; /* begun and not ended, as far as the copy knows */
    bool is_still[AGGSTATS_OPS_MAX];       /* two readings were the same: nothing happens, they are really open */
};

static void read_op(struct reading *reading, unsigned op) {
    const struct layout *layout = reading->layout;
    struct aggstats_counters *copy = layout_counters(layout, reading->copy->counters, op);
    read_counters(layout_counters_const(layout, reading->block->counters, op), layout_word_count(layout), copy);
    reading->open_calls[op] = unfinished(copy, layout_bucket_count(layout));
}

static void read_op_again(struct reading *reading, unsigned op) {
    const struct aggstats_counters *copy = layout_counters(reading->layout, reading->copy->counters, op);
    uint64_t calls = copy->calls;
    uint64_t open_calls = reading->open_calls[op];
    read_op(reading, op);
    reading->is_still[op] = copy->calls == calls && reading->open_calls[op] == open_calls;
}

/* How many open calls the block's name for the call in flight accounts for. */
static uint64_t named_calls(const struct aggstats_block *copy, unsigned op) {
    return copy->current_op == (uint64_t)op + 1 ? 1 : 0;
}

/* Reads again the ops that show more open calls than are named. Returns false if there are none. */
static bool read_disagreeing(struct reading *reading) {
    bool any = false;
    for (unsigned op = 0; op < reading->layout->op_count; op++) {
        if (reading->open_calls[op] > named_calls(reading->copy, op) && !reading->is_still[op]) {
            read_op_again(reading, op);
            any = true;
        }
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

void tally_read_block(const struct layout *layout, const struct aggstats_block *block,
                      struct aggstats_block *ret_copy) {
    struct reading reading = {.layout = layout, .block = block, .copy = ret_copy};
    for (unsigned op = 0; op < layout->op_count; op++)
        read_op(&reading, op);
    read_current(block, ret_copy);
    for (int attempt = 0; attempt < READ_ATTEMPTS_MAX && read_disagreeing(&reading); attempt++)
        read_current(block, ret_copy);
    for (unsigned op = 0; op < layout->op_count; op++)
        tally_settle_op(layout, ret_copy, op, reading.is_still[op]);
}

/* ---- Summing ---- */

/* True if it overflows. */
static bool add_to(uint64_t *sum, uint64_t value) {
    return __builtin_add_overflow(*sum, value, sum);
}

/* Bytes are counted modulo 2^64: whoever asks for as many must not make a profile impossible. True on overflow of a
 * number of failures. */
static bool add_beside(uint64_t *sum, const uint64_t *beside) {
    bool overflow = false;
    for (unsigned i = 0; i < AGGSTATS_BESIDE; i++) {
        bool wraps = add_to(&sum[i], __atomic_load_n(&beside[i], __ATOMIC_RELAXED));
        overflow |= wraps && i >= AGGSTATS_FAILED;
    }
    return overflow;
}

/* Adds one op of one block. shared: see tally_add_shared_block(). */
static int add_counters(struct aggstats_counters *sum, const struct aggstats_counters *counters, unsigned bucket_count,
                        bool shared) {
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
    return overflow || calls < finished ? -EBADMSG : 0;
}

static int add_block(struct tally *tally, const struct aggstats_block *block, bool shared) {
    const struct layout *layout = &tally->layout;
    for (unsigned op = 0; op < layout->op_count; op++) {
        int err = add_counters(layout_counters(layout, tally->table, op),
                               layout_counters_const(layout, block->counters, op), layout_bucket_count(layout), shared);
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

/* A call that ends, or another that begins, while its fields are being read would give a mixture. Reading
 * op and start once more, after the rest, shows that: no two calls of a thread start at the same time. */
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

void tally_settle(struct tally *tally) {
    const struct layout *layout = &tally->layout;
    for (unsigned op = 0; op < layout->op_count; op++) {
        struct aggstats_counters *counters = layout_counters(layout, tally->table, op);
        counters->calls = 0;
        for (unsigned bucket = 0; bucket < layout_bucket_count(layout); bucket++)
            counters->calls += counters->buckets[bucket];
    }
}
