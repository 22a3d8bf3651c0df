/* Loads programs/waits.bpf.c and locks.bpf.c, and reads the windows, records and stacks that programs with
 * waited_cells.h make. Chosen processes are those of process_set.h; beside waits of chosen processes, the programs of
 * locks share their map of processes. */
#include "waits.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "collector_private.h"
#include "locks.h"
#include "locks.skel.h"
#include "process_set.h"
#include "waits.skel.h"

#define CELLS_TOGETHER 256U
#define RECORDS_BYTES 8192U

/* ---- What both have in common -------------------------------------------------------------------- */

/* The maps and memory of programs that include waited_cells.h. Cells are of two windows: programs count in one while the
 * other is read and emptied. */
struct waited_memory {
    int cells[WAITED_WINDOWS]; /* descriptors of maps, borrowed like all here */
    int cells_of_windows;
    int stacks;
    int name_functions; /* of the program */
    unsigned *current_window;
    unsigned long long *asked_addresses;           /* [WAITED_FRAMES] */
    char (*function_names)[WAITED_FUNCTION_BYTES]; /* the same */
    const unsigned long long *lost;
    const struct bpf_object_skeleton *skeleton;
};

/* Of a skeleton that is loaded. */
#define WAITED_MEMORY_OF(programs)                                                                                     \
    {                                                                                                                  \
        {bpf_map__fd((programs)->maps.cells_a), bpf_map__fd((programs)->maps.cells_b)},                                \
            bpf_map__fd((programs)->maps.cells_of_windows), bpf_map__fd((programs)->maps.stacks),                      \
            bpf_program__fd((programs)->progs.name_functions), &(programs)->bss->current_window,                       \
            (unsigned long long *)(programs)->bss->asked_addresses, (programs)->bss->function_names,                   \
            (unsigned long long *)&(programs)->bss->lost, (programs)->skeleton                                         \
    }

/* Loads and attaches; not in a PID namespace of its own.
 * waiting: an iterator over threads
 * Owner:   the caller destroys *ret_waiting, also if it fails */
