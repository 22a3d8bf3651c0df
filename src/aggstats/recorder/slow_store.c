/* Causes by op, and a ring of slow calls. */
#include "slow_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "profile_owned.h"
#include "profile_slow.h"
#include "text_format.h"

/* ---- Counting ---- */

static struct slow_cause *find_cause(struct slow_store *store, uint64_t op, const struct aggstats_why *why) {
    for (uint64_t i = 0; i < store->cause_count; i++)
        if (store->causes[i].op == op && aggstats_why_is_same(&store->causes[i].why, why))
            return &store->causes[i];
    return NULL;
}

static struct slow_cause *rest_of(struct slow_store *store, uint64_t op) {
    struct slow_cause *other = &store->causes[SLOW_CAUSES_MAX + op];
    other->op = op;
    other->why = other_causes;
    return other;
}

/* The cause if it has been counted; else NULL. */
static struct slow_cause *counted_cause(struct slow_store *store, uint64_t op, const struct aggstats_why *why) {
    struct slow_cause *cause = find_cause(store, op, why);
    return cause || why->kind != AGGSTATS_CAUSE_REST ? cause : rest_of(store, op);
}

static struct slow_cause *cause_of(struct slow_store *store, uint64_t op, const struct aggstats_why *why) {
    struct slow_cause *cause = find_cause(store, op, why);
    if (cause)
        return cause;
    if (store->cause_count == SLOW_CAUSES_MAX)
        return rest_of(store, op);
    cause = &store->causes[store->cause_count++];
    *cause = (struct slow_cause){.op = op, .why = *why};
    return cause;
}

/* Does nothing if the cause has calls in too many other buckets. */
static void count_bucket(struct slow_cause *cause, unsigned bucket) {
    size_t place = 0;
    while (place < cause->bucket_count && cause->buckets[place] != bucket)
        place++;
    if (place == SLOW_BUCKETS_MAX)
        return;
    if (place == cause->bucket_count) {
        cause->bucket_count++;
        cause->buckets[place] = (uint16_t)bucket;
        cause->in_bucket[place] = 0;
    }
    cause->in_bucket[place]++;
}

static struct slow_caller *find_caller(struct slow_store *store, uint64_t op, const char *program,
                                       const char *function) {
    for (uint64_t i = 0; i < store->caller_count; i++)
        if (store->callers[i].op == op && strcmp(store->callers[i].program, program) == 0 &&
            strcmp(store->callers[i].function, function) == 0)
            return &store->callers[i];
    return NULL;
}

/* Callers of an op that find no room share one entry. */
static struct slow_caller *caller_of(struct slow_store *store, const struct slow_call *call, const char *function) {
    const char *program = call->call.program;
    struct slow_caller *caller = find_caller(store, call->op, program, function);
    if (caller)
        return caller;
    const bool has_room = store->caller_count < SLOW_CALLERS_MAX && program[0];
    caller = &store->callers[has_room ? store->caller_count++ : SLOW_CALLERS_MAX + call->op];
    if (has_room) {
        *caller = (struct slow_caller){.calls = 0};
        memcpy(caller->program, program, sizeof(caller->program));
        snprintf(caller->function, sizeof(caller->function), "%s", function);
    }
    caller->op = call->op;
    return caller;
}

const struct slow_call *slow_store_add(struct slow_store *store, const struct slow_call *call, unsigned bucket,
                                       const struct slow_part *parts, size_t part_count, const char *function) {
    const struct slow_part *largest = &parts[0];
    struct slow_call *kept = &store->calls[store->call_count % SLOW_CALLS_MAX];
    for (size_t i = 0; i < part_count; i++) {
        cause_of(store, call->op, &parts[i].cause)->total_cycles += parts[i].cycles;
        if (parts[i].cycles > largest->cycles)
            largest = &parts[i];
    }
    struct slow_cause *cause = cause_of(store, call->op, &largest->cause);
    cause->calls++;
    count_bucket(cause, bucket);
    if (cause->longest_cycles < call->call.latency_cycles)
        cause->longest_cycles = call->call.latency_cycles;
    *kept = *call;
    kept->call.cause = cause->why;
    memcpy(kept->texts.stack, largest->stack, sizeof(kept->texts.stack));
    memcpy(kept->texts.chain, largest->chain, sizeof(kept->texts.chain));
    store->call_count++;
    if (function[0])
        caller_of(store, kept, function)->calls++;
    return kept;
}

