/* Puts processes into the map of watched processes. The kernel's programs keep it up to date; descendants that exist
 * already are found by walks over all threads, repeated until a walk finds no more. */
#include "process_set.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "base.h"
#include "process_set_shared.h"

void process_set_choose(struct bpf_object *programs, const struct process_numbers *some) {
    static const char *const names[] = {"process_fork", "process_exit", "process_free", "list_processes"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        bpf_program__set_autoload(bpf_object__find_program_by_name(programs, names[i]), some->count > 0);
    bpf_program__set_autoattach(bpf_object__find_program_by_name(programs, "list_processes"), false);
}

int process_set_add(const struct process_set *set, uint32_t process) {
    const struct process_of_set unknown = {.begin_ns = PROCESS_BEGAN_UNKNOWN};
    return bpf_map_update_elem(bpf_map__fd(set->processes), &process, &unknown, BPF_ANY) < 0 ? negative_errno() : 0;
}

void process_set_remove(const struct process_set *set, uint32_t process) {
    bpf_map_delete_elem(bpf_map__fd(set->processes), &process);
}

/* Calls the program for each thread of the machine. */
static int walk(const struct process_set *set) {
    char nothing[1];
    struct bpf_link *link = bpf_program__attach_iter(set->walk, NULL);
    if (!link)
        return negative_errno();
    CLEANUP_FD int fd = bpf_iter_create(bpf_link__fd(link));
    ssize_t length = fd < 0 ? -1 : 1;
    while (length > 0 || (length < 0 && fd >= 0 && errno == EAGAIN))
        length = read(fd, nothing, sizeof(nothing));
    const int error = length < 0 ? negative_errno() : 0;
    bpf_link__destroy(link);
    return error;
}

/* A descendant is found by an ancestor that is known already. A longer line takes several walks. A process that no walk
 * has found is removed: its number may be given to another process. */
int process_set_watch(const struct process_set *set, const struct process_numbers *some) {
    const int processes = bpf_map__fd(set->processes);
    struct process_of_set entry;
    int error = 0;
    for (unsigned i = 0; i < some->count && error == 0; i++)
        error = process_set_add(set, some->numbers[i]);
    if (error || some->count == 0)
        return error;
    do {
        __atomic_store_n(set->found, 0, __ATOMIC_RELAXED);
        error = walk(set);
    } while (error == 0 && __atomic_load_n(set->found, __ATOMIC_RELAXED) > 0);
    __atomic_store_n(set->are_listed, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < some->count && error == 0; i++)
        if (bpf_map_lookup_elem(processes, &some->numbers[i], &entry) == 0 && entry.begin_ns == PROCESS_BEGAN_UNKNOWN)
            process_set_remove(set, some->numbers[i]);
    return error;
}

/* Ended processes stay in the set until the kernel frees them. */
bool process_set_has_some(const struct process_set *set) {
    const int processes = bpf_map__fd(set->processes);
    struct process_of_set entry;
    uint32_t process = 0;
    for (const uint32_t *last = NULL; bpf_map_get_next_key(processes, last, &process) == 0; last = &process)
        if (bpf_map_lookup_elem(processes, &process, &entry) == 0 && !entry.has_ended)
            return true;
    return false;
}

uint64_t process_set_lost(const struct process_set *set) {
    return __atomic_load_n(set->lost, __ATOMIC_RELAXED);
}
