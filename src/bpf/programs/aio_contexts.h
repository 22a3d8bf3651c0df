/* The contexts of io_submit(2) that were last used for watched files. The kernel does not report the files for which
 * io_getevents(2) waits, only the context. */
#ifndef AIO_CONTEXTS_H
#define AIO_CONTEXTS_H

#include "kernel.h"

#define CONTEXTS_MAX 4096 /* the least recently used context is evicted */
#define FD_IN_IOCB 20     /* where the descriptor is in struct iocb */

struct aio_context {
    __u64 id;
    __u64 process;
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, CONTEXTS_MAX);
    __type(key, struct aio_context);
    __type(value, __u8);
} watched_contexts SEC(".maps");

static __always_inline bool is_watched_context(const struct task_struct *task, __u64 id) {
    const struct aio_context context = {.id = id, .process = (__u32)task->tgid};
    return bpf_map_lookup_elem(&watched_contexts, &context) != NULL;
}

static __always_inline void note_context(const struct task_struct *task, __u64 id, bool is_watched) {
    const struct aio_context context = {.id = id, .process = (__u32)task->tgid};
    const __u8 yes = 1;
    if (is_watched_context(task, id) == is_watched)
        return;
    if (is_watched)
        bpf_map_update_elem(&watched_contexts, &context, &yes, BPF_ANY);
    else
        bpf_map_delete_elem(&watched_contexts, &context);
}

/* Of what io_submit(2) is given; -1: of nothing. Returns false if that is not in memory. */
static __always_inline bool read_first_descriptor(const struct pt_regs *registers, int *ret_fd) {
    const char *first = NULL;
    if ((long)argument_of(registers, 1) <= 0)
        return true;
    return bpf_probe_read_user(&first, sizeof(first), (const void *)argument_of(registers, 2)) == 0 &&
           bpf_probe_read_user(ret_fd, sizeof(*ret_fd), first + FD_IN_IOCB) == 0;
}

#endif
