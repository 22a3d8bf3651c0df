/* From requests and answers to calls: which answer is to which request, and counting both in a recorder. Requests that
 * wait for their answers are calls in flight, each in a lane of its own. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include "aggstats.h"
#include "nodes.h"
#include "ring_reader.h"
#include "seen_callers.h"
#include "wire_ops.h"

#define REQUESTS_MAX 1024 /* that wait for their answers: of more, the oldest is taken to have lost its own */

struct pending_request {
    uint64_t unique;
    uint32_t pid;
    uint32_t uid;
    uint32_t thread; /* of the daemon, that has taken it */
    enum wire_op op;
    uint64_t node;
    uint64_t offset; /* or the other node that it names */
    uint64_t asked_bytes;
    char *names; /* NULL: none; else one or two, each with its NUL */
    struct aggstats_span span;
};

struct requests {
    struct aggstats_recorder *recorder; /* borrowed; its ops are wire_op_names */
    struct nodes nodes;
    struct seen_callers callers;
    struct pending_request pending[REQUESTS_MAX];
    size_t pending_count;
    struct aggstats_block *lanes[REQUESTS_MAX]; /* that are free */
    size_t lane_count;
    bool is_grouped;
    unsigned joint[WIRE_OP_COUNT]; /* atomic; values that latencies are related to, as bits */
    uint64_t slow_cycles;          /* atomic; UINT64_MAX: none is slow */
    uint64_t not_counted;          /* requests whose answers were not found, or for which there was no memory */
    uint64_t lost;                 /* of which the recorder has been told */
    uint64_t handed_over;          /* atomic; those that another thread has answered than the one that took them */
};

extern const char *const wire_op_names[WIRE_OP_COUNT];

/* Errors: -ENOMEM */
int requests_init(struct requests *requests, struct aggstats_recorder *recorder);
void requests_finish(struct requests *requests);

/* Counts what a record of the mount tells; those that are none of a request do nothing. Threads: one at a time */
void requests_take(struct requests *requests, const struct request *request);

/* Tells the recorder of what has been lost since the last time. lost_records: by the ring, in all.
 * Threads: as requests_take() */
void requests_note_lost(struct requests *requests, uint64_t lost_records);

/* Finds an op and one of its values by their names, in letters of either case.
 * Returns NULL, or what is wrong with them */
const char *requests_find_joint(const char *op_name, const char *value_name, enum wire_op *ret_op,
                                enum aggstats_value *ret_value);

#endif
