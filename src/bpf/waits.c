/* Cells are of two windows: programs count in one while the other is read and emptied. */
#include "waits.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "loading.h"
#include "waits.skel.h"

#define CELLS_TOGETHER 256U
#define WAITING_TOGETHER 64

struct waits {
    struct waits_bpf *programs;
    struct bpf_link *waiting; /* an iterator over threads that wait */
};

/* ---- Beginning and end -------------------------------------------------------------------------- */

static int start(struct waits *waits, char ret_why[COLLECTOR_WHY_SIZE]) {
    static const struct loading_needs needs = {"sched/sched_switch", "in all of them"};
    struct bpf_object_skeleton *skeleton = waits->programs->skeleton;
    waits->programs->rodata->own_process = (uint32_t)getpid();
    bpf_program__set_autoattach(waits->programs->progs.waiting, false);
    int error = loading_load(skeleton, &needs, ret_why);
    if (error)
        return error;
    waits->waiting = bpf_program__attach_iter(waits->programs->progs.waiting, NULL);
    error = waits->waiting ? 0 : negative_errno();
    if (error)
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "the kernel does not walk its threads: %s", strerror(-error));
    if (error == 0)
        error = loading_attach(skeleton, &needs, ret_why);
    waits->programs->data->begin_ns = (uint64_t)read_clock_ns(CLOCK_MONOTONIC);
    return error;
}

int64_t waits_begin_ns(const struct waits *waits) {
    return (int64_t)waits->programs->data->begin_ns;
}

int waits_start(struct waits **ret_waits, char ret_why[COLLECTOR_WHY_SIZE]) {
    struct waits *waits = calloc(1, sizeof(*waits));
    int error = waits ? 0 : -ENOMEM;
    if (waits)
        waits->programs = waits_bpf__open();
    if (waits && !waits->programs)
        error = negative_errno();
    if (error)
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s", strerror(-error));
    else
        error = start(waits, ret_why);
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

uint64_t waits_lost(const struct waits *waits) {
    return __atomic_load_n(&waits->programs->bss->lost, __ATOMIC_RELAXED) +
           loading_count_skipped(waits->programs->skeleton);
}

/* ---- Cells -------------------------------------------------------------------------------------- */

/* From now on programs count in the other window. When the kernel changes a map of maps it waits until no program uses it
 * any more that began before.
 * Returns a descriptor of the window that was in use; or errors of bpf(2) */
static int switch_window(struct waits *waits) {
    const unsigned old = waits->programs->bss->current_window;
    const int cells = bpf_map__fd(old == 0 ? waits->programs->maps.cells_a : waits->programs->maps.cells_b);
    __atomic_store_n(&waits->programs->bss->current_window, 1 - old, __ATOMIC_SEQ_CST);
    return bpf_map_update_elem(bpf_map__fd(waits->programs->maps.cells_of_windows), &old, &cells, BPF_ANY) < 0
               ? negative_errno()
               : cells;
}

static int take_cells(struct waits *waits, const struct waits_readers *readers) {
    static_assert(sizeof(struct waited_cell) == 72, "a cell has no padding");
    struct waited_cell cells[CELLS_TOGETHER];
    struct waited_sum sums[CELLS_TOGETHER];
    unsigned place = 0; /* of the map's, opaque */
    bool is_first = true;
    int result = 0;
    const int window = switch_window(waits);
    if (window < 0)
        return window;
    while (result == 0) {
        unsigned count = CELLS_TOGETHER;
        result = bpf_map_lookup_and_delete_batch(window, is_first ? NULL : &place, &place, cells, sums, &count, NULL);
        if (result < 0 && errno != ENOENT) /* that is the end */
            return negative_errno();
        for (unsigned i = 0; i < count; i++)
            readers->ended(readers->context, &cells[i], &sums[i]);
        is_first = false;
    }
    return 0;
}

/* ---- Threads that wait ---------------------------------------------------------------------------- */

static int read_waiting(const struct waits *waits, const struct waits_readers *readers) {
    struct waiting_now now[WAITING_TOGETHER];
    CLEANUP_FD int fd = bpf_iter_create(bpf_link__fd(waits->waiting));
    size_t used = 0;
    if (fd < 0)
        return negative_errno();
    for (;;) {
        const ssize_t got = read(fd, (char *)now + used, sizeof(now) - used);
        if (got < 0 && errno == EAGAIN)
            continue; /* it has walked for long */
        if (got <= 0)
            return got < 0 ? negative_errno() : 0;
        used += (size_t)got;
        const size_t count = used / sizeof(now[0]);
        for (size_t i = 0; i < count; i++)
            readers->now(readers->context, &now[i]);
        used %= sizeof(now[0]);
        memmove(now, &now[count], used);
    }
}

int waits_read(struct waits *waits, const struct waits_readers *readers) {
    int error = take_cells(waits, readers);
    return error || !readers->now ? error : read_waiting(waits, readers);
}

/* ---- Stacks ------------------------------------------------------------------------------------- */

int waits_name_stack(struct waits *waits, uint64_t number, char **ret_functions) {
    struct bpf_test_run_opts run = {.sz = sizeof(run)};
    struct waits_bpf__bss *memory = waits->programs->bss;
    struct waited_stack stack;
    if (bpf_map_lookup_elem(bpf_map__fd(waits->programs->maps.stacks), &number, &stack) < 0)
        return negative_errno();
    memset(memory->asked_addresses, 0, sizeof(memory->asked_addresses));
    for (unsigned i = 0; i < stack.count && i < WAITED_FRAMES; i++)
        memory->asked_addresses[i] = stack.frames[i];
    if (bpf_prog_test_run_opts(bpf_program__fd(waits->programs->progs.name_functions), &run) < 0)
        return negative_errno();
    CLEANUP_FREE char *text = calloc(stack.count + 1, WAITED_FUNCTION_BYTES);
    if (!text)
        return -ENOMEM;
    char *end = text;
    for (unsigned i = 0; i < stack.count && i < WAITED_FRAMES; i++) {
        memory->function_names[i][WAITED_FUNCTION_BYTES - 1] = '\0';
        end = stpcpy(stpcpy(end, memory->function_names[i]), "\n");
    }
    *ret_functions = steal_pointer(&text);
    return 0;
}