void slow_store_reset(struct slow_store *store) {
    store->cause_count = 0;
    store->call_count = 0;
    store->caller_count = 0;
    memset(store->callers, 0, sizeof(store->callers));
    memset(store->causes, 0, sizeof(store->causes));
    memset(store->calls, 0, sizeof(store->calls));
}

static int op_number(const char (*op_names)[AGGSTATS_NAME_SIZE], unsigned op_count, const char *name) {
    for (unsigned op = 0; op < op_count; op++)
        if (strcmp(op_names[op], name) == 0)
            return (int)op;
    return -1;
}

/* What is subtracted was shown, and has only grown since. */
static void take_buckets(struct slow_cause *cause, const uint64_t *taken) {
    size_t kept = 0;
    for (size_t i = 0; taken && i < cause->bucket_count; i++) {
        uint64_t left = cause->in_bucket[i] - taken[cause->buckets[i]];
        cause->buckets[kept] = cause->buckets[i];
        cause->in_bucket[kept] = left;
        kept += left > 0;
    }
    cause->bucket_count = taken ? kept : cause->bucket_count;
}

/* As counted: what is subtracted was shown. */
static void take_callers(struct slow_store *store, const char (*op_names)[AGGSTATS_NAME_SIZE], unsigned op_count,
                         const struct aggstats_profile *profile) {
    uint64_t kept_count = 0;
    for (size_t i = 0; i < profile->caller_count; i++) {
        const struct aggstats_caller *taken = &profile->callers[i];
        const int op = op_number(op_names, op_count, taken->op);
        struct slow_caller *caller = op < 0 ? NULL
                                     : taken->program[0]
                                         ? find_caller(store, (uint64_t)op, taken->program, taken->function)
                                         : &store->callers[SLOW_CALLERS_MAX + op];
        if (caller)
            caller->calls -= taken->calls;
    }
    for (uint64_t i = 0; i < store->caller_count; i++)
        if (store->callers[i].calls > 0)
            store->callers[kept_count++] = store->callers[i];
    store->caller_count = kept_count;
}

void slow_store_take(struct slow_store *store, const char (*op_names)[AGGSTATS_NAME_SIZE], unsigned op_count,
                     const struct aggstats_profile *profile) {
    struct slow_call calls[SLOW_CALLS_MAX];
    uint64_t taken_count = 0;
    uint64_t kept_count = 0;
    for (size_t i = 0; i < profile->cause_count; i++) {
        const struct aggstats_cause *taken = &profile->causes[i];
        const int op = op_number(op_names, op_count, taken->op);
        struct slow_cause *cause = op < 0 ? NULL : counted_cause(store, (uint64_t)op, &taken->why);
        taken_count += taken->calls;
        if (!cause)
            continue;
        cause->calls -= taken->calls;
        cause->total_cycles -= taken->total_cycles;
        cause->longest_cycles = 0;
        take_buckets(cause, taken->buckets);
    }
    uint64_t oldest = store->call_count > SLOW_CALLS_MAX ? store->call_count - SLOW_CALLS_MAX : 0;
    for (uint64_t i = oldest > taken_count ? oldest : taken_count; i < store->call_count; i++)
        calls[kept_count++] = store->calls[i % SLOW_CALLS_MAX];
    memcpy(store->calls, calls, kept_count * sizeof(calls[0]));
    store->call_count = kept_count;
    for (uint64_t i = 0; i < kept_count; i++) { /* the longest among calls that ended since, if it is kept */
        struct slow_cause *cause = counted_cause(store, calls[i].op, &calls[i].call.cause);
        if (cause && cause->longest_cycles < calls[i].call.latency_cycles)
            cause->longest_cycles = calls[i].call.latency_cycles;
    }
    kept_count = 0; /* of causes: empty ones make room for others */
    for (uint64_t i = 0; i < store->cause_count; i++)
        if (store->causes[i].total_cycles > 0 || store->causes[i].calls > 0)
            store->causes[kept_count++] = store->causes[i];
    store->cause_count = kept_count;
    take_callers(store, op_names, op_count, profile);
}

