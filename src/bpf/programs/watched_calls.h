/* Which calls are watched: on which file systems, by which processes. */
#ifndef WATCHED_CALLS_H
#define WATCHED_CALLS_H

#include "collected.h"
#include "kernel.h"
#include "pseudo_filesystems.h"
#include "task_calls.h"
#include "watched_processes.h"

#define TYPE_BITS 0170000
#define TYPE_DIRECTORY 0040000
#define TYPE_REGULAR 0100000
#define TYPE_LINK 0120000
#define IN_KERNEL_ONLY (1UL << 31) /* SB_NOUSER: of pipes, sockets, memory files */

/* Set at any time: first it is a file of the collector's own, on which calls are measured. */
__u32 device;        /* of the file system, as the kernel has it; 0: all that hold files */
__u64 cgroup;        /* processes in this control group and below; 0: all */
__u64 count_from_ns; /* calls that have begun before are not counted */

/* Set before it is loaded. */
const volatile bool has_one_device; /* the device in attributes is that of the file system, for all its files */
const volatile __u32 own_parent;    /* whose children are not watched either; 0: there is none */
const volatile __u32 cgroup_level;  /* of the control group, below the root */

/* ---- Processes ---------------------------------------------------------------------------------- */

static __always_inline bool is_own(const struct task_struct *task) {
    return (__u32)task->tgid == own_process || (own_parent > 0 && (__u32)task->real_parent->tgid == own_parent);
}

/* Of all but its control group. */
static __always_inline bool may_be_watched(const struct task_struct *task) {
    return !is_own(task) && is_chosen_process(task);
}

static __always_inline bool is_watched_process(const struct task_struct *task) {
    return may_be_watched(task) && (cgroup == 0 || bpf_get_current_ancestor_cgroup_id((int)cgroup_level) == cgroup);
}

/* ---- Files -------------------------------------------------------------------------------------- */

static __always_inline bool is_pseudo(unsigned long magic) {
#define MAGIC_CASE(MAGIC, NAME) case MAGIC:
    switch (magic) {
        PSEUDO_FILESYSTEMS(MAGIC_CASE)
        return true;
    default:
        return false;
    }
}

/* Whether an inode is like those that the layer "user" counts. */
__noinline int is_kept_in_files(__u64 address) {
    const struct inode *inode = (const struct inode *)address;
    const struct super_block *super = BPF_CORE_READ(inode, i_sb);
    const unsigned type = BPF_CORE_READ(inode, i_mode) & TYPE_BITS;
    if (type != TYPE_REGULAR && type != TYPE_DIRECTORY && type != TYPE_LINK)
        return false;
    return !(BPF_CORE_READ(super, s_flags) & IN_KERNEL_ONLY) && !is_pseudo(BPF_CORE_READ(super, s_magic));
}

static __always_inline bool is_watched_inode(const struct inode *inode) {
    return device > 0 ? BPF_CORE_READ(inode, i_sb, s_dev) == device : is_kept_in_files((__u64)inode);
}

/* Mounted file systems by their devices: whether they hold files. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, COLLECTED_DEVICES_MAX);
    __type(key, __u32);
    __type(value, __u8);
} mounted_devices SEC(".maps");

enum known {
    KNOWN_NO,
    KNOWN_YES,
    NOT_TOLD,
    NOT_READ, /* it is by a name, and known when it has ended */
};

/* Whether a call is on a watched file system, of which it has returned this device; before: what was known before. */
static __always_inline enum known known_by_device(__u32 found, enum known before) {
    if (device > 0 && found == device)
        return KNOWN_YES;
    if (device > 0)
        return has_one_device ? KNOWN_NO : before;
    const __u8 *holds_files = bpf_map_lookup_elem(&mounted_devices, &found);
    return !holds_files ? before : *holds_files ? KNOWN_YES : KNOWN_NO;
}

/* The file, if it is watched; else NULL. */
static __always_inline const struct dentry *dentry_of_file(const struct file *file) {
    return file && is_watched_inode(BPF_CORE_READ(file, f_inode)) ? BPF_CORE_READ(file, f_path.dentry) : NULL;
}

/* The same of a descriptor. */
static __always_inline const struct dentry *dentry_of(struct task_struct *task, __s64 fd) {
    return dentry_of_file(file_of(task, fd));
}

/* The same for an argument. */
static __always_inline const struct dentry *dentry_of_argument(struct task_struct *task,
                                                               const struct pt_regs *registers, __u32 number) {
    return dentry_of(task, (int)argument_of(registers, number));
}

#endif
