/* Files and callers of counted calls: cells in the same windows as the histograms (call_counts.h). A call is added to
 * its histogram first, then to its cell. The name of a file is looked up once, when the file is first seen.
 *
 * The kernel does not report the end of an inode, and another file may get its number, and even its address. If the
 * generation does not distinguish such files, a file is identified by its path in the kernel at the time of the call:
 * the name found for a path stays right, whatever file is there. */
#ifndef CALL_CELLS_H
#define CALL_CELLS_H

#include "call_counts.h"
#include "collected.h"
#include "kernel.h"
#include "watched_calls.h"

struct cells {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, COLLECTED_CELLS_MAX);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct collected_cell);
    __type(value, struct collected_cell_sum);
} cells_a SEC(".maps"), cells_b SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, COLLECTED_WINDOWS);
    __type(key, __u32);
    __array(values, struct cells);
} cells_of_windows SEC(".maps") = {.values = {&cells_a, &cells_b}};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, COLLECTED_NAMES_MAX);
    __type(key, __u64); /* of an object or a control group */
    __type(value, struct collected_name);
} names SEC(".maps");

#define ROOMS 4

struct room {
    __u64 is_taken;
    struct collected_name name;
};

/* Room for new names: a program may be interrupted by another, which has one too. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, ROOMS);
    __type(key, __u32);
    __type(value, struct room);
} rooms SEC(".maps");

#define LATEST_CALLS 256

struct latest_cgroup {
    __u64 number;
    __u64 calls; /* the remaining calls before the name is looked up again */
};

/* Of the latest call on this CPU. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct latest_cgroup);
} latest_cgroups SEC(".maps");

/* Set before it is loaded. */
const volatile bool has_groups;
const volatile bool has_cgroups; /* among them */

/* With one device: the number of an inode and its generation are of one file for ever. */
const volatile bool has_lasting_numbers;

#define BTRFS_MAGIC 0x9123683e
#define FUSE_MAGIC 0x65735546
#define OVERLAYFS_MAGIC 0x794c7630

/* Whether a file may have the number of another inode, existing or removed: on FUSE, where the daemon chooses numbers;
 * on other file systems without generations; on layers and subvolumes. Such a file is identified by its path. */
static __always_inline bool is_known_by_path(const struct inode *inode, __u64 generation) {
    if (generation == 0 || device > 0)
        return generation == 0 || !has_lasting_numbers;
    const unsigned long magic = BPF_CORE_READ(inode, i_sb, s_magic);
    return magic == FUSE_MAGIC || magic == BTRFS_MAGIC || magic == OVERLAYFS_MAGIC;
}

/* Two members of a dentry that are side by side. */
struct entry_of_dentry {
    const struct dentry *parent;
    __u64 hash_len; /* hash and length of the name, the kernel's key in the parent directory */
};

/* Of all components that names have here, from the dentry at an address on. */
__noinline __u64 path_of(__u64 address) {
    const struct dentry *at = (const struct dentry *)address;
    struct entry_of_dentry entry;
    __u64 path = 0;
    for (__u32 i = 0; i < COLLECTED_PARTS; i++) {
        if (bpf_probe_read_kernel(&entry, sizeof(entry), &at->d_parent) < 0 || entry.parent == at)
            break;
        path = (path ^ entry.hash_len) * 0x94d049bb133111eb;
        path ^= path >> 29;
        at = entry.parent;
    }
    return path;
}

#define BY_PATH (1ULL << 63)

/* A unique number of a file: no other file ever has it. The number is odd. It stands for the inode with all its names,
 * or with BY_PATH for a single name. */
static __always_inline __u64 object_of(const struct dentry *dentry) {
    const struct inode *inode = BPF_CORE_READ(dentry, d_inode);
    if (!inode)
        return 0;
    const __u64 generation = BPF_CORE_READ(inode, i_generation);
    const __u64 device_bits = device > 0 ? 0 : (__u64)BPF_CORE_READ(inode, i_sb, s_dev) * 0xbf58476d1ce4e5b9;
    const __u64 number = (BPF_CORE_READ(inode, i_ino) * 0x9e3779b97f4a7c15 ^ generation << 32 ^ device_bits) | 1;
    return is_known_by_path(inode, generation) ? (number ^ path_of((__u64)dentry) << 1) | BY_PATH : number & ~BY_PATH;
}

/* The same of a file whose pages are in the cache: these are of the inode, which is in memory as long as they are. */
static __always_inline __u64 cached_file(const struct inode *inode, __u64 object) {
    if (!(object & BY_PATH))
        return object;
    return ((__u64)inode ^ BPF_CORE_READ(inode, i_ino) * 0x9e3779b97f4a7c15) | BY_PATH;
}

static __always_inline void fill_name(struct collected_name *name, const struct dentry *dentry) {
    const struct dentry *at = dentry;
    name->device = BPF_CORE_READ(dentry, d_sb, s_dev);
    name->is_directory = (BPF_CORE_READ(dentry, d_inode, i_mode) & TYPE_BITS) == TYPE_DIRECTORY;
    name->directory = object_of(BPF_CORE_READ(dentry, d_parent));
    name->inode = BPF_CORE_READ(dentry, d_inode, i_ino);
    name->part_count = 0;
    name->is_cut = true;
    for (__u32 i = 0; i < COLLECTED_PARTS; i++) {
        const struct dentry *parent = BPF_CORE_READ(at, d_parent);
        if (parent == at || !parent) {
            name->is_cut = false;
            break;
        }
        bpf_probe_read_kernel_str(name->parts[i], COLLECTED_PART_BYTES, BPF_CORE_READ(at, d_name.name));
        name->part_count = i + 1;
        at = parent;
    }
}

