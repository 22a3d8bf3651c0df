/* The tables of fields, and what they say of a record. */
#include "aggstats/fields.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/why.h"
#include "base.h"

#define OF(record, member) .offset = offsetof(struct record, member), .size_bytes = sizeof(((struct record *)0)->member)
#define ALWAYS .presence = FIELD_ALWAYS
#define LOGGED .is_logged = true

/* Words come last: without them nothing else is known. */
#define CAUSE(record, member)                                                                                          \
    {"cause_id", FIELD_CAUSE_ID, OF(record, member.id), .is_of_cause = true},                                          \
        {"cause_class", FIELD_CLASS, OF(record, member.kind), .is_of_cause = true},                                    \
        {"other_thread", FIELD_BIT, .offset = offsetof(struct record, member.flags),                                   \
         .size_bytes = AGGSTATS_WHY_OTHER_THREAD, .is_of_cause = true},                                                \
        {"since_before", FIELD_BIT, .offset = offsetof(struct record, member.flags),                                   \
         .size_bytes = AGGSTATS_WHY_SINCE_BEFORE, .is_of_cause = true},

#define CALL(member) OF(aggstats_call, member)
#define IN_FLIGHT .presence = FIELD_IF_FLAG, .flag_offset = offsetof(struct aggstats_call, is_in_flight)
#define ENDED .presence = FIELD_UNLESS_FLAG, .flag_offset = offsetof(struct aggstats_call, is_in_flight)

const struct field call_fields[] = {
    {"op", FIELD_OP, CALL(op), ALWAYS},
    {"age", FIELD_CYCLES, CALL(latency_cycles), IN_FLIGHT},
    {"latency", FIELD_CYCLES, CALL(latency_cycles), ENDED},
    {"end_ns", FIELD_TIME, CALL(end_ns), ENDED},
    CAUSE(aggstats_call, cause){"cause", FIELD_CAUSE, CALL(cause.words), LOGGED},
    {"path", FIELD_STRING, CALL(path), LOGGED},
    {"inode", FIELD_NUMBER, CALL(object)},
    {"pid", FIELD_NUMBER, CALL(pid), ALWAYS},
    {"process", FIELD_NUMBER, CALL(process), LOGGED},
    {"program", FIELD_TEXT, CALL(program), LOGGED},
    {"uid", FIELD_NUMBER, CALL(uid), ENDED},
    {"error", FIELD_NUMBER, CALL(error), ENDED},
    {"asked_bytes", FIELD_NUMBER, CALL(asked_bytes), ENDED},
    {"moved_bytes", FIELD_NUMBER, CALL(moved_bytes), ENDED},
    {"offset", FIELD_NUMBER, CALL(offset), ENDED},
    {"stack", FIELD_STACK, CALL(stack)},
    {"user_stack", FIELD_STACK, CALL(user_stack)},
    {FIELD_LINK, FIELD_CHAIN, CALL(chain), LOGGED}, /* NOLINT(bugprone-sizeof-expression): of the pointer */
    {NULL},
};

const struct field cause_fields[] = {
    {"op", FIELD_OP, OF(aggstats_cause, op), ALWAYS},
    {"calls", FIELD_NUMBER, OF(aggstats_cause, calls), ALWAYS},
    {"total", FIELD_CYCLES, OF(aggstats_cause, total_cycles), ALWAYS},
    {"longest", FIELD_CYCLES, OF(aggstats_cause, longest_cycles), ALWAYS},
    CAUSE(aggstats_cause, why){"cause", FIELD_CAUSE, OF(aggstats_cause, why.words), ALWAYS},
    {NULL},
};

const struct field caller_fields[] = {
    {"op", FIELD_OP, OF(aggstats_caller, op), ALWAYS},
    {"calls", FIELD_NUMBER, OF(aggstats_caller, calls), ALWAYS},
    {"program", FIELD_TEXT, OF(aggstats_caller, program)},
    {"function", FIELD_TEXT, OF(aggstats_caller, function)},
    {NULL},
};

#define LINK(member) OF(aggstats_link, member)

const struct field link_fields[] = {
    {"process", FIELD_NUMBER, LINK(waiter.process)},
    {"thread", FIELD_NUMBER, LINK(waiter.thread)},
    {"program", FIELD_TEXT, LINK(waiter.name)},
    {"all_threads", FIELD_FLAG, LINK(is_all)},
    {"cause_id", FIELD_CAUSE_ID, LINK(cause.id)},
    {"cause_class", FIELD_CLASS, LINK(cause.kind)},
    {"cause", FIELD_TEXT, LINK(cause.words)},
    {"waits_for", FIELD_CLASS, LINK(thing)},
    {"object", FIELD_TEXT, LINK(object)},
    {"source", FIELD_TEXT, LINK(source)},
    {"cgroup", FIELD_TEXT, LINK(group)},
    {"requests", FIELD_NUMBER, LINK(in_flight), FIELD_IF_FLAG, offsetof(struct aggstats_link, has_in_flight)},
    {"relation", FIELD_RELATION, LINK(relation)},
    {"holder_process", FIELD_NUMBER, LINK(holder.process)},
    {"holder_thread", FIELD_NUMBER, LINK(holder.thread)},
    {"holder_program", FIELD_TEXT, LINK(holder.name)},
    {"others", FIELD_NUMBER, LINK(others)},
    {NULL},
};

