/* The prof layer: one wrapper per row of FS_OPS, in the three variants of thesis §6.2. */
#include "prof.h"

#include <assert.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <time.h>

#include "aggstats/caller_groups.h"
#include "aggstats/joint_profiles.h"
#include "aggstats/numbered.h"
#include "aggstats/slow.h"
#include "base.h"

const char *const fs_op_names[FS_OP_COUNT] = {
#define NAME_ROW(NAME, member, params, args, values, ...) [FS_OP_##NAME] = #NAME,
    FS_OPS(NAME_ROW)
#undef NAME_ROW
};

const char *const fs_op_events[FS_OP_COUNT] = {
#define EVENTS_ROW(NAME, member, params, args, values, lists, ...) [FS_OP_##NAME] = #NAME lists,
    FS_OPS(EVENTS_ROW)
#undef EVENTS_ROW
};

static_assert(FS_OP_COUNT <= AGGSTATS_OPS_MAX, "the recorder has room for every op");
static_assert((int)FS_SET_MODE == (int)EVENTS_SET_MODE && (int)FS_SET_UID == (int)EVENTS_SET_OWNER &&
                  (int)FS_SET_GID == (int)EVENTS_SET_GROUP && (int)FS_SET_SIZE == (int)EVENTS_SET_SIZE &&
                  (int)FS_SET_ATIME == (int)EVENTS_SET_ATIME && (int)FS_SET_MTIME == (int)EVENTS_SET_MTIME &&
                  (int)FS_SET_ATIME_NOW == (int)EVENTS_SET_ATIME_NOW &&
                  (int)FS_SET_MTIME_NOW == (int)EVENTS_SET_MTIME_NOW,
              "events files have these bits");

static struct prof *to_prof(struct fs_layer *layer) {
    return container_of(layer, struct prof, layer);
}

/* Inlined where all but the error is known at compile time. */
static inline struct aggstats_outcome outcome_of(const struct fs_values *seen) {
    return (struct aggstats_outcome){
        .error = seen->error, .has_bytes = seen->has_bytes, .asked_bytes = seen->size, .moved_bytes = seen->result};
}

#define FULL_WRAPPER(NAME, member, params, args, of_call, ...)                                                         \
    static int full_##member(struct fs_layer *layer, FS_UNPACK params) {                                               \
        struct aggstats_recorder *recorder = to_prof(layer)->recorder;                                                 \
        struct fs_layer *next = layer->next;                                                                           \
        struct aggstats_span span = aggstats_begin(recorder, FS_OP_##NAME, ino, (uint64_t)caller->pid);                \
        int result = next->ops->member(next, FS_UNPACK args);                                                          \
        const struct fs_values seen = {.error = -result, FS_UNPACK of_call};                                           \
        const struct aggstats_outcome outcome = outcome_of(&seen);                                                     \
        aggstats_end_with(recorder, &span, &outcome);                                                                  \
        return result;                                                                                                 \
    }

/* ---- Joint profiles and groups ---- */

/* What the thread has used before the call. */
struct usage {
    uint64_t cpu_ns;
    uint64_t waits;
};

static struct usage usage_now(unsigned values) {
    struct usage usage = {0};
    if (values & 1U << AGGSTATS_CPU) {
        struct timespec cpu;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
        usage.cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
    }
    if (values & 1U << AGGSTATS_BLOCKED) {
        struct rusage used;
        getrusage(RUSAGE_THREAD, &used);
        usage.waits = (uint64_t)used.ru_nvcsw;
    }
    return usage;
}

static void relate(struct prof *prof, enum fs_op op, unsigned values, const struct fs_values *seen,
                   const struct usage *before, uint64_t latency_cycles) {
    struct usage after = usage_now(values);
    const uint64_t numbers[AGGSTATS_VALUE_COUNT] = {
        [AGGSTATS_SIZE] = seen->size,
        [AGGSTATS_RESULT] = seen->result,
        [AGGSTATS_OFFSET] = seen->offset,
        [AGGSTATS_ERROR] = (uint64_t)seen->error,
        [AGGSTATS_PAST_EOF] = seen->past_eof,
        [AGGSTATS_BLOCKED] = after.waits - before->waits,
        [AGGSTATS_CPU] = after.cpu_ns - before->cpu_ns,
    };
    for (unsigned value = 0; value < AGGSTATS_VALUE_COUNT; value++)
        if (values & 1U << value)
            aggstats_joint_add(prof->recorder, op, (enum aggstats_value)value, numbers[value], latency_cycles);
}