/* NULL: there is none now. */
static __always_inline struct room *take_room(void) {
    for (__u32 i = 0; i < ROOMS; i++) {
        const __u32 number = i;
        struct room *room = bpf_map_lookup_elem(&rooms, &number);
        if (room && __sync_val_compare_and_swap(&room->is_taken, 0, 1) == 0)
            return room;
    }
    return NULL;
}

/* The name in it is that of the object; 0: of none. */
static __always_inline void leave_room(struct room *room, __u64 object) {
    if (object > 0)
        bpf_map_update_elem(&names, &object, &room->name, BPF_ANY);
    __sync_lock_test_and_set(&room->is_taken, 0);
}

/* Of a dentry at an address, as the next. */
__noinline __u64 note_dentry(__u64 address) {
    const struct dentry *dentry = (const struct dentry *)address;
    const __u64 object = object_of(dentry);
    if (object == 0 || bpf_map_lookup_elem(&names, &object))
        return object;
    struct room *room = take_room();
    if (!room)
        return object;
    fill_name(&room->name, dentry);
    leave_room(room, object_of(dentry) == object ? object : 0); /* else it was renamed meanwhile */
    return object;
}

/* Remembers the name of a file, unless it is known already. Returns the file's number */
static __always_inline __u64 note_object(const struct dentry *dentry) {
    return has_groups && dentry ? note_dentry((__u64)dentry) : 0;
}

/* Whether the name of a control group is known, because the latest call on this CPU was of the same group. The name is
 * looked up again from time to time, because the map evicts names that have not been looked up for long. */
static __always_inline bool is_latest_cgroup(__u64 number) {
    const __u32 first = 0;
    struct latest_cgroup *latest = bpf_map_lookup_elem(&latest_cgroups, &first);
    if (!latest)
        return false;
    if (latest->number == number && latest->calls > 0) {
        latest->calls--;
        return true;
    }
    latest->number = number;
    latest->calls = LATEST_CALLS;
    return false;
}

static __always_inline const struct kernfs_node *parent_of(const struct kernfs_node *node) {
    const struct kernfs_node___before *before = (const struct kernfs_node___before *)node;
    return bpf_core_field_exists(before->parent) ? BPF_CORE_READ(before, parent) : BPF_CORE_READ(node, __parent);
}

/* The same for the control group of a process. Its number is even, and 0 if it is not wanted. */
static __always_inline __u64 note_cgroup(struct task_struct *task) {
    if (!has_cgroups)
        return 0;
    const struct kernfs_node *at = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn);
    const __u64 number = BPF_CORE_READ(at, id) << 1;
    struct room *room = is_latest_cgroup(number) || bpf_map_lookup_elem(&names, &number) ? NULL : take_room();
    if (!room)
        return number;
    struct collected_name *name = &room->name;
    name->part_count = 0;
    name->is_cut = true;
    for (__u32 i = 0; i < COLLECTED_CGROUP_PARTS; i++) {
        const struct kernfs_node *parent = parent_of(at);
        if (!parent) {
            name->is_cut = false;
            break;
        }
        bpf_probe_read_kernel_str(name->cgroup_parts[i], COLLECTED_CGROUP_BYTES, BPF_CORE_READ(at, name));
        name->part_count = i + 1;
        at = parent;
    }
    leave_room(room, number);
    return number;
}

/* Whose call it is. */
static __always_inline void note_caller(struct collected_cell *cell, struct task_struct *task) {
    struct task_struct *leader = task->group_leader;
    cell->cgroup = note_cgroup(task);
    cell->process = (__u32)task->tgid;
    cell->started_ns = leader->start_boottime;
    BPF_CORE_READ_INTO(&cell->program, leader, comm);
}

/* Counts a call that count() has counted. */
static __always_inline void add_to_cell(const struct collected_cell *cell, __u64 ns,
                                        const struct collected_reads *reads) {
    const struct collected_cell_sum one = {.calls = 1, .total_ns = ns, .reads = *reads};
    const __u32 *window = window_in_use();
    void *cells = window ? bpf_map_lookup_elem(&cells_of_windows, window) : NULL;
    if (!cells)
        return;
    struct collected_cell_sum *sum = bpf_map_lookup_elem(cells, cell);
    if (!sum && bpf_map_update_elem(cells, cell, &one, BPF_NOEXIST) == 0)
        return;
    if (!sum)
        sum = bpf_map_lookup_elem(cells, cell); /* another CPU was first, or there is no room */
    if (!sum)
        return;
    __sync_fetch_and_add(&sum->calls, 1);
    __sync_fetch_and_add(&sum->total_ns, ns);
    add_reads(&sum->reads, reads);
}

/* The same of a call of this thread. */
static __always_inline void group(struct task_struct *task, __u64 object, __u32 slot, __u64 ns,
                                  const struct collected_reads *reads) {
    struct collected_cell cell = {.object = object, .slot = slot, .bucket = bucket_of(ns)};
    if (!has_groups)
        return;
    note_caller(&cell, task);
    add_to_cell(&cell, ns, reads);
}

#endif
