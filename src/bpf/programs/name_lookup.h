/* Finds the file of a name. The name is looked up as the kernel does it, in the kernel's dentry cache, when a call has
 * ended. All dentries that the call has passed are in the cache then.
 *
 * Nothing is guessed. A dentry counts only if it is in the kernel's hash table, has the name, and is in the directory;
 * a mount counts only if it is mounted there. A symbolic link is followed if the kernel has its text in memory. If a
 * dentry is not in the cache, the file is unknown. The collector finds the hash table (system_calls.c); until then no
 * file is found. */
#ifndef NAME_LOOKUP_H
#define NAME_LOOKUP_H

#include "kernel.h"
#include "watched_calls.h"

#define NAME_BYTES 1024U
#define PART_BYTES 256U
#define DENTRY_BYTES 128U /* of which something is read; a short name is among them */
#define STEPS_MAX 100
#define CHAIN_MAX 64      /* dentries of a place in the table */
#define MOUNTS_MAX 100000 /* that a name may take: as many as a mount namespace may have (fs.mount-max) */
#define MOUNTS_REMEMBERED 4096
#define FD_DIGITS_MAX 8
#define STACKED_MAX 8   /* mounts at one place */
#define TEXT_HALF 2048U /* of two, for the name and what it is when a link has been followed */

#define UNKNOWN 1 /* instead of an address */
#define ONES 0x0101010101010101ULL
#define HIGH_BITS 0x8080808080808080ULL

#define TMPFS_MAGIC 0x01021994
#define RAMFS_MAGIC 0x858458f6
#define PROCFS_MAGIC 0x9fa0

/* Of the kernel's hash table of dentries. */
__u64 name_table;
__u32 name_table_shift;

enum step {
    STEP_ON,
    STEP_FOUND,
    STEP_NOT_TOLD,
};

struct lookup {
    const struct dentry *at; /* what has been found so far */
    const struct mount *mount;
    const struct dentry *root;
    const struct mount *root_mount;
    __u32 position;                             /* of the rest, in the text */
    __u32 mounts_left;                          /* to walk over: nothing else runs on this CPU meanwhile */
    bool is_entry;                              /* the directory is what is looked for */
    bool follows;                               /* the last component too, if it is a symbolic link */
    char dentry[DENTRY_BYTES + PART_BYTES + 8]; /* the latest dentry; then its name, if stored outside */
    char text[2 * TEXT_HALF + NAME_BYTES];
};

/* For a call that has ended, and for a request of io_uring, which may interrupt that. */
enum { LOOKUP_OF_CALL, LOOKUP_OF_REQUEST, LOOKUPS };

/* Room for one each. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, LOOKUPS);
    __type(key, __u32);
    __type(value, struct lookup);
} lookups SEC(".maps");

static __always_inline char text_at(const struct lookup *lookup, __u32 position) {
    return lookup->text[position & (2 * TEXT_HALF - 1)];
}

static __always_inline __u64 word_at(const struct lookup *lookup, __u32 position) {
    return *(const __u64 *)(lookup->text + (position & (2 * TEXT_HALF - 1)));
}

/* ---- Names -------------------------------------------------------------------------------------- */

/* Marks zero bytes: the lowest set bit of the result belongs to the first zero byte. 0: no byte is zero */
static __always_inline __u64 zero_bytes(__u64 word) {
    return (word - ONES) & ~word & HIGH_BITS;
}

static __always_inline __u32 fold(__u64 x, __u64 y) {
    return (__u32)((y ^ x * 0x61c8864680b583eb) * 0x61c8864680b583eb >> 32);
}

/* The next component, as hash_name() of the kernel has it: its length in the upper half. 0: it is too long */
__noinline __u64 hash_part(const struct lookup *lookup) {
    if (!lookup)
        return 0;
    __u64 x = 0;
    __u64 y = (__u64)lookup->at;
    for (__u32 length = 0; length < PART_BYTES; length += 8) {
        const __u64 word = word_at(lookup, lookup->position + length);
        const __u64 ends = zero_bytes(word) | zero_bytes(word ^ '/' * ONES);
        if (ends) {
            const __u64 mask = ((ends - 1) & ~ends) >> 7; /* the bytes before */
            return (length + ((mask & ONES) * ONES >> 56)) << 32 | fold(x ^ (word & mask), y);
        }
        x ^= word;
        y ^= x;
        x = x << 12 | x >> 52;
        x += y;
        y = y << 45 | y >> 19;
        y *= 9;
    }
    return 0;
}

