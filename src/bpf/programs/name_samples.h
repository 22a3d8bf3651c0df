/* The kernel does not export the address of its hash table of dentries. The address is computed (system_calls.c) from
 * dentries of files that the collector has open: from their hashes, and their places in the table. */
#ifndef NAME_SAMPLES_H
#define NAME_SAMPLES_H

#include "collected.h"
#include "watched_calls.h"

__u32 sample_fds[COLLECTED_SAMPLES];
__u32 sample_hashes[COLLECTED_SAMPLES];
__u64 sample_places[COLLECTED_SAMPLES]; /* 0: it is not in the table */

/* Of the process that runs it. */
SEC("syscall")
int sample_names(void *unused) {
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    for (int i = 0; i < COLLECTED_SAMPLES; i++) {
        const struct file *file = file_of(task, sample_fds[i]);
        const struct dentry *dentry = file ? BPF_CORE_READ(file, f_path.dentry) : NULL;
        sample_hashes[i] = dentry ? (__u32)BPF_CORE_READ(dentry, d_name.hash_len) : 0;
        sample_places[i] = dentry ? (__u64)BPF_CORE_READ(dentry, d_hash.pprev) : 0;
    }
    return 0;
}

#endif
