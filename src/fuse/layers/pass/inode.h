/* An inode that the kernel knows, and which lower inode it is. See inode_table.h for its invariants. */
#ifndef INODE_H
#define INODE_H

#include "fs_ops.h"

struct inode_name;
struct open_file;

/* The identity of a lower inode. */
struct inode_key {
    dev_t device;
    ino_t number;
    uint32_t mount_index;
    bool is_hidden_device;      /* a device whose number is hidden is another inode than if it is shown */
    bool is_by_name;            /* the handle opens nothing: the inode is found by name */
    bool is_mount_root;         /* found by name, it keeps its descriptor, which keeps the mount; not compared */
    uint32_t handle_size_bytes; /* 0: no handle */
    int handle_type;
    const unsigned char *handle;
};

/* Where an inode that is found by name was looked up. */
struct inode_place {
    const struct inode *directory;
    const char *name;
    uint32_t removals;   /* inode_table_removals() before the lookup */
    size_t path_fds_max; /* if this many descriptors are held, one that is_listed does not keep its own */
    bool is_listed;      /* looked up with all others in the directory, so it is hardly used next */
};

#define INODE_NAME_SIZE 1025U /* with its NUL: the longest of FUSE */
#define INODE_HANDLE_INLINE_BYTES 24
#define INODE_HANDLE_NAMED_BYTES 16 /* the same beside names */

struct inode {
    uint64_t lookup_count;
    ino_t number; /* on the lower file system */
    dev_t device;
    uint32_t mount_index;
    uint32_t generation; /* atomic */
    uint32_t slot;
    uint32_t hash_next; /* slot + 1; 0 ends the chain */
    union {
        struct { /* with a handle: slots + 1, in the list of forgotten inodes */
            uint32_t before;
            uint32_t after;
        } forgotten;
        struct {                /* found by name */
            uint32_t children;  /* references: names of other inodes in this directory, and threads using the inode */
            uint32_t hash_next; /* slot + 1; in the chain of its first name */
        } named;
    } list;
    int path_fd; /* O_PATH, or -1; atomic */
    mode_t type; /* S_IFMT bits; atomic */
    int handle_type;
    uint16_t handle_size_bytes;
    bool used;
    bool is_hidden_device : 1;
    bool is_by_name : 1;
    bool keeps_path_fd : 1; /* found by name, but with a descriptor from its first lookup on */
    union {
        unsigned char bytes[INODE_HANDLE_INLINE_BYTES];
        unsigned char *heap;
        struct {
            unsigned char bytes[INODE_HANDLE_NAMED_BYTES]; /* or on the heap */
            struct inode_name *names;
        } named;
    } handle;
    struct open_file *open_files; /* under the open-file lock of the pass layer */
};

#define INODE_GENERATIONS ((fs_ino)1 << 30) /* generations that numbers distinguish; numbers from 2^62 on are others' */

static inline fs_ino inode_ino(const struct inode *inode) {
    fs_ino generation = __atomic_load_n(&inode->generation, __ATOMIC_RELAXED);
    return (generation % INODE_GENERATIONS) << 32 | (fs_ino)(inode->slot + 1);
}

static inline const unsigned char *inode_handle(const struct inode *inode) {
    size_t inline_bytes = inode->is_by_name ? INODE_HANDLE_NAMED_BYTES : INODE_HANDLE_INLINE_BYTES;
    return inode->handle_size_bytes <= inline_bytes ? inode->handle.bytes : inode->handle.heap;
}

static inline struct inode_name *inode_names_of(const struct inode *inode) {
    return inode->is_by_name ? inode->handle.named.names : NULL;
}

/* Threads: see the invariants */
static inline int inode_path_fd(const struct inode *inode) {
    return __atomic_load_n(&inode->path_fd, __ATOMIC_ACQUIRE);
}

#endif