/* A member of the latest dentry. */
#define MEMBER(LOOKUP, TYPE, NAME) (*(TYPE const *)((LOOKUP)->dentry + bpf_core_field_offset(struct dentry, NAME)))

/* Whether the next component is what stands there, behind the begin of the latest dentry. */
__noinline int is_same_name(const struct lookup *lookup, __u32 begin, __u32 length) {
    if (!lookup || begin > DENTRY_BYTES)
        return false;
    for (__u32 done = 0; done < PART_BYTES; done += 8) {
        const __u64 differ = *(const __u64 *)(lookup->dentry + begin + done) ^ word_at(lookup, lookup->position + done);
        const __u32 left = length - done;
        if (left <= 8)
            return differ << (64 - 8 * left) == 0;
        if (differ != 0)
            return false;
    }
    return false;
}

/* Whether that is the name of the latest dentry, which is at that address. */
__noinline int has_name(struct lookup *lookup, __u64 dentry, __u32 length) {
    if (!lookup || length >= PART_BYTES)
        return false;
    const __u64 name = MEMBER(lookup, __u64, d_name.name);
    const __u64 begin = name - dentry;
    if (begin < DENTRY_BYTES && begin + length <= DENTRY_BYTES)
        return is_same_name(lookup, (__u32)begin, length);
    if (bpf_probe_read_kernel(lookup->dentry + DENTRY_BYTES, length, (const void *)name) < 0)
        return false;
    return is_same_name(lookup, DENTRY_BYTES, length);
}

/* Reads the dentry of the next component. Returns its address; 0: there is none in the table; UNKNOWN */
__noinline __u64 find_part(struct lookup *lookup, __u64 hash_len) {
    if (!lookup || name_table == 0)
        return UNKNOWN;
    __u64 node = 0;
    bpf_probe_read_kernel(&node, sizeof(node),
                          (const void *)(name_table + 8 * (__u64)((__u32)hash_len >> (name_table_shift & 31))));
    node &= ~1ULL; /* a lock */
    for (int i = 0; i < CHAIN_MAX; i++) {
        const __u64 dentry = node - bpf_core_field_offset(struct dentry, d_hash);
        if (node == 0)
            return 0;
        if (bpf_probe_read_kernel(lookup->dentry, DENTRY_BYTES, (const void *)dentry) < 0)
            return UNKNOWN;
        if (MEMBER(lookup, __u64, d_name.hash_len) == hash_len &&
            MEMBER(lookup, struct dentry *, d_parent) == lookup->at &&
            has_name(lookup, dentry, (__u32)(hash_len >> 32)))
            return dentry;
        node = MEMBER(lookup, __u64, d_hash.next);
    }
    return UNKNOWN;
}

/* ---- Mounts ------------------------------------------------------------------------------------- */

static __always_inline const struct mount *mount_of(const struct vfsmount *mount) {
    return (const struct mount *)((const char *)mount - bpf_core_field_offset(struct mount, mnt));
}

/* A place where something may be mounted: a dentry, as it is seen in a mount. */
struct mount_place {
    __u64 in;
    __u64 on;
};

/* What was found there. It is valid as long as that is mounted there; that nothing was, until mounts have changed. */
struct mount_found {
    __u64 mounted; /* NULL: nothing was */
    __u64 event;   /* of the mount namespace, then */
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, MOUNTS_REMEMBERED);
    __type(key, struct mount_place);
    __type(value, struct mount_found);
} mounts_found SEC(".maps");