static int start(struct bpf_object_skeleton *skeleton, struct bpf_program *waiting, const struct loading_needs *needs,
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

static struct waits_losses losses_of(const struct waited_memory *memory) {
    return (struct waits_losses){.no_room = __atomic_load_n(memory->lost, __ATOMIC_RELAXED),
                                 .skipped = loading_count_skipped(memory->skeleton)};
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

/* As waits_read(), of what has ended: from now on programs count in the other window. */
static int take_cells(const struct waited_memory *memory, waits_ended_fn *ended, void *context) {
    static_assert(sizeof(struct waited_cell) == 64, "a cell has no padding");
    struct taking taking = {.ended = ended, .context = context};
    const unsigned old = *memory->current_window;
    __atomic_store_n(memory->current_window, 1 - old, __ATOMIC_SEQ_CST);
    const int error = windows_wait(memory->cells_of_windows, old, memory->cells[old]);
    return error ? error
                 : windows_empty(memory->cells[old], taking.cells, taking.sums, CELLS_TOGETHER, end_cells, &taking);
}

/* Calls add() for each record of that size that the iterator writes. Errors: those of bpf(2) and read(2) */
static int read_records(const struct bpf_link *iterator, size_t record_bytes,
                        void (*add)(const void *readers, const void *record), const void *readers) {
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
            add(readers, &records[place]);
        used -= place;
        memmove(records, &records[place], used);
    }
}

/* As waits_name_stack(). */
static int name_stack(const struct waited_memory *memory, uint64_t number, char **ret_functions) {
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

/* ---- Waits -------------------------------------------------------------------------------------- */

struct waits {
    struct waits_bpf *programs;
    struct bpf_link *waiting; /* an iterator over threads that wait */
    struct waited_memory memory;
    struct process_set processes;
};

int64_t waits_begin_ns(const struct waits *waits) {
    return (int64_t)waits->programs->data->begin_ns;
}

int waits_start(const struct process_numbers *of, struct waits **ret_waits, char ret_why[COLLECTOR_WHY_SIZE]) {
    static const struct loading_needs needs = {"sched/sched_switch", "in all of them"};
    struct waits *waits = calloc(1, sizeof(*waits));
    struct waits_bpf *programs = waits ? waits_bpf__open() : NULL;
    if (!programs) {
        int error = negative_errno();
        free(waits);
        return loading_fail(error, ret_why);
    }
    waits->programs = programs;
    programs->rodata->own_process = (uint32_t)getpid();
    programs->rodata->has_processes = of->count > 0;
    process_set_choose(programs->obj, of);
    int error = start(programs->skeleton, programs->progs.waiting, &needs, &waits->waiting, ret_why);
    if (error == 0) {
        waits->memory = (struct waited_memory)WAITED_MEMORY_OF(programs);
        waits->processes = (struct process_set)PROCESS_SET_OF(programs);
        error = process_set_watch(&waits->processes, of);
        if (error)
            snprintf(ret_why, COLLECTOR_WHY_SIZE, "cannot watch these processes: %s", strerror(-error));
    }
    if (error) {
        waits_finish(waits);
        return error;
    }
    programs->data->begin_ns = (uint64_t)read_clock_ns(CLOCK_MONOTONIC);
    *ret_waits = waits;
    return 0;
}

void waits_finish(struct waits *waits) {
    if (!waits)
        return;
    bpf_link__destroy(waits->waiting);
    waits_bpf__destroy(waits->programs);
    free(waits);
}

static void add_waiting(const void *readers, const void *record) {
    const struct waits_readers *to = readers;
    to->now(to->context, record);
}

int waits_read(struct waits *waits, const struct waits_readers *readers) {
    int error = take_cells(&waits->memory, readers->ended, readers->context);
    if (error || !readers->now)
        return error;
    return read_records(waits->waiting, sizeof(struct waiting_now), add_waiting, readers);
}

struct waits_losses waits_lost(const struct waits *waits) {
    struct waits_losses losses = losses_of(&waits->memory);
    losses.processes = process_set_lost(&waits->processes);
    return losses;
}

int waits_name_stack(struct waits *waits, uint64_t number, char **ret_functions) {
    return name_stack(&waits->memory, number, ret_functions);
}

/* ---- Locks -------------------------------------------------------------------------------------- */

struct locks {
    struct locks_bpf *programs;
    struct bpf_link *waiting; /* an iterator over threads that are asleep for a lock */
    struct waited_memory memory;
};

int locks_start(const struct waits *beside, struct locks **ret_locks, char ret_why[COLLECTOR_WHY_SIZE]) {
    static const struct loading_needs needs = {"lock/contention_begin", "from Linux 5.19 on"};
    struct locks *locks = calloc(1, sizeof(*locks));
    struct locks_bpf *programs = locks ? locks_bpf__open() : NULL;
    if (!programs) {
        int error = negative_errno();
        free(locks);
        return loading_fail(error, ret_why);
    }
    locks->programs = programs;
    programs->rodata->own_process = (uint32_t)getpid();
    programs->rodata->has_processes = beside && beside->programs->rodata->has_processes;
    if (programs->rodata->has_processes)
        bpf_map__reuse_fd(programs->maps.watched_processes, bpf_map__fd(beside->processes.processes));
    int error = start(programs->skeleton, programs->progs.waiting, &needs, &locks->waiting, ret_why);
    if (error) {
        locks_finish(locks);
        return error;
    }
    locks->memory = (struct waited_memory)WAITED_MEMORY_OF(programs);
    programs->data->begin_ns = (uint64_t)read_clock_ns(CLOCK_MONOTONIC);
    *ret_locks = locks;
    return 0;
}

void locks_finish(struct locks *locks) {
    if (!locks)
        return;
    bpf_link__destroy(locks->waiting);
    locks_bpf__destroy(locks->programs);
    free(locks);
}

static void add_locked(const void *readers, const void *record) {
    const struct locks_readers *to = readers;
    to->now(to->context, record);
}

int locks_read(struct locks *locks, const struct locks_readers *readers) {
    int error = take_cells(&locks->memory, readers->ended, readers->context);
    if (error || !readers->now)
        return error;
    return read_records(locks->waiting, sizeof(struct locked_now), add_locked, readers);
}

struct waits_losses locks_lost(const struct locks *locks) {
    return losses_of(&locks->memory);
}

int locks_name_stack(struct locks *locks, uint64_t number, char **ret_functions) {
    return name_stack(&locks->memory, number, ret_functions);
}
