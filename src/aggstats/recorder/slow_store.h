/* Private: slow calls and their causes, in the live file.
 *
 * One thread at a time changes it, and others may read it meanwhile, also in other processes: the sequence is odd
 * during a change, and different afterwards. All memory is bounded: if an op has more causes than fit, one entry stands
 * for the rest. */
#ifndef SLOW_STORE_H
#define SLOW_STORE_H

#include "aggstats.h"
#include "aggstats/fields.h"
#include "aggstats/slow.h"
#include "tally.h"

#define SLOW_CAUSES_MAX 128
#define SLOW_CALLS_MAX 32
#define SLOW_WAITS_MAX 64
#define SLOW_PATH_SIZE 256
#define SLOW_CALLERS_MAX 128
#define SLOW_BUCKETS_MAX 40 /* that calls of one op and cause fall in; at resolution 1 no call is slow for 2^40 ms */

struct slow_cause {
    uint64_t op;
    struct aggstats_why why;
    uint64_t calls;
    uint64_t total_cycles;
    uint64_t longest_cycles;
    uint64_t bucket_count;                /* of the next two, unordered */
    uint16_t buckets[SLOW_BUCKETS_MAX];   /* their numbers */
    uint64_t in_bucket[SLOW_BUCKETS_MAX]; /* calls; those in buckets that do not fit are lost */
};

/* "": unknown */
struct slow_texts {
    char path[SLOW_PATH_SIZE];       /* of the object */
    char stack[AGGSTATS_STACK_SIZE]; /* when the cause was last seen */
    char chain[CHAIN_TEXT_SIZE];     /* of the cause (chain_encode()) */
};

struct slow_call {
    uint64_t op;
    struct aggstats_call call; /* without its operation and its pointers, which readers set */
    struct slow_texts texts;
    char user_stack[AGGSTATS_STACK_SIZE];
};

/* What a call in flight waits for. */
struct slow_wait {
    uint64_t start_cycles; /* of the call; 0: this place is free */
    struct aggstats_why cause;
    struct slow_texts texts;
};

/* A function of a program, and how many slow calls it has made. */
struct slow_caller {
    uint64_t op;
    char program[AGGSTATS_PROGRAM_SIZE];
    char function[AGGSTATS_FUNCTION_SIZE];
    uint64_t calls;
};

struct slow_store {
    uint64_t sequence;         /* atomic */
    uint64_t threshold_cycles; /* atomic; 0: nothing is slow */
    uint64_t cause_count;
    uint64_t call_count; /* since the last reset; the last SLOW_CALLS_MAX are kept, number i in i % SLOW_CALLS_MAX */
    struct slow_cause causes[SLOW_CAUSES_MAX + AGGSTATS_OPS_MAX]; /* behind the first: one of each op, for all others */
    struct slow_call calls[SLOW_CALLS_MAX];
    struct slow_wait waits[SLOW_WAITS_MAX];
    uint64_t caller_count;
    struct slow_caller callers[SLOW_CALLERS_MAX + AGGSTATS_OPS_MAX]; /* as causes */
};

/* Call them around each change. */
static inline void slow_store_begin(struct slow_store *store) {
    __atomic_store_n(&store->sequence, store->sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void slow_store_end(struct slow_store *store) {
    __atomic_store_n(&store->sequence, store->sequence + 1, __ATOMIC_RELEASE);
}

/* A part of a call's latency. */
struct slow_part {
    struct aggstats_why cause;
    char stack[AGGSTATS_STACK_SIZE]; /* when it was last seen */
    char chain[CHAIN_TEXT_SIZE];     /* the last one found, with a holder if any had one; "": none */
    bool has_holder;                 /* the chain has one, or is of a cause that has none */
    bool lacks_holder;               /* the last look for a holder should have found one, and did not */
    uint64_t holder_age_cycles;      /* of the call at that look; 0: there was none */
    uint64_t cycles;
};

/* Adds a call that has ended. Its latency is the sum of its parts, of which there is at least one. bucket: of its
 * latency; function: of the program that made it, "": not wanted.
 * Returns the stored call with its cause, valid until the next change */
const struct slow_call *slow_store_add(struct slow_store *store, const struct slow_call *call, unsigned bucket,
                                       const struct slow_part *parts, size_t part_count, const char *function);

/* Forgets the calls so far; waits of calls in flight stay. */
void slow_store_reset(struct slow_store *store);

/* Subtracts the slow calls that a profile shows. */
void slow_store_take(struct slow_store *store, const char (*op_names)[AGGSTATS_NAME_SIZE], unsigned op_count,
                     const struct aggstats_profile *profile);

/* Puts them into a profile. tally: has the profile's calls in flight, in their order, if it has any.
 * Errors:  -ENOMEM, -EBADMSG no recorder has written that */
int slow_store_show(const struct slow_store *store, const char (*op_names)[AGGSTATS_NAME_SIZE],
                    const struct tally *tally, struct aggstats_profile *profile);

/* A call as in profiles. ret_chain: of it, if it has one
 * Errors: -EBADMSG no recorder has written that
 * Owner:  the caller keeps *call and *ret_chain as long */
int slow_store_show_call(const struct slow_call *call, const char (*op_names)[AGGSTATS_NAME_SIZE], unsigned op_count,
                         struct aggstats_chain *ret_chain, struct aggstats_call *ret_shown);

#endif