/* Walking over a map is the one kind of loop that is verified once, not for each step, by all kernels. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, MOUNTS_MAX);
    __type(key, __u32);
    __type(value, __u8);
} mount_steps SEC(".maps");

static __always_inline bool is_mounted_at(const struct mount *mount, const struct mount_place *place) {
    return (__u64)BPF_CORE_READ(mount, mnt_parent) == place->in &&
           (__u64)BPF_CORE_READ(mount, mnt_mountpoint) == place->on;
}

struct mount_walk {
    struct mount_place place;
    __u64 head;
    __u64 node;    /* the next one */
    __u64 mounted; /* UNKNOWN: until it has ended */
    __u64 left;    /* to walk over */
};

/* A callback of bpf_for_each_map_elem(). A mount with another parent is being unmounted or moved, and is in another
 * list: then the answer stays unknown. Returns 1 at the end */
static long step_over_mount(void *map, const void *key, void *value, struct mount_walk *walk) {
    const struct mount *mount = (const struct mount *)(walk->node - bpf_core_field_offset(struct mount, mnt_child));
    const bool is_end = walk->node == walk->head;
    if (walk->left == 0)
        return 1;
    if (is_end || is_mounted_at(mount, &walk->place)) {
        walk->mounted = is_end ? 0 : (__u64)mount;
        return 1;
    }
    walk->node = (__u64)BPF_CORE_READ(mount, mnt_child.next);
    walk->left--;
    return (__u64)BPF_CORE_READ(mount, mnt_parent) != walk->place.in;
}

/* What is mounted there, in the mount that has been found; NULL: nothing is; UNKNOWN. */
__noinline __u64 find_mounted(struct lookup *lookup, __u64 on) {
    if (!lookup)
        return UNKNOWN;
    const struct mount *mount = lookup->mount;
    const __u64 in = (__u64)mount;
    const struct mount_place place = {.in = in, .on = on};
    const struct mount_found *known = bpf_map_lookup_elem(&mounts_found, &place);
    struct mount_found found = {.event = BPF_CORE_READ(mount, mnt_ns, event)};
    struct mount_walk walk = {.place = place,
                              .head = in + bpf_core_field_offset(struct mount, mnt_mounts),
                              .node = (__u64)BPF_CORE_READ(mount, mnt_mounts.next),
                              .mounted = UNKNOWN,
                              .left = lookup->mounts_left};
    if (known && known->mounted ? is_mounted_at((const struct mount *)known->mounted, &place)
                                : known && known->event == found.event)
        return known->mounted;
    bpf_for_each_map_elem(&mount_steps, step_over_mount, &walk, 0);
    lookup->mounts_left = (__u32)walk.left;
    found.mounted = walk.mounted;
    if (walk.mounted != UNKNOWN)
        bpf_map_update_elem(&mounts_found, &place, &found, BPF_ANY);
    return walk.mounted;
}

static __always_inline const struct dentry *root_of(const struct mount *mount) {
    return BPF_CORE_READ(mount, mnt.mnt_root);
}

static __always_inline bool has_flag(unsigned flags, unsigned flag) {
    return flags & flag;
}

/* From Linux 6.15 on the kernel tells its flags. */
#define FLAG(NAME, BEFORE)                                                                                             \
    (bpf_core_enum_value_exists(enum dentry_flags, NAME) ? (unsigned)bpf_core_enum_value(enum dentry_flags, NAME)      \
                                                         : (BEFORE))

#define TYPE_FLAGS FLAG(DCACHE_ENTRY_TYPE, 7U << 20)
#define DIRECTORY_FLAG FLAG(DCACHE_DIRECTORY_TYPE, 2U << 20)
#define AUTODIR_FLAG FLAG(DCACHE_AUTODIR_TYPE, 3U << 20)
#define LINK_FLAG FLAG(DCACHE_SYMLINK_TYPE, 6U << 20)
#define MOUNTED_FLAG FLAG(DCACHE_MOUNTED, 1U << 16)
#define AUTOMOUNT_FLAGS (FLAG(DCACHE_NEED_AUTOMOUNT, 1U << 17) | FLAG(DCACHE_MANAGE_TRANSIT, 1U << 18))

