/* Which calls are watched: on which file system, by which processes. */
#ifndef WATCHED_H
#define WATCHED_H

#include "kernel.h"

#define CURRENT_DIRECTORY (-100)

/* Set before it is loaded. */
const volatile __u32 device;      /* of the file system, as the kernel has it */
const volatile __u32 own_process; /* which is not watched */

static __always_inline bool is_watched_process(struct task_struct *task) {
    return (__u32)task->tgid != own_process;
}

/* ---- Files -------------------------------------------------------------------------------------- */

static __always_inline bool is_watched_inode(const struct inode *inode) {
    return BPF_CORE_READ(inode, i_sb, s_dev) == device;
}

/* Whose device an answer of the kernel has. */
static __always_inline bool is_watched_device(__u32 answered) {
    return answered == device;
}

/* The file, if it is watched; else NULL. */
static __always_inline const struct dentry *dentry_of(struct task_struct *task, __s64 fd) {
    const struct file *file = NULL;
    const struct fdtable *table = BPF_CORE_READ(task, files, fdt);
    if (fd < 0 || fd >= BPF_CORE_READ(table, max_fds))
        return NULL;
    bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + fd);
    return file && is_watched_inode(BPF_CORE_READ(file, f_inode)) ? BPF_CORE_READ(file, f_path.dentry) : NULL;
}

/* The same for an argument. */
static __always_inline const struct dentry *dentry_of_argument(struct task_struct *task,
                                                               const struct pt_regs *registers, __u32 number) {
    return dentry_of(task, (int)argument_of(registers, number));
}

static __always_inline const struct dentry *directory_of(struct task_struct *task, int fd) {
    if (fd != CURRENT_DIRECTORY)
        return dentry_of(task, fd);
    const struct dentry *dentry = BPF_CORE_READ(task, fs, pwd.dentry);
    return is_watched_inode(BPF_CORE_READ(dentry, d_inode)) ? dentry : NULL;
}

#endif
