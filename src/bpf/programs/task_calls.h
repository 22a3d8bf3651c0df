/* In which system call a thread is, what its descriptors are, and where a name has led. */
#ifndef TASK_CALLS_H
#define TASK_CALLS_H

#include "kernel.h"

#define ENOSYS 38

/* The number of its call; negative: it is in none. Where the result goes is an error until there is one (x86). */
static __always_inline long number_of_call(const struct pt_regs *registers) {
#if defined(__TARGET_ARCH_x86)
    return BPF_CORE_READ(registers, ax) == (unsigned long)-ENOSYS ? (long)BPF_CORE_READ(registers, orig_ax) : -1;
#else
    return BPF_CORE_READ(registers, syscallno);
#endif
}

static __always_inline const struct file *file_of(struct task_struct *task, __s64 fd) {
    const struct file *file = NULL;
    const struct fdtable *table = BPF_CORE_READ(task, files, fdt);
    if (fd < 0 || fd >= BPF_CORE_READ(table, max_fds))
        return NULL;
    bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + fd);
    return file;
}

/* Where a name that the thread follows has led so far: what it waits for is there. 0: it follows none */
static __always_inline __u32 device_of_name(const struct task_struct *task) {
    return bpf_core_field_exists(task->nameidata) && bpf_core_type_exists(struct nameidata)
               ? BPF_CORE_READ(task, nameidata, path.dentry, d_sb, s_dev)
               : 0;
}

#endif