static const char *const relations[] = {
    [AGGSTATS_NOBODY_KNOWN] = "unknown",
    [AGGSTATS_HELD] = "held",
    [AGGSTATS_TAKEN] = "taken",
    [AGGSTATS_ASKED_BEFORE] = "asked_before",
    [AGGSTATS_BY_DESCRIPTION] = "held_by_description",
    [AGGSTATS_BY_UNSEEN] = "held_by_unseen",
};

/* Members of enumerations are read as numbers. */
_Static_assert(sizeof(enum aggstats_cause_class) == sizeof(unsigned), "as the next");
_Static_assert(sizeof(enum aggstats_relation) == sizeof(unsigned), "as the one before");

/* ---- Values ---- */

uint64_t field_number(const struct field *field, const void *record) {
    return *(const uint64_t *)(const void *)((const char *)record + field->offset);
}

static unsigned enumerator(const struct field *field, const void *record) {
    return *(const unsigned *)(const void *)((const char *)record + field->offset);
}

const char *field_word(const struct field *field, const void *record) {
    const char *member = (const char *)record + field->offset;
    switch (field->kind) {
    case FIELD_FLAG:
    case FIELD_BIT:
        return "yes";
    case FIELD_CLASS:
        return aggstats_cause_class_name((enum aggstats_cause_class)enumerator(field, record));
    case FIELD_RELATION:
        return relations[enumerator(field, record)];
    case FIELD_STRING:
    case FIELD_STACK:
        return *(char *const *)(const void *)member;
    default:
        return member;
    }
}

const struct aggstats_chain *field_chain(const struct field *field, const void *record) {
    return *(struct aggstats_chain *const *)(const void *)((const char *)record + field->offset);
}

static bool is_known(const struct field *field, const void *record) {
    const char *member = (const char *)record + field->offset;
    switch (field->kind) {
    case FIELD_NUMBER:
    case FIELD_CYCLES:
    case FIELD_TIME:
        return field_number(field, record) > 0;
    case FIELD_FLAG:
        return *(const bool *)member;
    case FIELD_BIT:
        return enumerator(field, record) & field->size_bytes;
    case FIELD_CLASS:
    case FIELD_RELATION:
        return enumerator(field, record) > 0;
    case FIELD_STRING:
    case FIELD_STACK:
        return field_word(field, record) && *field_word(field, record);
    case FIELD_CHAIN:
        return field_chain(field, record);
    default:
        return *member;
    }
}

bool field_is_there(const struct field *field, const void *record) {
    switch (field->presence) {
    case FIELD_ALWAYS:
        return true;
    case FIELD_IF_FLAG:
        return *((const bool *)record + field->flag_offset);
    case FIELD_UNLESS_FLAG:
        return !*((const bool *)record + field->flag_offset);
    default:
        return is_known(field, record);
    }
}

unsigned field_enumerator(const struct field *field, const char *word) {
    return field->kind == FIELD_CLASS ? (unsigned)aggstats_cause_class_of_name(word)
                                      : (unsigned)word_index(relations, ARRAY_SIZE(relations), word);
}

unsigned field_enumerators(const struct field *field) {
    return field->kind == FIELD_CLASS ? AGGSTATS_CAUSE_CLASSES : ARRAY_SIZE(relations);
}

/* ---- Calls ---- */

struct aggstats_chain *chain_copy(const struct aggstats_chain *chain) {
    struct aggstats_chain *copy = chain ? malloc(sizeof(*copy)) : NULL;
    if (copy)
        *copy = *chain;
    return copy;
}

void call_finish(struct aggstats_call *call) {
    free(call->path);
    free(call->stack);
    free(call->user_stack);
    free(call->chain);
    call->path = call->stack = call->user_stack = NULL;
    call->chain = NULL;
}

int call_copy(const struct aggstats_call *call, struct aggstats_call *ret_copy) {
    struct aggstats_call copy = *call;
    copy.path = call->path ? strdup(call->path) : NULL;
    copy.stack = call->stack ? strdup(call->stack) : NULL;
    copy.user_stack = call->user_stack ? strdup(call->user_stack) : NULL;
    copy.chain = chain_copy(call->chain);
    if ((call->path && !copy.path) || (call->stack && !copy.stack) || (call->user_stack && !copy.user_stack) ||
        (call->chain && !copy.chain)) {
        call_finish(&copy);
        return -ENOMEM;
    }
    *ret_copy = copy;
    return 0;
}

int calls_append(struct aggstats_call **calls, size_t *count, const struct aggstats_call *call) {
    int err = grow_array(calls, *count, sizeof(**calls));
    if (err == 0)
        err = call_copy(call, &(*calls)[*count]);
    *count += err == 0;
    return err;
}

void calls_free(struct aggstats_call **calls, size_t *count) {
    while (*count > 0)
        call_finish(&(*calls)[--*count]);
    free(*calls);
    *calls = NULL;
}
