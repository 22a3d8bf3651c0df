/* From requests and answers to calls: matches answers to requests, and counts both in a recorder. Requests without an
 * answer are calls in flight, each in a lane of its own. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include "aggstats.h"
#include "aggstats/caller_groups.h"
#include "nodes.h"
#include "ring_reader.h"
#include "wire_ops.h"

#define REQUESTS_MAX 1024 /* without an answer; if there are more, the oldest is taken to have lost its answer */

#define SEEN_CALLERS_MAX 4096U

struct pending_request {
    uint64_t unique;
    uint32_t pid;
    uint32_t uid;
    uint32_t thread; /* of the daemon; it has taken the request */
    enum wire_op op;
    uint64_t node;
    uint64_t offset; /* or the second node of the request */
    uint64_t asked_bytes;
    char *names; /* NULL: none; else one or two, each with its NUL */
    struct aggstats_span span;
};

struct requests {
    struct aggstats_recorder *recorder; /* borrowed; its ops are wire_op_names */
    struct nodes nodes;
    pthread_mutex_t callers_lock; /* of `callers` alone; the rest is used under the lock of the observer */
    struct seen_caller {
        uint32_t thread; /* 0: none */
        uint32_t process;
        char program[AGGSTATS_PROGRAM_SIZE];
    } callers[SEEN_CALLERS_MAX]; /* thread number n is at n % SEEN_CALLERS_MAX: the last one counts */
    struct pending_request pending[REQUESTS_MAX];
    size_t pending_count;
    struct aggstats_block *lanes[REQUESTS_MAX]; /* the free ones */
    size_t lane_count;
    bool is_grouped;
    unsigned joint[WIRE_OP_COUNT]; /* atomic; values that latencies are correlated with, as bits */
    uint64_t slow_cycles;          /* atomic; UINT64_MAX: none is slow */
    uint64_t not_counted;          /* requests whose answers were not found, or for which there was no memory */
    uint64_t lost;                 /* the part that the recorder knows */
    uint64_t handed_over;          /* atomic; requests that one thread took and another answered */
};

extern const char *const wire_op_names[WIRE_OP_COUNT];

/* Errors: -ENOMEM */
int requests_init(struct requests *requests, struct aggstats_recorder *recorder);
void requests_finish(struct requests *requests);

/* Counts a record of the mount; records of other kinds do nothing. Threads: one at a time */
void requests_take(struct requests *requests, const struct request *request);

/* As process_identify_first(), for a caller that may have ended by now: most commands have ended when their requests are
 * counted, a moment later. So the daemon's preloaded object reports each caller while it waits for its first answer.
 * An aggstats_identify_fn; context: a struct requests.
 * Threads: any */
bool requests_identify_caller(void *context, uint32_t thread, struct aggstats_identity *ret_identity);

/* Reports to the recorder what has been lost since the last time. lost_records: by the ring, in all.
 * Threads: as requests_take() */
void requests_note_lost(struct requests *requests, uint64_t lost_records);

/* Finds an op and one of its values by their names, in letters of either case.
 * Returns NULL, or what is wrong with them */
const char *requests_find_joint(const char *op_name, const char *value_name, unsigned *ret_op,
                                enum aggstats_value *ret_value);

#endif
