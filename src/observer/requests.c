/* A request is pending from its record until that of its answer; then it is counted. */
#include "requests.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "aggstats/caller_groups.h"
#include "aggstats/joint_profiles.h"
#include "aggstats/lane.h"
#include "aggstats/slow.h"
#include "base.h"
#include "process.h"

#define REQUEST_ASKED_AGAIN (UINT64_C(1) << 63) /* FUSE_UNIQUE_RESEND: the request is in the same place as before */

static_assert(WIRE_OP_COUNT <= AGGSTATS_OPS_MAX, "the recorder has room for every op");

const char *const wire_op_names[WIRE_OP_COUNT] = {WIRE_OPS(WIRE_OP_NAME)};

#define ANSWER_ROW(OPCODE, NAME, NAMES, ANSWER) [WIRE_##NAME] = ANSWER,
static const enum wire_answer answers[WIRE_OP_COUNT] = {WIRE_OPS(ANSWER_ROW)};

static bool find_op(uint16_t opcode, enum wire_op *ret_op) {
#define OP_ROW(OPCODE, NAME, NAMES, ANSWER)                                                                            \
    case OPCODE:                                                                                                       \
        *ret_op = WIRE_##NAME;                                                                                         \
        return true;
    switch (opcode) {
        WIRE_OPS(OP_ROW)
    default:
        return false;
    }
}

int requests_init(struct requests *requests, struct aggstats_recorder *recorder) {
    *requests = (struct requests){.recorder = recorder, .slow_cycles = UINT64_MAX};
    pthread_mutex_init(&requests->callers_lock, NULL);
    return nodes_init(&requests->nodes);
}

void requests_finish(struct requests *requests) {
    for (size_t i = 0; i < requests->pending_count; i++)
        free(requests->pending[i].names);
    requests->pending_count = 0;
    nodes_finish(&requests->nodes);
    pthread_mutex_destroy(&requests->callers_lock);
}

/* ---- Requests ----------------------------------------------------------------------------------- */

static char *copy_names(const struct request *request) {
    if (request->names_bytes == 0)
        return NULL;
    char *names = malloc(request->names_bytes + 2);
    if (names) {
        memcpy(names, request->names, request->names_bytes);
        names[request->names_bytes] = names[request->names_bytes + 1] = '\0'; /* also if names were cut */
    }
    return names;
}

/* Searches the latest ones first. NULL: the request is not counted, such as an interrupt */
static struct pending_request *find_pending(struct requests *requests, const struct request_record *record) {
    for (size_t i = requests->pending_count; i-- > 0;)
        if ((requests->pending[i].unique | REQUEST_ASKED_AGAIN) == (record->unique | REQUEST_ASKED_AGAIN))
            return &requests->pending[i];
    return NULL;
}

static void remove_pending(struct requests *requests, struct pending_request *pending) {
    free(pending->names);
    requests->lanes[requests->lane_count++] = pending->span.block;
    *pending = requests->pending[--requests->pending_count];
}

/* A lost answer is noticed only by another request of the same number, or when there are too many: then the oldest is
 * not expected any more. */
static void make_room(struct requests *requests, struct pending_request *same) {
    struct pending_request *lost = same;
    if (!lost && requests->pending_count < REQUESTS_MAX)
        return;
    for (size_t i = 0; !same && i < requests->pending_count; i++)
        if (!lost || (int64_t)(requests->pending[i].span.start_cycles - lost->span.start_cycles) < 0)
            lost = &requests->pending[i];
    aggstats_lane_forget(&lost->span);
    remove_pending(requests, lost);
    requests->not_counted++;
}

static void take_request(struct requests *requests, const struct request *request) {
    const struct request_record *record = &request->record;
    struct pending_request *same = find_pending(requests, record);
    enum wire_op op;
    if (!find_op(record->opcode, &op) || (same && record->unique & REQUEST_ASKED_AGAIN))
        return;
    make_room(requests, same);
    struct aggstats_block *lane =
        requests->lane_count > 0 ? requests->lanes[--requests->lane_count] : aggstats_lane_create(requests->recorder);
    if (!lane) {
        requests->not_counted++;
        return;
    }
    if (__atomic_load_n(&requests->slow_cycles, __ATOMIC_RELAXED) != UINT64_MAX)
        aggstats_slow_begin(requests->recorder);
    requests->pending[requests->pending_count++] = (struct pending_request){
        .unique = record->unique,
        .pid = record->arrived.pid,
        .uid = record->arrived.uid,
        .thread = record->thread,
        .op = op,
        .node = record->node,
        .offset = record->arrived.offset,
        .asked_bytes = record->asked_bytes,
        .names = copy_names(request),
        .span = aggstats_lane_begin(requests->recorder, lane, op, record->node, record->arrived.pid, record->thread,
                                    record->time_cycles),
    };
}

/* ---- Answers ------------------------------------------------------------------------------------ */

static bool moves_bytes(enum wire_op op) {
    return op == WIRE_READ || op == WIRE_WRITE;
}

/* Learns names from an answer. */
static void learn(struct requests *requests, const struct pending_request *pending, uint64_t node) {
    const char *name = pending->names;
    if (!name)
        return;
    const char *second = name + strlen(name) + 1; /* of renames */
    switch (pending->op) {
    case WIRE_UNLINK:
    case WIRE_RMDIR:
        nodes_remove(&requests->nodes, pending->node, name);
        break;
    case WIRE_RENAME:
    case WIRE_RENAME2:
        nodes_move(&requests->nodes, pending->node, name, pending->offset, second);
        break;
    default:
        if (answers[pending->op] == WIRE_ENTRY)
            nodes_add(&requests->nodes, pending->node, name, node);
    }
}

