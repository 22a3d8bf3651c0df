/* Reads the windows, records and stacks that programs with waited_cells.h make. A stack is named by a program in the
 * kernel: its addresses need not be readable here. */
#include "waited_memory.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "windows.h"

#define CELLS_TOGETHER 256U
#define RECORDS_BYTES 8192U

int waited_start(struct bpf_object_skeleton *skeleton, struct bpf_program *waiting, const struct loading_needs *needs,
                 struct bpf_link **ret_waiting, char ret_why[COLLECTOR_WHY_SIZE]) {
    if (!collector_has_process_numbers()) {
        snprintf(ret_why, COLLECTOR_WHY_SIZE,
                 "osprof must run outside of this PID namespace, where processes have other numbers");
        return -EXDEV;
    }
    bpf_program__set_autoattach(waiting, false);
    int error = loading_load(skeleton, needs, ret_why);
    if (error)
        return error;
    struct bpf_link *link = bpf_program__attach_iter(waiting, NULL);
    error = link ? 0 : negative_errno();
    if (error)
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "the kernel does not walk its threads: %s", strerror(-error));
    else
        *ret_waiting = link;
    return error ? error : loading_attach(skeleton, needs, ret_why);
}

struct waits_losses waited_lost(const struct waited_memory *memory) {
    return (struct waits_losses){.no_room = __atomic_load_n(memory->lost, __ATOMIC_RELAXED),
                                 .skipped = loading_count_skipped(memory->skeleton)};
}

/* ---- Cells -------------------------------------------------------------------------------------- */

/* From now on programs count in the other window.
 * Returns a descriptor of the window that was in use; or errors of bpf(2) */
static int switch_window(const struct waited_memory *memory) {
    const unsigned old = *memory->current_window;
    const int cells = memory->cells[old];
    __atomic_store_n(memory->current_window, 1 - old, __ATOMIC_SEQ_CST);
    const int error = windows_wait(memory->cells_of_windows, old, cells);
    return error ? error : cells;
}

struct taking {
    struct waited_cell cells[CELLS_TOGETHER];
    struct waited_sum sums[CELLS_TOGETHER];
    waits_ended_fn *ended;
    void *context;
};

static void end_cells(void *context, unsigned count) {
    const struct taking *taking = context;
    for (unsigned i = 0; i < count; i++)
        taking->ended(taking->context, &taking->cells[i], &taking->sums[i]);
}

int waited_take_cells(const struct waited_memory *memory, waits_ended_fn *ended, void *context) {
    static_assert(sizeof(struct waited_cell) == 64, "a cell has no padding");
    struct taking taking = {.ended = ended, .context = context};
    const int window = switch_window(memory);
    return window < 0 ? window : windows_empty(window, taking.cells, taking.sums, CELLS_TOGETHER, end_cells, &taking);
}

/* ---- Threads that wait ---------------------------------------------------------------------------- */

int waited_read_records(const struct bpf_link *iterator, size_t record_bytes,
                        void (*add)(void *context, const void *record), void *context) {
    _Alignas(max_align_t) char records[RECORDS_BYTES];
    CLEANUP_FD int fd = bpf_iter_create(bpf_link__fd(iterator));
    size_t used = 0;
    if (fd < 0)
        return negative_errno();
    for (;;) {
        const ssize_t got = read(fd, records + used, sizeof(records) / record_bytes * record_bytes - used);
        if (got < 0 && errno == EAGAIN)
            continue; /* it has walked for long */
        if (got <= 0)
            return got < 0 ? negative_errno() : 0;
        used += (size_t)got;
        size_t place = 0;
        for (; place + record_bytes <= used; place += record_bytes)
            add(context, &records[place]);
        used -= place;
        memmove(records, &records[place], used);
    }
}

/* ---- Stacks ------------------------------------------------------------------------------------- */

int waited_name_stack(const struct waited_memory *memory, uint64_t number, char **ret_functions) {
    struct bpf_test_run_opts run = {.sz = sizeof(run)};
    struct waited_stack stack;
    if (bpf_map_lookup_elem(memory->stacks, &number, &stack) < 0)
        return negative_errno();
    memset(memory->asked_addresses, 0, WAITED_FRAMES * sizeof(memory->asked_addresses[0]));
    for (unsigned i = 0; i < stack.count && i < WAITED_FRAMES; i++)
        memory->asked_addresses[i] = stack.frames[i];
    if (bpf_prog_test_run_opts(memory->name_functions, &run) < 0)
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
