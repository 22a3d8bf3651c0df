/* Private: looking at all threads of the machine for calls that are under way (programs/tasks.bpf.c). */
#ifndef TASK_WALK_H
#define TASK_WALK_H

#include <stddef.h>

#include "collector.h"

struct syscall_bpf;

struct task_walk {
    struct tasks_bpf *bpf;  /* NULL: the kernel refuses it */
    struct bpf_link *calls; /* of its program that tells calls */
    char *text;             /* what it tells, as read last */
    size_t room_bytes;      /* of that */
};

/* counting: loaded, and watches what it is for; shares its maps. Where the kernel refuses it, no call is found. */
void task_walk_load(struct task_walk *ret_walk, const struct syscall_bpf *counting);

/* Notes calls that had begun before any was counted, where they are found when they end. */
void task_walk_note_begun(const struct task_walk *walk);

/* Tells calls that are under way, since min_age_ns at least.
 * ret_count: how many there are of all ages
 * Errors:  -ENOTSUP the kernel refuses it, -ENOMEM, those of bpf(2) */
int task_walk_tell(struct task_walk *walk, uint64_t min_age_ns, collector_under_way_fn *tell, void *context,
                   uint64_t *ret_count);

void task_walk_finish(struct task_walk *walk);

#endif
