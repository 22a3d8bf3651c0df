/* The layer block: names its operations, and loads programs/block.bpf.c. The slots of the second half are the times
 * that requests were queued. */
#include <errno.h>
#include <string.h>

#include "base.h"
#include "block.skel.h"
#include "collector_private.h"

#define QUEUED(op) [COLLECTED_DISK_OPS + (op)]

static const char *const ops[2 * COLLECTED_DISK_OPS] = {
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

/* A slot is an operation. */
static const struct collector_slot slots[2 * COLLECTED_DISK_OPS] = {
    {0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}, {0, 8}, {0, 9},
};

static void set(struct block_bpf *programs, const struct disk_requests *requests) {
    programs->rodata->disk_count = requests->disk_count;
    for (unsigned i = 0; i < requests->disk_count; i++)
        *(volatile uint32_t *)&programs->rodata->disks[i] = requests->disks[i];
}

static void destroy(void *programs) {
    block_bpf__destroy(programs);
}

int collector_start_disks(const struct disk_requests *requests, struct collector **ret_collector,
                          char ret_why[COLLECTOR_WHY_SIZE]) {
    struct block_bpf *programs = block_bpf__open();
    if (!programs) {
        int error = negative_errno();
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s", strerror(-error));
        return error;
    }
    set(programs, requests);
    return collector_start(&(struct collector_programs){.programs = programs,
                                                        .skeleton = programs->skeleton,
                                                        .destroy = destroy,
                                                        .needs = {"block/block_rq_issue", "where it has block devices"},
                                                        .ops = ops,
                                                        .op_count = ARRAY_SIZE(ops),
                                                        .slots = slots},
                           ret_collector, ret_why);
}