static void take_answer(struct requests *requests, const struct request_record *record) {
    struct pending_request *pending = find_pending(requests, record);
    if (!pending)
        return;
    if (record->thread != pending->thread)
        __atomic_fetch_add(&requests->handed_over, 1, __ATOMIC_RELAXED);
    const int error = record->answered.error < 0 && record->answered.error > INT_MIN ? -record->answered.error : 0;
    const enum wire_answer answer = answers[pending->op];
    const struct aggstats_outcome outcome = {.error = error,
                                             .has_bytes = moves_bytes(pending->op),
                                             .asked_bytes = pending->asked_bytes,
                                             .moved_bytes = error != 0            ? 0
                                                            : answer == WIRE_DATA ? record->answered.body_bytes
                                                            : answer == WIRE_SIZE ? (uint32_t)record->node
                                                                                  : 0};
    const uint64_t latency_cycles = aggstats_end_at(requests->recorder, &pending->span, record->time_cycles, &outcome);
    const unsigned joint = __atomic_load_n(&requests->joint[pending->op], __ATOMIC_RELAXED);
    const uint64_t numbers[AGGSTATS_VALUE_COUNT] = {[AGGSTATS_SIZE] = outcome.asked_bytes,
                                                    [AGGSTATS_RESULT] = outcome.moved_bytes,
                                                    [AGGSTATS_OFFSET] = pending->offset,
                                                    [AGGSTATS_ERROR] = (uint64_t)error};
    for (unsigned value = 0; value < AGGSTATS_VALUE_COUNT; value++)
        if (joint & 1U << value)
            aggstats_joint_add(requests->recorder, pending->op, (enum aggstats_value)value, numbers[value],
                               latency_cycles);
    if (requests->is_grouped) {
        const struct aggstats_call_of of = {.thread = pending->pid, .uid = pending->uid, .object = pending->node};
        aggstats_group_add(requests->recorder, pending->op, &of, latency_cycles);
    }
    if (latency_cycles >= __atomic_load_n(&requests->slow_cycles, __ATOMIC_RELAXED)) {
        const struct aggstats_call call = {.latency_cycles = latency_cycles,
                                           .object = pending->node,
                                           .pid = pending->pid,
                                           .uid = pending->uid,
                                           .error = (uint64_t)error,
                                           .asked_bytes = outcome.asked_bytes,
                                           .moved_bytes = outcome.moved_bytes,
                                           .offset = moves_bytes(pending->op) ? pending->offset : 0};
        aggstats_slow_end(requests->recorder, &pending->span, pending->op, &call, NULL);
    }
    if (error == 0)
        learn(requests, pending, record->node);
    remove_pending(requests, pending);
}

/* ---- Other records ------------------------------------------------------------------------------ */

static void take_caller(struct requests *requests, const struct request *request) {
    const uint32_t thread = request->record.arrived.pid;
    struct seen_caller *caller = &requests->callers[thread % SEEN_CALLERS_MAX];
    pthread_mutex_lock(&requests->callers_lock);
    *caller = (struct seen_caller){.thread = thread, .process = (uint32_t)request->record.node};
    snprintf(caller->program, sizeof(caller->program), "%.*s", (int)sizeof(caller->program) - 1, request->names);
    pthread_mutex_unlock(&requests->callers_lock);
}

bool requests_identify_caller(void *context, uint32_t thread, struct aggstats_identity *ret_identity) {
    struct requests *requests = context;
    pthread_mutex_lock(&requests->callers_lock);
    const struct seen_caller caller = requests->callers[thread % SEEN_CALLERS_MAX];
    pthread_mutex_unlock(&requests->callers_lock);
    if (thread == 0 || caller.thread != thread)
        return process_identify_first(NULL, thread, ret_identity);
    *ret_identity = (struct aggstats_identity){.id = caller.process};
    snprintf(ret_identity->name, sizeof(ret_identity->name), "%s", caller.program);
    return true;
}

void requests_take(struct requests *requests, const struct request *request) {
    if (request->record.kind == REQUEST_ARRIVED)
        take_request(requests, request);
    else if (request->record.kind == REQUEST_ANSWERED)
        take_answer(requests, &request->record);
    else if (request->record.kind == REQUEST_CALLER)
        take_caller(requests, request);
    else if (request->record.kind == REQUEST_NAMED)
        nodes_add(&requests->nodes, request->record.arrived.offset, request->names, request->record.node);
}

void requests_note_lost(struct requests *requests, uint64_t lost_records) {
    const uint64_t lost = lost_records + requests->not_counted;
    if (lost > requests->lost)
        aggstats_recorder_add_lost(requests->recorder, lost - requests->lost);
    requests->lost = lost;
}

/* ---- Joint profiles ----------------------------------------------------------------------------- */

const char *requests_find_joint(const char *op_name, const char *value_name, unsigned *ret_op,
                                enum aggstats_value *ret_value) {
    const int value = aggstats_value_of_name(value_name);
    unsigned op = 0;
    while (op < WIRE_OP_COUNT && strcasecmp(op_name, wire_op_names[op]) != 0)
        op++;
    if (op == WIRE_OP_COUNT)
        return "no such operation";
    if (value != AGGSTATS_SIZE && value != AGGSTATS_RESULT && value != AGGSTATS_OFFSET && value != AGGSTATS_ERROR)
        return "the value must be size, result, offset or error";
    if (value != AGGSTATS_ERROR && !moves_bytes((enum wire_op)op))
        return "the operation has no such value";
    *ret_op = op;
    *ret_value = (enum aggstats_value)value;
    return NULL;
}
