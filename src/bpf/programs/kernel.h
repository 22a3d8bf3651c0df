/* The structs of the kernel that programs read, with just the members that they read: where these are is found when a
 * program is loaded (CO-RE). */
#ifndef KERNEL_H
#define KERNEL_H

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct block_device;

struct super_block {
    __u32 s_dev;
    unsigned long s_flags;
    unsigned long s_magic;
    struct block_device *s_bdev;
};

struct hlist_node {
    struct hlist_node *next;
};

struct hlist_head {
    struct hlist_node *first;
};

struct inode {
    unsigned short i_mode;
    unsigned int i_flags;
    struct super_block *i_sb;
    unsigned long i_ino;
    __u32 i_generation;
    struct hlist_head i_dentry;
    const char *i_link; /* of a symbolic link: where it leads; NULL: it has been read for each look-up */
};

struct list_head {
    struct list_head *next;
};

struct hlist_bl_node {
    struct hlist_bl_node *next, **pprev;
};

struct address_space {
    struct inode *host;
};

struct qstr {
    __u64 hash_len; /* the length in the upper half */
    const unsigned char *name;
};

struct dentry {
    unsigned int d_flags;
    struct hlist_bl_node d_hash;
    struct dentry *d_parent;
    struct qstr d_name;
    struct inode *d_inode;
    struct super_block *d_sb;
    union {
        struct hlist_node d_alias;
    } d_u;
};

struct vfsmount {
    struct dentry *mnt_root;
};

struct mnt_namespace {
    __u64 event; /* another one after each change */
};

struct mount {
    struct mount *mnt_parent;
    struct dentry *mnt_mountpoint;
    struct vfsmount mnt;
    struct list_head mnt_mounts; /* child mounts, linked by mnt_child */
    struct list_head mnt_child;
    struct mnt_namespace *mnt_ns;
};

struct path {
    struct vfsmount *mnt;
    struct dentry *dentry;
};

struct file {
    struct inode *f_inode;
    struct path f_path;
    unsigned int f_flags;
    long long f_pos;
};

enum pageflags {
    PG_head = 6,
};

struct folio {
    struct {
        unsigned long f;
    } flags;
    struct address_space *mapping;
    unsigned long index;
    unsigned long _flags_1;
};

/* Until Linux 6.17. */
struct folio___with_flags {
    unsigned long flags;
};

/* Until Linux 6.5. */
struct folio___with_order {
    unsigned char _folio_order;
};

/* Until Linux 6.0, and instead of a folio until 5.15. */
struct page {
    struct address_space *mapping;
    unsigned long index;
    unsigned char compound_order;
};

struct fdtable {
    unsigned int max_fds;
    struct file **fd;
};

struct files_struct {
    struct fdtable *fdt;
};

struct fs_struct {
    struct path root;
    struct path pwd;
};

/* How far a name has been followed. */
struct nameidata {
    struct path path;
};

struct thread_info {
    __u32 status;        /* of x86: whether it is in a system call of 32 bits */
    unsigned long flags; /* of arm64: whether its program is one of 32 bits */
};

struct signal_struct {
    struct {
        int counter;
    } live; /* threads that have not ended */
};

struct kernfs_node {
    struct kernfs_node *__parent;
    const char *name;
    __u64 id;
};

/* Until Linux 6.14. */
struct kernfs_node___before {
    struct kernfs_node *parent;
};

struct cgroup {
    struct kernfs_node *kn;
};

struct css_set {
    struct cgroup *dfl_cgrp; /* of version 2 */
};

struct cfs_rq {
    int throttle_count;
};

struct mm_struct {
    unsigned long start_stack;
};

struct vm_area_struct {
    struct file *vm_file;
};

struct cred {
    struct {
        __u32 val;
    } uid;
};

struct task_struct {
    struct thread_info thread_info;
    struct mm_struct *mm;
    struct task_struct *real_parent;
    struct task_struct *group_leader;
    __u64 start_boottime;
    char comm[16];
    struct files_struct *files;
    struct fs_struct *fs;
    struct nameidata *nameidata; /* NULL: it follows no name */
    struct signal_struct *signal;
    __u64 start_time;
    struct css_set *cgroups;
    const struct cred *cred;
    unsigned int __state; /* 0: it runs, or could */
    unsigned int flags;
    int on_cpu;
    int pid;
    int tgid;
    struct {
        __u64 sum_exec_runtime;
        struct cfs_rq *cfs_rq;
    } se;
    bool throttled; /* since Linux 6.18 */
    struct {
        unsigned long long run_delay;
        unsigned long long last_arrival; /* when it got a CPU last */
    } sched_info;
    unsigned long min_flt;
    unsigned long maj_flt;
    unsigned long nvcsw; /* how often it has given up its CPU */
};

/* Until Linux 5.13. */
struct task_struct___before {
    long state;
};

/* What iterators are given. */

struct seq_file;

struct bpf_iter_meta {
    struct seq_file *seq;
};

