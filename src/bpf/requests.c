/* The layers fuse, queue and block: names their operations, and loads programs/fuse.bpf.c and block.bpf.c. */
#include <errno.h>
#include <pthread.h>

#include "base.h"
#include "block.skel.h"
#include "collector_private.h"
#include "fuse.skel.h"
#include "wire_ops.h"

/* ---- Requests to FUSE daemons, named after the rows of WIRE_OPS ---------------------------------- */

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
static const char *fuse_ops[COLLECTED_OPCODES];
static unsigned fuse_op_count;
static struct collector_slot fuse_slots[2 * COLLECTED_OPCODES];
static uint64_t opcode_bits;
static pthread_once_t fuse_ops_once = PTHREAD_ONCE_INIT;

static void number_fuse_ops(void) {
    for (unsigned opcode = 0; opcode < COLLECTED_OPCODES; opcode++) {
        if (!opcode_names[opcode])
            continue;
        unsigned op = fuse_op_count;
        if (opcode == OPCODE_COPY_FILE_RANGE_64)
            op = fuse_slots[OPCODE_COPY_FILE_RANGE].op;
        else
            fuse_ops[fuse_op_count++] = opcode_names[opcode];
        opcode_bits |= UINT64_C(1) << opcode;
        fuse_slots[opcode] = (struct collector_slot){.lane = LANE_FUSE, .op = (unsigned char)op};
        fuse_slots[COLLECTED_OPCODES + opcode] = (struct collector_slot){.lane = LANE_QUEUE, .op = (unsigned char)op};
    }
}

static void destroy_fuse(void *programs) {
    fuse_bpf__destroy(programs);
}

int collector_start_fuse(const struct fuse_requests *requests, struct collector **ret_collector,
                         char ret_why[COLLECTOR_WHY_SIZE]) {
    struct fuse_bpf *programs = fuse_bpf__open();
    if (!programs)
        return loading_fail(negative_errno(), ret_why);
    pthread_once(&fuse_ops_once, number_fuse_ops);
    programs->rodata->counted_opcodes = opcode_bits;
    programs->rodata->connection_count = requests->connection_count;
    for (unsigned i = 0; i < requests->connection_count; i++) {
        *(volatile uint32_t *)&programs->rodata->connections[i] = requests->connections[i];
        programs->bss->is_begun[i] = requests->are_begun;
    }
    return collector_start(&(struct collector_programs){.programs = programs,
                                                        .skeleton = programs->skeleton,
                                                        .destroy = destroy_fuse,
                                                        .needs = {"fuse/fuse_request_send", "since Linux 6.11"},
                                                        .ops = fuse_ops,
                                                        .op_count = fuse_op_count,
                                                        .slots = fuse_slots},
                           ret_collector, ret_why);
}

bool collector_fuse_has_ended(const struct collector *collector) {
    const struct fuse_bpf *programs = collector_programs_of(collector);
    return __atomic_load_n(&programs->bss->has_ended[0], __ATOMIC_RELAXED);
}

/* ---- Requests to disks --------------------------------------------------------------------------- */

#define QUEUED(op) [COLLECTED_DISK_OPS + (op)]

static const char *const disk_ops[2 * COLLECTED_DISK_OPS] = {
    [COLLECTED_READ] = "READ",
    [COLLECTED_WRITE] = "WRITE",
    [COLLECTED_FLUSH] = "FLUSH",
    [COLLECTED_DISCARD] = "DISCARD",
    [COLLECTED_OTHER] = "OTHER",
    QUEUED(COLLECTED_READ) = "READ_QUEUED",
    QUEUED(COLLECTED_WRITE) = "WRITE_QUEUED",
    QUEUED(COLLECTED_FLUSH) = "FLUSH_QUEUED",
    QUEUED(COLLECTED_DISCARD) = "DISCARD_QUEUED",
    QUEUED(COLLECTED_OTHER) = "OTHER_QUEUED",
};

/* A slot is an operation. Those of the second half are the times that requests were queued. */
static const struct collector_slot disk_slots[2 * COLLECTED_DISK_OPS] = {
    {0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}, {0, 8}, {0, 9},
};

static void destroy_disks(void *programs) {
    block_bpf__destroy(programs);
}

int collector_start_disks(const struct disk_requests *requests, struct collector **ret_collector,
                          char ret_why[COLLECTOR_WHY_SIZE]) {
    struct block_bpf *programs = block_bpf__open();
    if (!programs)
        return loading_fail(negative_errno(), ret_why);
    programs->rodata->disk_count = requests->disk_count;
    for (unsigned i = 0; i < requests->disk_count; i++)
        *(volatile uint32_t *)&programs->rodata->disks[i] = requests->disks[i];
    return collector_start(&(struct collector_programs){.programs = programs,
                                                        .skeleton = programs->skeleton,
                                                        .destroy = destroy_disks,
                                                        .needs = {"block/block_rq_issue", "where it has block devices"},
                                                        .ops = disk_ops,
                                                        .op_count = ARRAY_SIZE(disk_ops),
                                                        .slots = disk_slots},
                           ret_collector, ret_why);
}