/* ---- Showing ---- */

static bool has_end(const char *text, size_t size_bytes) {
    return memchr(text, '\0', size_bytes);
}

/* A text of the live file, which another program may have written; NULL: unknown. Returns false if it has no end */
static bool show_text(const char *text, size_t size_bytes, char **ret_text) {
    *ret_text = text[0] ? (char *)(uintptr_t)text : NULL;
    return has_end(text, size_bytes);
}

static bool show_texts(const struct slow_texts *texts, struct aggstats_chain *chain, struct aggstats_call *call) {
    if (!show_text(texts->path, sizeof(texts->path), &call->path) ||
        !show_text(texts->stack, sizeof(texts->stack), &call->stack) || !chain_decode(texts->chain, chain))
        return false;
    call->chain = chain->count > 0 ? chain : NULL;
    return true;
}

/* A cause may be unknown. */
static bool show_why(const struct aggstats_why *why, struct aggstats_why *ret_why) {
    *ret_why = why->words[0] ? *why : (struct aggstats_why){.flags = 0};
    return !why->words[0] || aggstats_why_valid(why);
}

/* Returns false if no recorder has written that, or it was killed meanwhile. */
static bool fill_buckets(const struct slow_cause *cause, unsigned bucket_count, uint64_t *buckets) {
    uint64_t calls = 0;
    for (size_t i = 0; i < cause->bucket_count; i++) {
        if (cause->buckets[i] >= bucket_count || buckets[cause->buckets[i]] > 0 ||
            __builtin_add_overflow(calls, cause->in_bucket[i], &calls) || calls > cause->calls)
            return false;
        buckets[cause->buckets[i]] = cause->in_bucket[i];
    }
    return true;
}

/* Errors: -ENOMEM */
static int show_buckets(const struct slow_cause *cause, const struct aggstats_profile *profile,
                        struct aggstats_cause *shown) {
    if (cause->bucket_count == 0 || cause->bucket_count > SLOW_BUCKETS_MAX)
        return 0;
    int err = profile_give_cause_buckets(profile, shown);
    if (err == 0 && !fill_buckets(cause, profile_bucket_count(profile), shown->buckets)) {
        free(shown->buckets);
        shown->buckets = NULL;
    }
    return err;
}

static int show_cause(const struct slow_cause *cause, const char (*op_names)[AGGSTATS_NAME_SIZE], unsigned op_count,
                      struct aggstats_profile *profile) {
    struct aggstats_cause shown = {.why = cause->why,
                                   .calls = cause->calls,
                                   .total_cycles = cause->total_cycles,
                                   .longest_cycles = cause->longest_cycles};
    if (cause->op >= op_count || !aggstats_why_valid(&cause->why))
        return -EBADMSG;
    text_name_copy(shown.op, op_names[cause->op]);
    if (profile_find_cause(profile, shown.op, &shown.why))
        return -EBADMSG;
    int err = show_buckets(cause, profile, &shown);
    if (err == 0)
        err = profile_append_cause(profile, &shown);
    free(shown.buckets);
    return err;
}

static int show_causes(const struct slow_store *store, const char (*op_names)[AGGSTATS_NAME_SIZE], unsigned op_count,
                       struct aggstats_profile *profile) {
    int err = 0;
    for (size_t i = 0; i < ARRAY_SIZE(store->causes) && err == 0; i++) {
        bool is_used = i < store->cause_count || i >= SLOW_CAUSES_MAX;
        if (is_used && store->causes[i].total_cycles > 0)
            err = show_cause(&store->causes[i], op_names, op_count, profile);
    }
    return err;
}