struct bpf_iter__task {
    struct bpf_iter_meta *meta;
    struct task_struct *task;
};

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
    unsigned long di;
    unsigned long si;
    unsigned long dx;
    unsigned long r10;
    unsigned long r8;
    unsigned long r9;
    unsigned long bx;
    unsigned long cx;
    unsigned long bp;
    unsigned long ip;
    unsigned long sp;
    unsigned long ax;
    unsigned long orig_ax;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
    __u64 regs[31];
    __u64 sp;
    __u64 pc;
    __u64 orig_x0;
    __s32 syscallno;
};
#endif

/* Of io_uring. The parts of requests by operation begin where the file is. */

struct filename {
    const char *name;
};

struct io_cqe {
    __u64 user_data;
    __s32 res;
    int fd; /* before the request has ended */
};

struct io_uring_cqe {
    __s32 res;
};

struct io_rsrc_node {
    unsigned long file_ptr; /* with flags */
};

struct io_rsrc_data {
    unsigned int nr;
    struct io_rsrc_node **nodes;
};

struct io_file_table {
    struct io_rsrc_data data;
};

struct io_ring_ctx {
    struct io_file_table file_table;
};

/* Until Linux 6.12. */
struct io_file_table___with_files {
    unsigned long *files; /* with flags, as above */
};

struct io_ring_ctx___with_files {
    struct io_file_table___with_files file_table;
    unsigned int nr_user_files;
};

struct io_kiocb {
    struct file *file;
    __u8 opcode;
    __u32 flags; /* the first of them are those of the program */
    struct io_cqe cqe;
    struct io_ring_ctx *ctx;
};

struct io_rw {
    __u64 addr;
    __u32 len;
};

struct io_open {
    __u32 file_slot;
};

struct io_close {
    int fd;
    __u32 file_slot;
};

struct statx;

struct io_statx {
    struct statx *buffer;
};

struct io_unlink {
    int dfd;
    struct filename *filename;
};

struct io_rename {
    int old_dfd;
    struct filename *oldpath;
};

struct io_mkdir {
    int dfd;
    struct filename *filename;
};

struct io_link {
    int new_dfd;
    struct filename *newpath;
};

/* From Linux 7.0 on names are so. */
struct delayed_filename {
    struct filename *__incomplete_filename;
};

struct io_unlink___delayed {
    struct delayed_filename filename;
};

struct io_rename___delayed {
    struct delayed_filename oldpath;
};

struct io_mkdir___delayed {
    struct delayed_filename filename;
};

struct io_link___delayed {
    struct delayed_filename newpath;
};

struct fuse_in_header {
    __u32 opcode;
};

struct fuse_out_header {
    __u32 len;
    __s32 error;
};

struct fuse_in_arg {
    unsigned int size;
    const void *value;
};

struct fuse_arg {
    unsigned int size;
    void *value;
};

struct fuse_args {
    struct fuse_in_arg in_args[3];
    struct fuse_arg out_args[2];
};

struct fuse_conn {
    __u32 dev;
};

struct fuse_mount {
    struct fuse_conn *fc;
};

struct fuse_req {
    struct {
        struct fuse_in_header h;
    } in;
    struct {
        struct fuse_out_header h;
    } out;
    struct fuse_args *args;
    struct fuse_mount *fm;
};

struct fuse_chan {
    struct fuse_conn *conn;
};

/* Later than Linux 7.0; there is no mount in it then. */
struct fuse_req___with_chan {
    struct fuse_chan *chan;
};

struct gendisk {
    int major;
    int first_minor;
};

struct request_queue {
    struct gendisk *disk;
};

struct request {
    struct request_queue *q;
    unsigned int cmd_flags;
    unsigned int __data_len;
};

/* Until Linux 5.16. */
struct request___with_disk {
    struct gendisk *rq_disk;
};

#pragma clang attribute pop

/* From Linux 6.15 on. */
enum dentry_flags {
    DCACHE_MOUNTED = 1 << 15, /* somewhere, something is mounted on it */
    DCACHE_NEED_AUTOMOUNT = 1 << 16,
    DCACHE_MANAGE_TRANSIT = 1 << 17,
    DCACHE_ENTRY_TYPE = 7 << 19, /* what is there; these are of it */
    DCACHE_DIRECTORY_TYPE = 2 << 19,
    DCACHE_AUTODIR_TYPE = 3 << 19, /* a directory on which something may be mounted when it is looked up */
    DCACHE_SYMLINK_TYPE = 6 << 19,
};

/* An argument of a system call, 0 to 5. */
static __always_inline __u64 argument_of(const struct pt_regs *registers, __u32 number) {
#if defined(__TARGET_ARCH_x86)
    switch (number) {
    case 0:
        return BPF_CORE_READ(registers, di);
    case 1:
        return BPF_CORE_READ(registers, si);
    case 2:
        return BPF_CORE_READ(registers, dx);
    case 3:
        return BPF_CORE_READ(registers, r10);
    case 4:
        return BPF_CORE_READ(registers, r8);
    default:
        return BPF_CORE_READ(registers, r9);
    }
#elif defined(__TARGET_ARCH_arm64)
    __u64 value = BPF_CORE_READ(registers, orig_x0);
    if (number > 0)
        bpf_probe_read_kernel(&value, sizeof(value), (const char *)registers + 8 * number);
    return value;
#endif
}

#endif
