/* Major page faults of mapped files, from the look for the page in the page cache until the end of the fault. A fault
 * is major if the page was not in memory. The kernel does not report the end of minor faults, and threads do not wait
 * in them.
 *
 * After waiting for the page the kernel may look for the page again. This is the same fault, unless the kernel has
 * handled another fault of the thread in between. */
#ifndef PAGE_FAULTS_H
#define PAGE_FAULTS_H

#include "call_cells.h"
#include "call_counts.h"
#include "watched_calls.h"

/* Set before it is loaded. */
const volatile __u32 page_fault_slot;

/* The latest page that a thread wanted. */
struct page_fault {
    __u64 begin_ns; /* 0: it is not counted */
    __u64 object;
    __u64 done; /* faults of the thread before it */
    const struct address_space *file;
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct page_fault);
} page_faults SEC(".maps");

static __always_inline __u64 faults_done(const struct task_struct *task) {
    return BPF_CORE_READ(task, min_flt) + BPF_CORE_READ(task, maj_flt);
}

/* A name of it; NULL: it has none, or this kernel keeps them elsewhere. */
static __always_inline const struct dentry *name_of(const struct inode *inode) {
    if (!bpf_core_field_exists(struct dentry, d_u.d_alias))
        return NULL;
    const struct hlist_node *first = BPF_CORE_READ(inode, i_dentry.first);
    return first ? (const void *)((const char *)first - bpf_core_field_offset(struct dentry, d_u.d_alias)) : NULL;
}

/* Linux 6.12. */
SEC("tp_btf/mm_filemap_fault")
int BPF_PROG(page_fault_begin, struct address_space *file) {
    const __u64 begin_ns = bpf_ktime_get_ns();
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    const struct inode *inode = BPF_CORE_READ(file, host);
    const bool is_watched = is_watched_process(task) && is_watched_inode(inode);
    const __u64 done = faults_done(task);
    struct page_fault *fault =
        bpf_task_storage_get(&page_faults, task, NULL, is_watched ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
    if (!fault) {
        if (is_watched)
            lose();
        return 0;
    }
    if (!is_watched)
        fault->begin_ns = 0;
    else if (fault->begin_ns == 0 || fault->done != done || fault->file != file)
        *fault = (struct page_fault){
            .begin_ns = begin_ns, .object = note_object(name_of(inode)), .done = done, .file = file};
    return 0;
}

/* A major fault is done. */
SEC("perf_event")
int page_fault_end(void *context) {
    const __u64 now_ns = bpf_ktime_get_ns();
    const struct outcome outcome = {.error = 0};
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    struct page_fault *fault = bpf_task_storage_get(&page_faults, task, NULL, 0);
    if (!fault || fault->begin_ns == 0)
        return 0;
    if (faults_done(task) == fault->done + 1) { /* else it was of other memory, such as swapped out */
        count(page_fault_slot, now_ns - fault->begin_ns, &outcome);
        group(task, fault->object, page_fault_slot, now_ns - fault->begin_ns, &outcome.reads);
    }
    fault->begin_ns = 0;
    return 0;
}

#endif
