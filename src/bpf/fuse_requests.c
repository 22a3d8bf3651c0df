/* The layers fuse and queue: names their operations after the rows of WIRE_OPS, and loads programs/fuse.bpf.c. The
 * tables are made once and never change. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base.h"
#include "collector_private.h"
#include "fuse.skel.h"
#include "wire_ops.h"

/* ---- Operations --------------------------------------------------------------------------------- */

#define NAME_OF_ROW(OPCODE, NAME, NAMES, ANSWER) [OPCODE] = #NAME,
static const char *const opcode_names[COLLECTED_OPCODES] = {
    WIRE_OPS(NAME_OF_ROW)[26] = "INIT",
    [38] = "DESTROY",
};

/* Two forms of one operation. */
#define OPCODE_COPY_FILE_RANGE 47
#define OPCODE_COPY_FILE_RANGE_64 53

enum { LANE_FUSE, LANE_QUEUE };

/* Made of the above, once. */
static const char *ops[COLLECTED_OPCODES];
static unsigned op_count;
static struct collector_slot slots[2 * COLLECTED_OPCODES];
static uint64_t opcode_bits;
static pthread_once_t ops_once = PTHREAD_ONCE_INIT;

static void number_ops(void) {
    for (unsigned opcode = 0; opcode < COLLECTED_OPCODES; opcode++) {
        if (!opcode_names[opcode])
            continue;
        unsigned op = op_count;
        if (opcode == OPCODE_COPY_FILE_RANGE_64)
            op = slots[OPCODE_COPY_FILE_RANGE].op;
        else
            ops[op_count++] = opcode_names[opcode];
        opcode_bits |= UINT64_C(1) << opcode;
        slots[opcode] = (struct collector_slot){.lane = LANE_FUSE, .op = (unsigned char)op};
        slots[COLLECTED_OPCODES + opcode] = (struct collector_slot){.lane = LANE_QUEUE, .op = (unsigned char)op};
    }
}

/* ---- Programs ----------------------------------------------------------------------------------- */

static void set(struct fuse_bpf *programs, const struct fuse_requests *requests) {
    programs->rodata->counted_opcodes = opcode_bits;
    programs->rodata->connection_count = requests->connection_count;
    for (unsigned i = 0; i < requests->connection_count; i++) {
        *(volatile uint32_t *)&programs->rodata->connections[i] = requests->connections[i];
        programs->bss->is_begun[i] = requests->are_begun;
    }
}

static void destroy(void *programs) {
    fuse_bpf__destroy(programs);
}

int collector_start_fuse(const struct fuse_requests *requests, struct collector **ret_collector,
                         char ret_why[COLLECTOR_WHY_SIZE]) {
    struct fuse_bpf *programs = fuse_bpf__open();
    if (!programs) {
        int error = negative_errno();
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s", strerror(-error));
        return error;
    }
    pthread_once(&ops_once, number_ops);
    set(programs, requests);
    return collector_start(&(struct collector_programs){.programs = programs,
                                                        .skeleton = programs->skeleton,
                                                        .destroy = destroy,
                                                        .needs = {"fuse/fuse_request_send", "since Linux 6.11"},
                                                        .ops = ops,
                                                        .op_count = op_count,
                                                        .slots = slots},
                           ret_collector, ret_why);
}

bool collector_fuse_has_ended(const struct collector *collector) {
    const struct fuse_bpf *programs = collector_programs_of(collector);
    return __atomic_load_n(&programs->bss->has_ended[0], __ATOMIC_RELAXED);
}