int slow_store_show_call(const struct slow_call *call, const char (*op_names)[AGGSTATS_NAME_SIZE], unsigned op_count,
                         struct aggstats_chain *ret_chain, struct aggstats_call *ret_shown) {
    *ret_shown = call->call;
    ret_shown->is_in_flight = false;
    if (call->op >= op_count || call->call.end_ns < 0 || !show_why(&call->call.cause, &ret_shown->cause) ||
        !has_end(call->call.program, sizeof(call->call.program)) || !show_texts(&call->texts, ret_chain, ret_shown) ||
        !show_text(call->user_stack, sizeof(call->user_stack), &ret_shown->user_stack))
        return -EBADMSG;
    text_name_copy(ret_shown->op, op_names[call->op]);
    return 0;
}

static int show_calls(const struct slow_store *store, const char (*op_names)[AGGSTATS_NAME_SIZE], unsigned op_count,
                      struct aggstats_profile *profile) {
    uint64_t count = store->call_count < SLOW_CALLS_MAX ? store->call_count : SLOW_CALLS_MAX;
    int err = 0;
    for (uint64_t i = store->call_count - count; i < store->call_count && err == 0; i++) {
        struct aggstats_chain chain;
        struct aggstats_call shown;
        err = slow_store_show_call(&store->calls[i % SLOW_CALLS_MAX], op_names, op_count, &chain, &shown);
        if (err == 0)
            err = calls_append(&profile->slow_calls, &profile->slow_call_count, &shown);
    }
    return err;
}

static int show_caller(const struct slow_caller *caller, const char (*op_names)[AGGSTATS_NAME_SIZE], unsigned op_count,
                       struct aggstats_profile *profile) {
    struct aggstats_caller shown = {.calls = caller->calls};
    if (caller->op >= op_count || !has_end(caller->program, sizeof(caller->program)) ||
        !has_end(caller->function, sizeof(caller->function)) || !caller->program[0] != !caller->function[0])
        return -EBADMSG;
    memcpy(shown.program, caller->program, sizeof(shown.program));
    memcpy(shown.function, caller->function, sizeof(shown.function));
    text_name_copy(shown.op, op_names[caller->op]);
    return profile_find_caller(profile, &shown) ? -EBADMSG : profile_append_caller(profile, &shown);
}

static int show_wait(const struct slow_wait *wait, struct aggstats_call *call) {
    struct aggstats_chain chain;
    struct aggstats_call shown = *call;
    if (!show_why(&wait->cause, &shown.cause) || !show_texts(&wait->texts, &chain, &shown))
        return -EBADMSG;
    if (!shown.cause.words[0]) {
        shown.stack = NULL;
        shown.chain = NULL;
    }
    return call_copy(&shown, call);
}

/* Calls are watched before they are slow; such waits are not shown. */
static int show_waits(const struct slow_store *store, const struct tally *tally, struct aggstats_profile *profile) {
    int err = 0;
    for (size_t i = 0; i < profile->in_flight_count && err == 0; i++) {
        const uint64_t start_cycles = tally->in_flight[i].start_cycles;
        size_t wait = 0;
        if (start_cycles == 0 || profile->in_flight[i].latency_cycles < profile->slow_cycles)
            continue;
        while (wait < SLOW_WAITS_MAX && store->waits[wait].start_cycles != start_cycles)
            wait++;
        if (wait < SLOW_WAITS_MAX)
            err = show_wait(&store->waits[wait], &profile->in_flight[i]);
    }
    return err;
}

int slow_store_show(const struct slow_store *store, const char (*op_names)[AGGSTATS_NAME_SIZE],
                    const struct tally *tally, struct aggstats_profile *profile) {
    const unsigned op_count = tally->layout.op_count;
    if (store->cause_count > SLOW_CAUSES_MAX || store->caller_count > SLOW_CALLERS_MAX)
        return -EBADMSG;
    profile->slow_cycles = store->threshold_cycles;
    int err = show_causes(store, op_names, op_count, profile);
    if (err == 0)
        err = show_calls(store, op_names, op_count, profile);
    for (size_t i = 0; i < ARRAY_SIZE(store->callers) && err == 0; i++)
        if ((i < store->caller_count || i >= SLOW_CALLERS_MAX) && store->callers[i].calls > 0)
            err = show_caller(&store->callers[i], op_names, op_count, profile);
    profile_sort_slow(profile);
    return err < 0 ? err : show_waits(store, tally, profile);
}