/* Goes to the root of what is mounted there. */
__noinline int cross_mounts(struct lookup *lookup) {
    if (!lookup)
        return STEP_NOT_TOLD;
    for (int i = 0; i < STACKED_MAX; i++) {
        const struct dentry *at = lookup->at;
        const unsigned flags = BPF_CORE_READ(at, d_flags);
        if (!has_flag(flags, MOUNTED_FLAG | AUTOMOUNT_FLAGS))
            return STEP_ON;
        const __u64 mounted = has_flag(flags, MOUNTED_FLAG) ? find_mounted(lookup, (__u64)at) : 0;
        if (mounted == 0)
            return has_flag(flags, AUTOMOUNT_FLAGS) ? STEP_NOT_TOLD : STEP_ON;
        if (mounted == UNKNOWN)
            return STEP_NOT_TOLD;
        lookup->mount = (const struct mount *)mounted;
        lookup->at = root_of(lookup->mount);
    }
    return STEP_NOT_TOLD;
}

/* ".." */
__noinline int go_up(struct lookup *lookup) {
    if (!lookup)
        return STEP_NOT_TOLD;
    for (int i = 0; i < STACKED_MAX; i++) {
        const struct dentry *at = lookup->at;
        const struct mount *mount = lookup->mount;
        if (at == lookup->root && mount == lookup->root_mount)
            return STEP_ON;
        if (at != root_of(mount)) {
            lookup->at = BPF_CORE_READ(at, d_parent);
            return cross_mounts(lookup);
        }
        const struct mount *parent = BPF_CORE_READ(mount, mnt_parent);
        if (parent == mount)
            return STEP_ON;
        lookup->at = BPF_CORE_READ(mount, mnt_mountpoint);
        lookup->mount = parent;
    }
    return STEP_NOT_TOLD;
}

/* ---- Steps -------------------------------------------------------------------------------------- */

static __always_inline void go_to_root(struct lookup *lookup) {
    lookup->at = lookup->root;
    lookup->mount = lookup->root_mount;
}

/* Puts the text of a link in front of the rest. */
__noinline int follow_link(struct lookup *lookup, __u64 link) {
    if (!lookup || link == 0)
        return STEP_NOT_TOLD;
    const __u32 begin = lookup->position < TEXT_HALF ? TEXT_HALF : 0;
    const long length = bpf_probe_read_kernel_str(lookup->text + begin, NAME_BYTES, (const void *)link);
    if (length <= 1 || length >= NAME_BYTES)
        return STEP_NOT_TOLD;
    const __u32 end = (begin + (__u32)length - 1) & (2 * TEXT_HALF - 1);
    const __u32 rest = lookup->position & (2 * TEXT_HALF - 1);
    const long rest_length = bpf_probe_read_kernel_str(lookup->text + end, NAME_BYTES, lookup->text + rest);
    if (rest_length <= 0 || length + rest_length >= NAME_BYTES)
        return STEP_NOT_TOLD;
    lookup->position = begin;
    if (text_at(lookup, begin) == '/')
        go_to_root(lookup);
    return STEP_ON;
}

/* A file that has no dentry now does not exist: nothing else holds these. */
static __always_inline bool is_in_cache_alone(const struct dentry *directory) {
    const unsigned long magic = BPF_CORE_READ(directory, d_sb, s_magic);
    return magic == TMPFS_MAGIC || magic == RAMFS_MAGIC;
}

#define OF_SELF 0x2f666c65732fULL    /* "/self/" */
#define OF_DESCRIPTORS 0x2f64662fULL /* "/fd/" */

/* A link in the root of /proc, which has no text. What is open as "self/fd/NUMBER" is found by the number. */
__noinline int follow_self(struct lookup *lookup) {
    if (!lookup || (word_at(lookup, lookup->position - 5) & 0xffffffffffff) != OF_SELF)
        return STEP_NOT_TOLD;
    if ((word_at(lookup, lookup->position) & 0xffffffff) != OF_DESCRIPTORS || !lookup->follows)
        return STEP_NOT_TOLD;
    struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();
    __u32 fd = 0;
    for (__u32 i = 0; i < FD_DIGITS_MAX; i++) {
        const __u32 digit = (__u32)(unsigned char)text_at(lookup, lookup->position + 4 + i) - '0';
        if (digit > 9)
            break;
        fd = 10 * fd + digit;
        if (text_at(lookup, lookup->position + 5 + i) == '\0') {
            const struct file *file = file_of(BPF_CORE_READ(task, group_leader), fd);
            lookup->at = file ? BPF_CORE_READ(file, f_path.dentry) : NULL;
            return file ? STEP_FOUND : STEP_NOT_TOLD;
        }
    }
    return STEP_NOT_TOLD;
}

