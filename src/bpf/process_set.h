/* Private: the set of watched processes of programs that include process_set_changes.h: some, and their descendants. */
#ifndef PROCESS_SET_H
#define PROCESS_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "collector.h"

struct bpf_map;
struct bpf_object;
struct bpf_program;

/* All of it belongs to the programs. */
struct process_set {
    const struct bpf_map *processes;
    const struct bpf_program *walk;
    unsigned *are_listed;
    unsigned long long *found;
    const unsigned long long *lost;
};

/* Of a skeleton that is loaded. */
#define PROCESS_SET_OF(programs)                                                                                       \
    {                                                                                                                  \
        (programs)->maps.watched_processes, (programs)->progs.list_processes, &(programs)->bss->are_processes_listed,  \
            (unsigned long long *)&(programs)->bss->processes_found,                                                   \
            (unsigned long long *)&(programs)->bss->processes_lost                                                     \
    }

/* Before the programs are loaded: those that keep the set are loaded if there are some. */
void process_set_choose(struct bpf_object *programs, const struct process_numbers *some);

/* Watches the processes and all their descendants. Call when the programs are attached: then no descendant that is
 * forked meanwhile is missed.
 * Errors:  those of bpf(2) */
int process_set_watch(const struct process_set *set, const struct process_numbers *some);

/* Adds or removes a single process, without its descendants. Errors: those of bpf(2) */
int process_set_add(const struct process_set *set, uint32_t process);
void process_set_remove(const struct process_set *set, uint32_t process);

/* Whether any watched process still exists. */
bool process_set_has_some(const struct process_set *set);

/* The number of descendants that are not watched, because there was no room. Threads: any */
uint64_t process_set_lost(const struct process_set *set);

#endif
