/* The prof layer: wrappers of the ops of the layer below. The rows of FS_OPS give two sets of them:
 *   full_       count calls
 *   detailed_   count calls, and record more of them (enum prof_wanted); in the vector only while that is wanted */
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
#define NAME_ROW(NAME, ...) [FS_OP_##NAME] = #NAME,
    FS_OPS(NAME_ROW)};

/* Bits: the members of struct fs_values that the op's row lists. */
enum {
    HAS_size = 1U << AGGSTATS_SIZE,
    HAS_offset = 1U << AGGSTATS_OFFSET,
    HAS_result = 1U << AGGSTATS_RESULT,
    HAS_past_eof = 1U << AGGSTATS_PAST_EOF,
    HAS_has_bytes = 1U << AGGSTATS_VALUE_COUNT,
    HAS_ALWAYS = 1U << AGGSTATS_ERROR | 1U << AGGSTATS_BLOCKED | 1U << AGGSTATS_CPU,
};
#define VALUE_BIT(member, number) | HAS_##member
#define VALUE_BITS(values) (HAS_ALWAYS FS_EACH(VALUES, values, VALUE_BIT, VALUE_BIT))

static const unsigned values_of_ops[FS_OP_COUNT] = {
#define VALUES_ROW(NAME, member, params, values, ...) [FS_OP_##NAME] = VALUE_BITS(values),
    FS_OPS(VALUES_ROW)};

#define FIRST_NAME(name, number) #name
#define NEXT_NAME(name, number) " " #name
#define EVENT_LISTS(columns, more, texts)                                                                              \
    "|" FS_EACH(COLUMNS, columns, FIRST_NAME, NEXT_NAME) "|" FS_EACH(MORE, more, FIRST_NAME, NEXT_NAME) "|" FS_EACH(   \
        TEXTS, texts, FIRST_NAME, NEXT_NAME)