static __always_inline bool is_root_of_proc(const struct dentry *dentry) {
    return BPF_CORE_READ(dentry, d_parent) == dentry && BPF_CORE_READ(dentry, d_sb, s_magic) == PROCFS_MAGIC;
}

/* Goes to what the component is that ends at the position: the latest dentry. */
static __always_inline int go_down(struct lookup *lookup, __u64 found, bool is_last) {
    const bool is_followed = lookup->follows || !is_last;
    if (found == UNKNOWN)
        return STEP_NOT_TOLD;
    if (found == 0) /* a mount point would be there, a symbolic link need not */
        return !is_followed || is_in_cache_alone(lookup->at) ? STEP_FOUND : STEP_NOT_TOLD;
    const struct inode *inode = MEMBER(lookup, struct inode *, d_inode);
    const unsigned flags = MEMBER(lookup, unsigned, d_flags);
    const unsigned type = flags & TYPE_FLAGS;
    if (!inode)
        return STEP_FOUND;
    const bool is_link = type == LINK_FLAG && is_followed;
    const char *link = is_link ? BPF_CORE_READ(inode, i_link) : NULL;
    if (is_link && !link && is_root_of_proc(lookup->at))
        return follow_self(lookup);
    if (is_link)
        return follow_link(lookup, (__u64)link);
    lookup->at = (const struct dentry *)found;
    if (!is_last && type != DIRECTORY_FLAG && type != AUTODIR_FLAG)
        return STEP_FOUND;
    return has_flag(flags, MOUNTED_FLAG | AUTOMOUNT_FLAGS) ? cross_mounts(lookup) : STEP_ON;
}

/* A component, or a slash. */
__noinline int look_up_part(struct lookup *lookup) {
    if (!lookup)
        return STEP_NOT_TOLD;
    const __u64 hash_len = hash_part(lookup);
    const __u32 length = (__u32)(hash_len >> 32);
    const char first = text_at(lookup, lookup->position);
    const __u32 after = lookup->position + length;
    if (hash_len == 0)
        return STEP_NOT_TOLD;
    if (length == 0) {
        lookup->position++;
        return first == '/' ? STEP_ON : STEP_FOUND;
    }
    const bool has_slash = text_at(lookup, after) == '/';
    const bool is_last = text_at(lookup, after + has_slash) == 0;
    if (is_last && lookup->is_entry)
        return STEP_FOUND;
    if (first == '.' && length <= 2 && (length == 1 || text_at(lookup, lookup->position + 1) == '.')) {
        lookup->position = after;
        return length == 1 ? STEP_ON : go_up(lookup);
    }
    const __u64 found = find_part(lookup, hash_len);
    lookup->position = after;
    return go_down(lookup, found, is_last && !has_slash);
}

/* Looks up the text, which begins at position 0; `at` and `mount` are where it begins. Returns what it leads to, or the
 * directory in which there is no such file; NULL: it is not told */
static __always_inline const struct dentry *look_up(struct task_struct *task, struct lookup *lookup) {
    lookup->root = BPF_CORE_READ(task, fs, root.dentry);
    lookup->root_mount = mount_of(BPF_CORE_READ(task, fs, root.mnt));
    lookup->position = 0;
    lookup->mounts_left = MOUNTS_MAX;
    if (text_at(lookup, 0) == '/')
        go_to_root(lookup);
    for (int i = 0; i < STEPS_MAX; i++) {
        const int step = look_up_part(lookup);
        if (step != STEP_ON)
            return step == STEP_FOUND ? lookup->at : NULL;
    }
    return NULL;
}

#endif
