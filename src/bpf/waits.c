/* Loads programs/waits.bpf.c, and reads its cells by waited_memory.h; chosen processes are those of process_set.h. */
#include "waits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "process_set.h"
#include "waited_memory.h"
#include "waits.skel.h"

struct waits {
    struct waits_bpf *programs;
    struct bpf_link *waiting; /* an iterator over threads that wait */
    struct waited_memory memory;
    struct process_set processes;
};

/* ---- Beginning and end -------------------------------------------------------------------------- */

static int start(struct waits *waits, const struct process_numbers *of, char ret_why[COLLECTOR_WHY_SIZE]) {
    static const struct loading_needs needs = {"sched/sched_switch", "in all of them"};
    struct waits_bpf *programs = waits->programs;
    programs->rodata->own_process = (uint32_t)getpid();
    programs->rodata->has_processes = of->count > 0;
    process_set_choose(programs->obj, of);
    int error = waited_start(programs->skeleton, programs->progs.waiting, &needs, &waits->waiting, ret_why);
    if (error)
        return error;
    waits->memory = (struct waited_memory)WAITED_MEMORY_OF(programs);
    waits->processes = (struct process_set)PROCESS_SET_OF(programs);
    error = process_set_watch(&waits->processes, of);
    if (error) {
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "cannot watch these processes: %s", strerror(-error));
        return error;
    }
    programs->data->begin_ns = (uint64_t)read_clock_ns(CLOCK_MONOTONIC);
    return 0;
}

int64_t waits_begin_ns(const struct waits *waits) {
    return (int64_t)waits->programs->data->begin_ns;
}

int waits_start(const struct process_numbers *of, struct waits **ret_waits, char ret_why[COLLECTOR_WHY_SIZE]) {
    struct waits *waits = calloc(1, sizeof(*waits));
    int error = waits ? 0 : -ENOMEM;
    if (waits)
        waits->programs = waits_bpf__open();
    if (waits && !waits->programs)
        error = negative_errno();
    if (error)
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s", strerror(-error));
    else
        error = start(waits, of, ret_why);
    if (error)
        waits_finish(waits);
    else
        *ret_waits = waits;
    return error;
}

void waits_finish(struct waits *waits) {
    if (!waits)
        return;
    bpf_link__destroy(waits->waiting);
    waits_bpf__destroy(waits->programs);
    free(waits);
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static void add_now(void *context, const void *record) {
    const struct waits_readers *readers = context;
    readers->now(readers->context, record);
}

int waits_read(struct waits *waits, const struct waits_readers *readers) {
    struct waits_readers copy = *readers;
    int error = waited_take_cells(&waits->memory, readers->ended, readers->context);
    return error || !readers->now ? error
                                  : waited_read_records(waits->waiting, sizeof(struct waiting_now), add_now, &copy);
}

struct waits_losses waits_lost(const struct waits *waits) {
    struct waits_losses losses = waited_lost(&waits->memory);
    losses.processes = process_set_lost(&waits->processes);
    return losses;
}

const struct bpf_map *waits_processes(const struct waits *waits) {
    return waits->programs->rodata->has_processes ? waits->processes.processes : NULL;
}

int waits_name_stack(struct waits *waits, uint64_t number, char **ret_functions) {
    return waited_name_stack(&waits->memory, number, ret_functions);
}