const char *const fs_op_events[FS_OP_COUNT] = {
#define EVENTS_ROW(NAME, member, params, values, columns, more, texts)                                                 \
    [FS_OP_##NAME] = VALUE_BITS(values) & HAS_has_bytes ? #NAME " bytes" EVENT_LISTS(columns, more, texts)             \
                                                        : #NAME EVENT_LISTS(columns, more, texts),
    FS_OPS(EVENTS_ROW)};

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

/* The members of struct fs_values that a row lists. */
#define VALUE(member, number) , .member = (uint64_t)(number)
#define SEEN(values)                                                                                                   \
    { .error = -result FS_EACH(VALUES, values, VALUE, VALUE) }

/* Inlined, so that everything but the error is known at compile time. */
static inline struct aggstats_outcome outcome_of(const struct fs_values *seen) {
    return (struct aggstats_outcome){
        .error = seen->error, .has_bytes = seen->has_bytes, .asked_bytes = seen->size, .moved_bytes = seen->result};
}

/* ---- Only counting ---- */

#define FULL_WRAPPER(NAME, member, params, values, ...)                                                                \
    static int full_##member(struct fs_layer *layer, FS_PARAMETERS(params)) {                                          \
        struct aggstats_recorder *recorder = to_prof(layer)->recorder;                                                 \
        struct fs_layer *next = layer->next;                                                                           \
        struct aggstats_span span = aggstats_begin(recorder, FS_OP_##NAME, ino, (uint64_t)caller->pid);                \
        int result = next->ops->member(next, FS_ARGUMENTS(params));                                                    \
        const struct fs_values seen = SEEN(values);                                                                    \
        const struct aggstats_outcome outcome = outcome_of(&seen);                                                     \
        aggstats_end_with(recorder, &span, &outcome);                                                                  \
        return result;                                                                                                 \
    }

/* ---- Recording more ---- */

/* CPU time and waits of a thread so far. */
struct usage {
    uint64_t cpu_ns;
    uint64_t waits;
};

/* A call that has been counted, and of which more is recorded. */
struct call {
    unsigned wanted; /* bits: values with which its latency is correlated, and enum prof_wanted */
    struct usage before;
    struct aggstats_span span;
    uint64_t number; /* for events */
    struct events_ended ended;
};

static struct usage usage_now(unsigned wanted) {
    struct usage usage = {0};
    if (wanted & 1U << AGGSTATS_CPU) {
        struct timespec cpu;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
        usage.cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
    }
    if (wanted & 1U << AGGSTATS_BLOCKED) {
        struct rusage used;
        getrusage(RUSAGE_THREAD, &used);
        usage.waits = (uint64_t)used.ru_nvcsw;
    }
    return usage;
}

static void relate(struct prof *prof, const struct call *call, const struct fs_values *seen) {
    struct usage after = usage_now(call->wanted);
    const uint64_t numbers[AGGSTATS_VALUE_COUNT] = {
        [AGGSTATS_SIZE] = seen->size,
        [AGGSTATS_RESULT] = seen->result,
        [AGGSTATS_OFFSET] = seen->offset,
        [AGGSTATS_ERROR] = (uint64_t)seen->error,
        [AGGSTATS_PAST_EOF] = seen->past_eof,
        [AGGSTATS_BLOCKED] = after.waits - call->before.waits,
        [AGGSTATS_CPU] = after.cpu_ns - call->before.cpu_ns,
    };
    for (unsigned value = 0; value < AGGSTATS_VALUE_COUNT; value++)
        if (call->wanted & 1U << value)
            aggstats_joint_add(prof->recorder, call->ended.op, (enum aggstats_value)value, numbers[value],
                               call->ended.latency_cycles);
}

static void tell_slow(struct prof *prof, const struct call *call, const struct fs_values *seen) {
    const struct aggstats_call ended = {
        .latency_cycles = call->ended.latency_cycles,
        .object = call->ended.node,
        .pid = call->ended.thread,
        .uid = call->ended.uid,
        .error = (uint64_t)seen->error,
        .asked_bytes = seen->has_bytes ? seen->size : 0,
        .moved_bytes = seen->has_bytes ? seen->result : 0,
        .offset = seen->offset,
    };
    aggstats_slow_end(prof->recorder, &call->span, call->ended.op, &ended, NULL);
    struct events_recorder *events = __atomic_load_n(&prof->events, __ATOMIC_RELAXED);
    if (events)
        events_note_slow(events);
}

/* Numbers of further columns and of texts in an op's events with names. */
static const struct {
    uint8_t columns, texts;
} more_of_ops[FS_OP_COUNT] = {
#define ONE(name, expression) +1
#define COUNT_OF(LABEL, field) (0 FS_EACH(LABEL, field, ONE, ONE))
#define MORE_ROW(NAME, member, params, values, columns, more, texts)                                                   \
    [FS_OP_##NAME] = {COUNT_OF(MORE, more), COUNT_OF(TEXTS, texts)},
    FS_OPS(MORE_ROW)};

/* texts: of its event; its further columns come after the others. Returns false if recording is off. */
static bool record_event(struct prof *prof, const struct call *call, const char *const *texts) {
    struct events_recorder *events = __atomic_load_n(&prof->events, __ATOMIC_RELAXED);
    const struct events_ended *ended = &call->ended;
    if (!events)
        return false;
    if (!events_wants_names(events))
        return events_add(events, &call->span, call->number, ended);
    const struct events_more more = {ended->columns + ended->column_count, more_of_ops[ended->op].columns, texts,
                                     more_of_ops[ended->op].texts};
    return events_add_named(events, &call->span, call->number, *ended, &more);
}

/* Records more of a counted call. texts: of its event. */
static void add_details(struct prof *prof, const struct call *call, const struct fs_values *seen,
                        const char *const *texts) {
    if (call->wanted & PROF_EVENTS) {
        if (record_event(prof, call, texts))
            aggstats_number_end(&call->span, call->number);
        else
            aggstats_number_cancel(&call->span, call->number);
    }
    if (call->wanted & PROF_VALUES)
        relate(prof, call, seen);
    if (call->wanted & PROF_GROUPS) {
        /* calls of the kernel itself have no process, and the uid of nobody */
        const struct aggstats_call_of of = {call->ended.thread, call->ended.uid, call->ended.node};
        aggstats_group_add(prof->recorder, call->ended.op, &of, call->ended.latency_cycles);
    }
    if (call->wanted & PROF_SLOW && call->ended.latency_cycles >= __atomic_load_n(&prof->slow_cycles, __ATOMIC_RELAXED))
        tell_slow(prof, call, seen);
}

static inline struct events_ended ended_call(enum fs_op op, const struct fs_caller *caller, fs_ino ino,
                                             const struct fs_values *seen, uint64_t latency_cycles,
                                             const uint64_t *columns, unsigned column_count) {
    return (struct events_ended){
        .latency_cycles = latency_cycles,
        .node = ino,
        .thread = (uint32_t)caller->pid,
        .uid = caller->uid,
        .op = op,
        .error = (unsigned)seen->error,
        .flags = seen->past_eof ? EVENTS_PAST_EOF : 0,
        .columns = columns,
        .column_count = column_count,
    };
}

#define NUMBER(name, number) , (uint64_t)(number)
#define TEXT(name, string) , string

#define DETAILED_WRAPPER(NAME, member, params, values, columns, more, texts)                                           \
    static int detailed_##member(struct fs_layer *layer, FS_PARAMETERS(params)) {                                      \
        struct prof *prof = to_prof(layer);                                                                            \
        struct fs_layer *next = layer->next;                                                                           \
        const unsigned wanted = __atomic_load_n(&prof->wanted[FS_OP_##NAME], __ATOMIC_RELAXED);                        \
        const struct usage before = wanted & PROF_USAGE ? usage_now(wanted) : (struct usage){0};                       \
        if (wanted & PROF_SLOW)                                                                                        \
            aggstats_slow_begin(prof->recorder);                                                                       \
        struct aggstats_span span = aggstats_begin(prof->recorder, FS_OP_##NAME, ino, (uint64_t)caller->pid);          \
        int result = next->ops->member(next, FS_ARGUMENTS(params));                                                    \
        const struct fs_values seen = SEEN(values);                                                                    \
        const struct aggstats_outcome outcome = outcome_of(&seen);                                                     \
        const uint64_t number = wanted & PROF_EVENTS ? aggstats_number_begin(&span) : 0;                               \
        const uint64_t latency_cycles = aggstats_end_with(prof->recorder, &span, &outcome);                            \
        const uint64_t numbers[] = {0 FS_EACH(COLUMNS, columns, NUMBER, NUMBER) FS_EACH(MORE, more, NUMBER, NUMBER)};  \
        const char *const strings[] = {NULL FS_EACH(TEXTS, texts, TEXT, TEXT)};                                        \
        const struct events_ended ended =                                                                              \
            ended_call(FS_OP_##NAME, caller, ino, &seen, latency_cycles, numbers + 1, COUNT_OF(COLUMNS, columns));     \
        const struct call counted = {wanted, before, span, number, ended};                                             \
        add_details(prof, &counted, &seen, strings + 1);                                                               \
        return result;                                                                                                 \
    }

FS_OPS(FULL_WRAPPER)
FS_OPS(DETAILED_WRAPPER)

static void forget(struct fs_layer *layer, fs_ino ino, uint64_t count) {
    layer->next->ops->forget(layer->next, ino, count);
}

#define FULL_ROW(NAME, member, ...) .member = full_##member,

static const struct fs_ops full_ops = {FS_OPS(FULL_ROW).forget = forget};

void prof_init(struct prof *prof, struct aggstats_recorder *recorder, struct fs_layer *next) {
    *prof = (struct prof){
        .ops = full_ops,
        .layer.next = next,
        .recorder = recorder,
        .slow_cycles = UINT64_MAX,
    };
    prof->layer.ops = &prof->ops;
}

/* ---- Choosing what is recorded ---- */

const char *prof_find_joint(const char *op_name, const char *value_name, unsigned *ret_op,
                            enum aggstats_value *ret_value) {
    int value = aggstats_value_of_name(value_name);
    unsigned op = 0;
    while (op < FS_OP_COUNT && strcasecmp(op_name, fs_op_names[op]) != 0)
        op++;
    if (op == FS_OP_COUNT)
        return "no such operation";
    if (value < 0)
        return "the value must be size, result, offset, error, past_eof, blocked or cpu";
    if (!(values_of_ops[op] & 1U << value))
        return "the operation has no such value";
    *ret_op = op;
    *ret_value = (enum aggstats_value)value;
    return NULL;
}

#define CHOOSE_ROW(NAME, member, ...)                                                                                  \
    case FS_OP_##NAME:                                                                                                 \
        __atomic_store_n(&prof->ops.member, wanted ? detailed_##member : full_##member, __ATOMIC_RELEASE);             \
        break;

/* Changes the op's bits in mask. If no bits are left, the op gets its full_ wrapper back. */
static void want(struct prof *prof, enum fs_op op, unsigned mask, unsigned bits) {
    const unsigned wanted = (prof->wanted[op] & ~mask) | bits;
    __atomic_store_n(&prof->wanted[op], wanted, __ATOMIC_RELAXED);
    switch (op) {
        FS_OPS(CHOOSE_ROW)
    case FS_OP_COUNT:
        break;
    }
}

static void want_of_all(struct prof *prof, enum prof_wanted what, bool is_wanted) {
    for (unsigned op = 0; op < FS_OP_COUNT; op++)
        want(prof, (enum fs_op)op, what, is_wanted ? what : 0);
}

int prof_set_joint(struct prof *prof, enum fs_op op, unsigned values) {
    int err = aggstats_recorder_set_joint(prof->recorder, op, values);
    if (err == 0)
        want(prof, op, PROF_VALUES, values);
    return err;
}

void prof_set_slow(struct prof *prof) {
    uint64_t cycles = aggstats_recorder_slow_cycles(prof->recorder);
    __atomic_store_n(&prof->slow_cycles, cycles > 0 ? cycles : UINT64_MAX, __ATOMIC_RELAXED);
    want_of_all(prof, PROF_SLOW, cycles > 0);
}

void prof_set_events(struct prof *prof, struct events_recorder *events) {
    __atomic_store_n(&prof->events, events, __ATOMIC_RELAXED);
    want_of_all(prof, PROF_EVENTS, events != NULL);
}

void prof_set_grouped(struct prof *prof, bool is_grouped) {
    want_of_all(prof, PROF_GROUPS, is_grouped);
}
