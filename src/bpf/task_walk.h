/* Private: looking at all threads of the machine for calls that are under way (programs/tasks.bpf.c). */
#ifndef TASK_WALK_H
#define TASK_WALK_H

#include <stdbool.h>

struct syscall_bpf;

struct task_walk {
    struct tasks_bpf *bpf; /* NULL: the kernel refuses it */
};

/* counting: loaded, and watches what it is for; shares its maps. Where the kernel refuses it, no call is found. */
void task_walk_load(struct task_walk *ret_walk, const struct syscall_bpf *counting);

/* Notes calls that had begun before any was counted, where they are found when they end. */
void task_walk_note_begun(const struct task_walk *walk);

void task_walk_finish(struct task_walk *walk);

#endif
