/* Private: the maps and memory of programs that include waited_cells.h, as the collector reads them.
 * Cells are of two windows: programs count in one while the other is read and emptied. */
#ifndef WAITED_MEMORY_H
#define WAITED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "loading.h"
#include "waits.h"

struct bpf_link;
struct bpf_map;
struct bpf_program;

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
 * Owner:   the caller destroys *ret_waiting, also if it fails
 * Errors:  -errno, with *ret_why filled */
int waited_start(struct bpf_object_skeleton *skeleton, struct bpf_program *waiting, const struct loading_needs *needs,
                 struct bpf_link **ret_waiting, char ret_why[COLLECTOR_WHY_SIZE]);

/* As waits_read(), of what has ended. */
int waited_take_cells(const struct waited_memory *memory, waits_ended_fn *ended, void *context);

/* Calls add for each record of that size that the iterator writes. Errors: those of bpf(2) and read(2) */
int waited_read_records(const struct bpf_link *iterator, size_t record_bytes,
                        void (*add)(void *context, const void *record), void *context);

/* The map of the processes that are watched; NULL: all are. Owner: waits */
const struct bpf_map *waits_processes(const struct waits *waits);

/* As waits_name_stack(). */
int waited_name_stack(const struct waited_memory *memory, uint64_t number, char **ret_functions);

/* As waits_lost(). */
struct waits_losses waited_lost(const struct waited_memory *memory);

#endif