/* Whose call it was. The kernel's own have no process, and no user but the one that nobody is. */
static inline void group(const struct prof *prof, enum fs_op op, const struct fs_caller *caller, fs_ino ino,
                         uint64_t latency_cycles) {
    const struct aggstats_call_of of = {.thread = (uint32_t)caller->pid, .uid = caller->uid, .object = ino};
    aggstats_group_add(prof->recorder, op, &of, latency_cycles);
}

#define GROUPED_WRAPPER(NAME, member, params, args, of_call, ...)                                                      \
    static int grouped_##member(struct fs_layer *layer, FS_UNPACK params) {                                            \
        const struct prof *prof = to_prof(layer);                                                                      \
        struct fs_layer *next = layer->next;                                                                           \
        struct aggstats_span span = aggstats_begin(prof->recorder, FS_OP_##NAME, ino, (uint64_t)caller->pid);          \
        int result = next->ops->member(next, FS_UNPACK args);                                                          \
        const struct fs_values seen = {.error = -result, FS_UNPACK of_call};                                           \
        const struct aggstats_outcome outcome = outcome_of(&seen);                                                     \
        group(prof, FS_OP_##NAME, caller, ino, aggstats_end_with(prof->recorder, &span, &outcome));                    \
        return result;                                                                                                 \
    }

static void tell_slow(struct prof *prof, enum fs_op op, const struct fs_caller *caller, fs_ino ino,
                      const struct fs_values *seen, const struct aggstats_span *span, uint64_t latency_cycles) {
    const struct aggstats_ended_call call = {
        .op = op,
        .latency_cycles = latency_cycles,
        .object = ino,
        .pid = (uint64_t)caller->pid,
        .uid = caller->uid,
        .error = seen->error,
        .asked_bytes = seen->has_bytes ? seen->size : 0,
        .moved_bytes = seen->has_bytes ? seen->result : 0,
        .offset = seen->offset,
    };
    aggstats_slow_end(prof->recorder, span, &call);
    struct events_recorder *events = __atomic_load_n(&prof->events, __ATOMIC_RELAXED);
    if (events)
        events_note_slow(events);
}

/* What an event has of a call, but for what its row in FS_OPS adds. */
static inline struct events_ended ended_call(enum fs_op op, const struct fs_caller *caller, fs_ino ino,
                                             const struct fs_values *seen, uint64_t latency_cycles) {
    return (struct events_ended){
        .latency_cycles = latency_cycles,
        .node = ino,
        .thread = (uint32_t)caller->pid,
        .uid = caller->uid,
        .op = op,
        .error = (unsigned)seen->error,
        .flags = seen->past_eof ? EVENTS_PAST_EOF : 0,
    };
}

static inline void end_number(const struct aggstats_span *span, uint64_t number, bool is_recorded) {
    if (__builtin_expect(is_recorded, 1))
        aggstats_number_end(span, number);
    else
        aggstats_number_cancel(span, number);
}

/* Lists of a row as arrays, whose first member keeps them from being empty. Texts are only looked at where they are
 * wanted. */
#define RECORD_EVENT(columns_of, more_of, texts_of)                                                                    \
    do {                                                                                                               \
        const uint64_t column[] = {0, FS_UNPACK columns_of};                                                           \
        ended.columns = column + 1;                                                                                    \
        ended.column_count = ARRAY_SIZE(column) - 1;                                                                   \
        if (__builtin_expect(events_wants_names(events), 0)) {                                                         \
            const uint64_t further[] = {0, FS_UNPACK more_of};                                                         \
            const char *const text[] = {NULL, FS_UNPACK texts_of};                                                     \
            const struct events_more more = {further + 1, ARRAY_SIZE(further) - 1, text + 1, ARRAY_SIZE(text) - 1};    \
            end_number(&span, number, events_add_named(events, &span, number, ended, &more));                          \
        } else {                                                                                                       \
            end_number(&span, number, events_add(events, &span, number, &ended));                                      \
        }                                                                                                              \
    } while (0)

/* records: a constant: calls are recorded one by one, too */
#define WRAPPER_OF(prefix, records, NAME, member, params, args, of_call, columns_of, more_of, texts_of)                \
    static int prefix##_##member(struct fs_layer *layer, FS_UNPACK params) {                                           \
        struct prof *prof = to_prof(layer);                                                                            \
        struct fs_layer *next = layer->next;                                                                           \
        unsigned values = __atomic_load_n(&prof->joint[FS_OP_##NAME], __ATOMIC_RELAXED);                               \
        uint64_t slow_cycles = __atomic_load_n(&prof->slow_cycles, __ATOMIC_RELAXED);                                  \
        struct events_recorder *events = (records) ? __atomic_load_n(&prof->events, __ATOMIC_RELAXED) : NULL;          \
        struct usage before = values != 0 ? usage_now(values) : (struct usage){0};                                     \
        if (slow_cycles != UINT64_MAX)                                                                                 \
            aggstats_slow_begin(prof->recorder);                                                                       \
        struct aggstats_span span = aggstats_begin(prof->recorder, FS_OP_##NAME, ino, (uint64_t)caller->pid);          \
        int result = next->ops->member(next, FS_UNPACK args);                                                          \
        const struct fs_values seen = {.error = -result, FS_UNPACK of_call};                                           \
        const struct aggstats_outcome outcome = outcome_of(&seen);                                                     \
        uint64_t number = events ? aggstats_number_begin(&span) : 0;                                                   \
        uint64_t latency_cycles = aggstats_end_with(prof->recorder, &span, &outcome);                                  \
        if (events) {                                                                                                  \
            struct events_ended ended = ended_call(FS_OP_##NAME, caller, ino, &seen, latency_cycles);                  \
            RECORD_EVENT(columns_of, more_of, texts_of);                                                               \
        }                                                                                                              \
        if (values != 0)                                                                                               \
            relate(prof, FS_OP_##NAME, values, &seen, &before, latency_cycles);                                        \
        if (prof->is_grouped)                                                                                          \
            group(prof, FS_OP_##NAME, caller, ino, latency_cycles);                                                    \
        if (__builtin_expect(latency_cycles >= slow_cycles, 0))                                                        \
            tell_slow(prof, FS_OP_##NAME, caller, ino, &seen, &span, latency_cycles);                                  \
        return result;                                                                                                 \
    }

#define DETAILED_WRAPPER(NAME, member, params, args, of_call, lists, columns_of, more_of, texts_of)                    \
    WRAPPER_OF(detailed, false, NAME, member, params, args, of_call, columns_of, more_of, texts_of)
#define RECORDING_WRAPPER(NAME, member, params, args, of_call, lists, columns_of, more_of, texts_of)                   \
    WRAPPER_OF(recording, true, NAME, member, params, args, of_call, columns_of, more_of, texts_of)

/* ---- Less of the profiler ---- */

#define TSC_WRAPPER(NAME, member, params, args, values, ...)                                                           \
    static int tsc_##member(struct fs_layer *layer, FS_UNPACK params) {                                                \
        uint32_t clock_kind = to_prof(layer)->clock_kind;                                                              \
        struct fs_layer *next = layer->next;                                                                           \
        uint64_t start_cycles = aggstats_clock_now(clock_kind);                                                        \
        int result = next->ops->member(next, FS_UNPACK args);                                                          \
        uint64_t latency_cycles = aggstats_clock_now(clock_kind) - start_cycles;                                       \
        __asm__ volatile("" : : "r"(latency_cycles)); /* computed, though nobody keeps it */                           \
        return result;                                                                                                 \
    }

#define CALL_WRAPPER(NAME, member, params, args, values, ...)                                                          \
    static int call_##member(struct fs_layer *layer, FS_UNPACK params) {                                               \
        struct fs_layer *next = layer->next;                                                                           \
        int result = next->ops->member(next, FS_UNPACK args);                                                          \
        __asm__ volatile("" : "+r"(result)); /* keeps the call from becoming a jump */                                 \
        return result;                                                                                                 \
    }

FS_OPS(FULL_WRAPPER)
FS_OPS(GROUPED_WRAPPER)
FS_OPS(DETAILED_WRAPPER)
FS_OPS(RECORDING_WRAPPER)
FS_OPS(TSC_WRAPPER)
FS_OPS(CALL_WRAPPER)

static void forget(struct fs_layer *layer, fs_ino ino, uint64_t count) {
    layer->next->ops->forget(layer->next, ino, count);
}

#define FULL_ROW(NAME, member, params, args, values, ...) .member = full_##member,
#define TSC_ROW(NAME, member, params, args, values, ...) .member = tsc_##member,
#define CALL_ROW(NAME, member, params, args, values, ...) .member = call_##member,

static const struct fs_ops full_ops = {FS_OPS(FULL_ROW).forget = forget};
static const struct fs_ops tsc_ops = {FS_OPS(TSC_ROW).forget = forget};
static const struct fs_ops call_ops = {FS_OPS(CALL_ROW).forget = forget};

void prof_init(struct prof *prof, enum prof_timing timing, struct aggstats_recorder *recorder, struct fs_layer *next) {
    *prof = (struct prof){
        .ops = timing == PROF_TIMING_FULL  ? full_ops
               : timing == PROF_TIMING_TSC ? tsc_ops
                                           : call_ops,
        .layer.next = next,
        .recorder = recorder,
        .clock_kind = aggstats_recorder_clock(recorder).kind,
        .slow_cycles = UINT64_MAX,
    };
    prof->layer.ops = &prof->ops;
}

/* ---- Choosing what is recorded besides ---- */

#define TEXT_OF(tokens) #tokens
#define VALUES_ROW(NAME, member, params, args, values, ...) [FS_OP_##NAME] = TEXT_OF(values),
static const char *const values_of_ops[FS_OP_COUNT] = {FS_OPS(VALUES_ROW)};

/* Read off the op's row, where they stand as ".size = ...". */
static bool op_has_value(enum fs_op op, enum aggstats_value value) {
    static const char *const members[AGGSTATS_VALUE_COUNT] = {
        [AGGSTATS_SIZE] = ".size",
        [AGGSTATS_RESULT] = ".result",
        [AGGSTATS_OFFSET] = ".offset",
        [AGGSTATS_PAST_EOF] = ".past_eof",
    };
    return !members[value] || strstr(values_of_ops[op], members[value]);
}

const char *prof_find_joint(const char *op_name, const char *value_name, enum fs_op *ret_op,
                            enum aggstats_value *ret_value) {
    int value = aggstats_value_of_name(value_name);
    unsigned op = 0;
    while (op < FS_OP_COUNT && strcasecmp(op_name, fs_op_names[op]) != 0)
        op++;
    if (op == FS_OP_COUNT)
        return "no such operation";
    if (value < 0)
        return "the value must be size, result, offset, error, past_eof, blocked or cpu";
    if (!op_has_value((enum fs_op)op, (enum aggstats_value)value))
        return "the operation has no such value";
    *ret_op = (enum fs_op)op;
    *ret_value = (enum aggstats_value)value;
    return NULL;
}

#define CHOOSE_ROW(NAME, member, params, args, values, ...)                                                            \
    case FS_OP_##NAME:                                                                                                 \
        __atomic_store_n(&prof->ops.member,                                                                            \
                         records            ? recording_##member                                                       \
                         : is_detailed      ? detailed_##member                                                        \
                         : prof->is_grouped ? grouped_##member                                                         \
                                            : full_##member,                                                           \
                         __ATOMIC_RELEASE);                                                                            \
        break;

/* Ops of which nothing is recorded besides do without what that takes. */
static void choose_wrapper(struct prof *prof, enum fs_op op) {
    bool is_detailed = prof->joint[op] != 0 || prof->slow_cycles != UINT64_MAX;
    bool records = prof->events;
    switch (op) {
        FS_OPS(CHOOSE_ROW)
    case FS_OP_COUNT:
        break;
    }
}

int prof_set_joint(struct prof *prof, enum fs_op op, unsigned values) {
    int err = aggstats_recorder_set_joint(prof->recorder, op, values);
    if (err < 0)
        return err;
    __atomic_store_n(&prof->joint[op], values, __ATOMIC_RELAXED);
    choose_wrapper(prof, op);
    return 0;
}

void prof_set_slow(struct prof *prof) {
    uint64_t cycles = aggstats_recorder_slow_cycles(prof->recorder);
    __atomic_store_n(&prof->slow_cycles, cycles > 0 ? cycles : UINT64_MAX, __ATOMIC_RELAXED);
    for (unsigned op = 0; op < FS_OP_COUNT; op++)
        choose_wrapper(prof, (enum fs_op)op);
}

void prof_set_events(struct prof *prof, struct events_recorder *events) {
    __atomic_store_n(&prof->events, events, __ATOMIC_RELAXED);
    for (unsigned op = 0; op < FS_OP_COUNT; op++)
        choose_wrapper(prof, (enum fs_op)op);
}

void prof_set_grouped(struct prof *prof) {
    prof->is_grouped = true;
    for (unsigned op = 0; op < FS_OP_COUNT; op++)
        choose_wrapper(prof, (enum fs_op)op);
}
