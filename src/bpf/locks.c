/* Loads programs/locks.bpf.c, and reads its cells by waited_memory.h. Beside waits of chosen processes it shares
 * their map of processes. */
#include "locks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "locks.skel.h"
#include "waited_memory.h"

struct locks {
    struct locks_bpf *programs;
    struct bpf_link *waiting; /* an iterator over threads that are asleep for a lock */
    struct waited_memory memory;
};

/* ---- Beginning and end -------------------------------------------------------------------------- */

static int start(struct locks *locks, const struct waits *beside, char ret_why[COLLECTOR_WHY_SIZE]) {
    static const struct loading_needs needs = {"lock/contention_begin", "from Linux 5.19 on"};
    struct locks_bpf *programs = locks->programs;
    const struct bpf_map *processes = beside ? waits_processes(beside) : NULL;
    programs->rodata->own_process = (uint32_t)getpid();
    programs->rodata->has_processes = processes;
    if (processes)
        bpf_map__reuse_fd(programs->maps.watched_processes, bpf_map__fd(processes));
    int error = waited_start(programs->skeleton, programs->progs.waiting, &needs, &locks->waiting, ret_why);
    if (error)
        return error;
    locks->memory = (struct waited_memory)WAITED_MEMORY_OF(programs);
    programs->data->begin_ns = (uint64_t)read_clock_ns(CLOCK_MONOTONIC);
    return 0;
}

int locks_start(const struct waits *beside, struct locks **ret_locks, char ret_why[COLLECTOR_WHY_SIZE]) {
    struct locks *locks = calloc(1, sizeof(*locks));
    int error = locks ? 0 : -ENOMEM;
    if (locks)
        locks->programs = locks_bpf__open();
    if (locks && !locks->programs)
        error = negative_errno();
    if (error)
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s", strerror(-error));
    else
        error = start(locks, beside, ret_why);
    if (error)
        locks_finish(locks);
    else
        *ret_locks = locks;
    return error;
}

void locks_finish(struct locks *locks) {
    if (!locks)
        return;
    bpf_link__destroy(locks->waiting);
    locks_bpf__destroy(locks->programs);
    free(locks);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static void add_now(void *context, const void *record) {
    const struct locks_readers *readers = context;
    readers->now(readers->context, record);
}

int locks_read(struct locks *locks, const struct locks_readers *readers) {
    struct locks_readers copy = *readers;
    int error = waited_take_cells(&locks->memory, readers->ended, readers->context);
    return error || !readers->now ? error
                                  : waited_read_records(locks->waiting, sizeof(struct locked_now), add_now, &copy);
}

struct waits_losses locks_lost(const struct locks *locks) {
    return waited_lost(&locks->memory);
}

int locks_name_stack(struct locks *locks, uint64_t number, char **ret_functions) {
    return waited_name_stack(&locks->memory, number, ret_functions);
}
