/* The central interface of the daemon: a vector of file-system operations (the VFS operation vector of thesis §4.2),
 * and layers that implement it and call the next layer.
 *
 * Invariants:
 *   - An op returns 0 or -errno; results go to ret_ parameters, which are set only on success.
 *   - Ops know nothing of FUSE requests and replies. They may block; any number of threads calls them at once.
 *   - The caller of an op holds a lookup count on every inode that it names, so the inode stays.
 *   - A new operation is a new row of FS_OPS below: the vector, the enum, the names and the timing wrappers are made
 *     from it; a layer without the operation does not link. */
#ifndef FS_OPS_H
#define FS_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

typedef uint64_t fs_ino;  /* number of an inode, valid while its lookup count is not 0 */
typedef uint64_t fs_file; /* number of an open file or directory */

#define FS_ROOT_INO ((fs_ino)1)
#define FS_NO_FILE ((fs_file)0)

/* The process and user for which an op runs. */
struct fs_caller {
    uid_t uid;
    gid_t gid;
    pid_t pid; /* thread id; 0: the kernel itself (read-ahead, write-back) */
    mode_t umask;
    bool lacks_fsetid; /* writes and truncations remove set-id bits, also for root */
};

/* An inode that was found or created; the op that returns it has added 1 to its lookup count. */
struct fs_entry {
    fs_ino ino;
    uint64_t generation;
    struct stat attr;
};

/* Members of a struct stat for setattr to change. */
enum {
    FS_SET_MODE = 1 << 0,
    FS_SET_UID = 1 << 1,
    FS_SET_GID = 1 << 2,
    FS_SET_SIZE = 1 << 3,
    FS_SET_ATIME = 1 << 4,
    FS_SET_MTIME = 1 << 5,
    FS_SET_ATIME_NOW = 1 << 7,
    FS_SET_MTIME_NOW = 1 << 8,
};

/* In the flags of open: the kernel opens the file to execute it (its FMODE_EXEC). */
#define FS_OPEN_TO_EXECUTE 0x20

/* A write from the kernel's page cache: its file and caller may be any that had the inode open. */
#define FS_WRITE_FROM_CACHE (1U << 31)

/* Where read stores the data: in memory, or all of it in a pipe. */
struct fs_read_into {
    void *memory;
    int pipe_fd; /* has room for all data; -1: none */
    enum {
        FS_PIPE_UNTOUCHED,
        FS_PIPE_HOLDS_ALL, /* memory has nothing */
        FS_PIPE_SPOILT,    /* holds useless bytes: all data is in memory */
    } pipe_state;          /* set by the layer that reads */
};

struct fs_lock {
    bool is_flock; /* flock(2), belongs to the open file; else a record lock, belongs to `owner` */
    uint64_t owner;
    short type; /* F_RDLCK, F_WRLCK, F_UNLCK */
    off_t start;
    off_t length; /* 0: to the end of the file */
    pid_t pid;
};

struct fs_ioctl {
    unsigned command;
    const void *in;
    size_t in_size_bytes;
    void *out; /* room for out_size_bytes */
    size_t out_size_bytes;
};

/* One directory entry, for fs_fill_fn. next_offset is the position after it. attr has st_ino and the type bits of
 * st_mode. With readdirplus, entry is not NULL if the entry was looked up, which added to its lookup count.
 * fs_fill_fn returns false if the entry did not fit: then readdir ends, and the lookup is taken back. */
struct fs_dirent {
    const char *name;
    struct stat attr;
    off_t next_offset;
    const struct fs_entry *entry;
};
typedef bool (*fs_fill_fn)(void *context, const struct fs_dirent *dirent);

/* Arguments and results of a call that are counted, or with which its latency is correlated (thesis §3.1.6). */
struct fs_values {
    int error;       /* errno value; of every op */
    uint64_t size;   /* bytes asked for */
    uint64_t offset; /* where */
    uint64_t result; /* bytes moved, entries listed, position found */
    bool past_eof;   /* nothing was left to read or to list */
    bool has_bytes;  /* the op reads, writes or copies: size and result are counted as bytes asked for and moved */
};

/* In a row of FS_OPS. */
#define FS_SIZE(bytes) .size = (uint64_t)(bytes)
#define FS_OFFSET .offset = (uint64_t)offset
#define FS_CAME_OF(number) .result = result < 0 ? 0 : (uint64_t)(number)
#define FS_BYTES .has_bytes = true
#define FS_EOF(is_past) .past_eof = result == 0 && (is_past)

/* In a row's columns of events (src/events/include/events_format.h has their names). */
#define FS_DONE(number) (result < 0 ? 0 : (uint64_t)(number))
#define FS_ENTRY FS_DONE(ret_entry->ino)
#define FS_OPENED FS_DONE(*ret_file)
#define FS_MAKER caller->umask, caller->gid
#define FS_TIME(time) (uint64_t)(time).tv_sec, (uint64_t)(time).tv_nsec
#define FS_LOCK ((uint64_t)lock->type), (uint64_t)lock->start, (uint64_t)lock->length

#define FS_CALL const struct fs_caller *caller, fs_ino ino
#define FS_UNPACK(...) __VA_ARGS__

#ifdef HAVE_FUSE_SYNCFS
#define FS_OP_SYNCFS(OP) OP(SYNCFS, syncfs, (FS_CALL), (caller, ino), (), "|||", (), (), ())
#else
#define FS_OP_SYNCFS(OP)
#endif

/* Every operation: NAME as in profiles (the kernel's request type), member of the vector, parameters behind the layer,
 * the same as arguments, and what of struct fs_values it has, once `result` is its status. `ino` is the inode worked
 * on, or the parent directory of `name`. Then what an event has of it: the names of columns, of further columns and of
 * texts ("bytes": of struct fs_values has_bytes), and each of these: numbers of 64 bits, four columns at most, and
 * strings. */
/* clang-format off */
#define FS_OPS(OP)                                                                                                     \
    OP(LOOKUP, lookup, (FS_CALL, const char *name, struct fs_entry *ret_entry), (caller, ino, name, ret_entry), (),    \
       "|entry||name", (FS_ENTRY), (), (name))                                                                         \
    OP(GETATTR, getattr, (FS_CALL, fs_file file, struct stat *ret_attr), (caller, ino, file, ret_attr), (),            \
       "|file||", (file), (), ())                                                                                      \
    OP(SETATTR, setattr, (FS_CALL, fs_file file, const struct stat *attr, int which, struct stat *ret_attr),           \
       (caller, ino, file, attr, which, ret_attr), (),                                                                 \
       "|file which size|mode owner group atime_s atime_ns mtime_s mtime_ns|",                                         \
       (file, (uint64_t)which, (uint64_t)attr->st_size),                                                               \
       (attr->st_mode, attr->st_uid, attr->st_gid, FS_TIME(attr->st_atim), FS_TIME(attr->st_mtim)), ())                \
    OP(READLINK, readlink, (FS_CALL, char *target, size_t size_bytes), (caller, ino, target, size_bytes),              \
       (FS_SIZE(size_bytes)),                                                                                          \
       "|size||", (size_bytes), (), ())                                                                                \
    OP(SYMLINK, symlink, (FS_CALL, const char *name, const char *target, struct fs_entry *ret_entry),                  \
       (caller, ino, name, target, ret_entry), (),                                                                     \
       "|entry|umask gid|name target", (FS_ENTRY), (FS_MAKER), (name, target))                                         \
    OP(MKNOD, mknod, (FS_CALL, const char *name, mode_t mode, dev_t device, struct fs_entry *ret_entry),               \
       (caller, ino, name, mode, device, ret_entry), (),                                                               \
       "|entry mode device|umask gid|name", (FS_ENTRY, mode, device), (FS_MAKER), (name))                              \
    OP(MKDIR, mkdir, (FS_CALL, const char *name, mode_t mode, struct fs_entry *ret_entry),                             \
       (caller, ino, name, mode, ret_entry), (),                                                                       \
       "|entry mode|umask gid|name", (FS_ENTRY, mode), (FS_MAKER), (name))                                             \
    OP(UNLINK, unlink, (FS_CALL, const char *name), (caller, ino, name), (),                                           \
       "|||name", (), (), (name))                                                                                      \
    OP(RMDIR, rmdir, (FS_CALL, const char *name), (caller, ino, name), (),                                             \
       "|||name", (), (), (name))                                                                                      \
    OP(RENAME, rename, (FS_CALL, const char *name, fs_ino new_parent, const char *new_name),                           \
       (caller, ino, name, new_parent, new_name), (),                                                                  \
       "|parent||name new_name", (new_parent), (), (name, new_name))                                                   \
    OP(RENAME2, rename2, (FS_CALL, const char *name, fs_ino new_parent, const char *new_name, unsigned flags),         \
       (caller, ino, name, new_parent, new_name, flags), (),                                                           \
       "|parent flags||name new_name", (new_parent, flags), (), (name, new_name))                                      \
    OP(LINK, link, (FS_CALL, fs_ino new_parent, const char *new_name, struct fs_entry *ret_entry),                     \
       (caller, ino, new_parent, new_name, ret_entry), (),                                                             \
       "|entry parent||new_name", (FS_ENTRY, new_parent), (), (new_name))                                              \
    OP(OPEN, open, (FS_CALL, int flags, fs_file *ret_file), (caller, ino, flags, ret_file), (),                        \
       "|file flags||", (FS_OPENED, (uint64_t)flags), (), ())                                                          \
    OP(READ, read, (FS_CALL, fs_file file, struct fs_read_into *into, size_t size_bytes, off_t offset,                 \
       size_t *ret_read_bytes), (caller, ino, file, into, size_bytes, offset, ret_read_bytes), (FS_SIZE(size_bytes),   \
       FS_OFFSET, FS_CAME_OF(*ret_read_bytes), FS_EOF(size_bytes > 0 && *ret_read_bytes == 0), FS_BYTES),              \
       " bytes|file size offset result||", (file, size_bytes, (uint64_t)offset, FS_DONE(*ret_read_bytes)), (), ())     \
    OP(WRITE, write, (FS_CALL, fs_file file, const void *data, size_t size_bytes, off_t offset, unsigned flags,        \
       size_t *ret_written_bytes), (caller, ino, file, data, size_bytes, offset, flags, ret_written_bytes),            \
       (FS_SIZE(size_bytes), FS_OFFSET, FS_CAME_OF(*ret_written_bytes), FS_BYTES),                                     \
       " bytes|file size offset result|flags|",                                                                        \
       (file, size_bytes, (uint64_t)offset, FS_DONE(*ret_written_bytes)), (flags), ())                                 \
    OP(STATFS, statfs, (FS_CALL, struct statvfs *ret_statfs), (caller, ino, ret_statfs), (),                           \
       "|||", (), (), ())                                                                                              \
    OP(RELEASE, release, (FS_CALL, fs_file file), (caller, ino, file), (),                                             \
       "|file||", (file), (), ())                                                                                      \
    OP(FSYNC, fsync, (FS_CALL, fs_file file, bool data_only), (caller, ino, file, data_only), (),                      \
       "|file data_only||", (file, data_only), (), ())                                                                 \
    OP(SETXATTR, setxattr, (FS_CALL, const char *name, const void *value, size_t size_bytes, int flags),               \
       (caller, ino, name, value, size_bytes, flags), (FS_SIZE(size_bytes)),                                           \
       "|size|flags|attribute", (size_bytes), ((uint64_t)flags), (name))                                                    \
    OP(GETXATTR, getxattr, (FS_CALL, const char *name, void *value, size_t size_bytes, size_t *ret_size_bytes),        \
       (caller, ino, name, value, size_bytes, ret_size_bytes), (FS_SIZE(size_bytes), FS_CAME_OF(*ret_size_bytes)),     \
       "|size result||attribute", (size_bytes, FS_DONE(*ret_size_bytes)), (), (name))                                       \
    OP(LISTXATTR, listxattr, (FS_CALL, char *names, size_t size_bytes, size_t *ret_size_bytes),                        \
       (caller, ino, names, size_bytes, ret_size_bytes), (FS_SIZE(size_bytes), FS_CAME_OF(*ret_size_bytes)),           \
       "|size result||", (size_bytes, FS_DONE(*ret_size_bytes)), (), ())                                               \
    OP(REMOVEXATTR, removexattr, (FS_CALL, const char *name), (caller, ino, name), (),                                 \
       "|||attribute", (), (), (name))                                                                                      \
    OP(FLUSH, flush, (FS_CALL, fs_file file, uint64_t lock_owner), (caller, ino, file, lock_owner), (),                \
       "|file|lock_owner|", (file), (lock_owner), ())                                                                  \
    OP(OPENDIR, opendir, (FS_CALL, fs_file *ret_file), (caller, ino, ret_file), (),                                    \
       "|file||", (FS_OPENED), (), ())                                                                                 \
    OP(READDIR, readdir,                                                                                               \
       (FS_CALL, fs_file file, off_t offset, fs_fill_fn fill, void *context, size_t *ret_entry_count),                 \
       (caller, ino, file, offset, fill, context, ret_entry_count),                                                    \
       (FS_OFFSET, FS_CAME_OF(*ret_entry_count), FS_EOF(*ret_entry_count == 0)),                                       \
       "|file offset result||", (file, (uint64_t)offset, FS_DONE(*ret_entry_count)), (), ())                           \
    OP(READDIRPLUS, readdirplus,                                                                                       \
       (FS_CALL, fs_file file, off_t offset, fs_fill_fn fill, void *context, size_t *ret_entry_count),                 \
       (caller, ino, file, offset, fill, context, ret_entry_count),                                                    \
       (FS_OFFSET, FS_CAME_OF(*ret_entry_count), FS_EOF(*ret_entry_count == 0)),                                       \
       "|file offset result||", (file, (uint64_t)offset, FS_DONE(*ret_entry_count)), (), ())                           \
    OP(RELEASEDIR, releasedir, (FS_CALL, fs_file file), (caller, ino, file), (),                                       \
       "|file||", (file), (), ())                                                                                      \
    OP(FSYNCDIR, fsyncdir, (FS_CALL, fs_file file, bool data_only), (caller, ino, file, data_only), (),                \
       "|file data_only||", (file, data_only), (), ())                                                                 \
    OP(GETLK, getlk, (FS_CALL, fs_file file, struct fs_lock *lock), (caller, ino, file, lock), (),                     \
       "|file lock_type lock_start lock_length|lock_owner is_flock|", (file, FS_LOCK), (lock->owner, lock->is_flock),  \
       ())                                                                                                             \
    OP(SETLK, setlk, (FS_CALL, fs_file file, const struct fs_lock *lock), (caller, ino, file, lock), (),               \
       "|file lock_type lock_start lock_length|lock_owner is_flock|", (file, FS_LOCK), (lock->owner, lock->is_flock),  \
       ())                                                                                                             \
    OP(SETLKW, setlkw, (FS_CALL, fs_file file, const struct fs_lock *lock), (caller, ino, file, lock), (),             \
       "|file lock_type lock_start lock_length|lock_owner is_flock|", (file, FS_LOCK), (lock->owner, lock->is_flock),  \
       ())                                                                                                             \
    OP(ACCESS, access, (FS_CALL, int mask), (caller, ino, mask), (),                                                   \
       "|mask||", ((uint64_t)mask), (), ())                                                                            \
    OP(CREATE, create,                                                                                                 \
       (FS_CALL, const char *name, mode_t mode, int flags, struct fs_entry *ret_entry, fs_file *ret_file),             \
       (caller, ino, name, mode, flags, ret_entry, ret_file), (),                                                      \
       "|file entry mode flags|umask gid|name", (FS_OPENED, FS_ENTRY, mode, (uint64_t)flags), (FS_MAKER), (name))      \
    OP(BMAP, bmap, (FS_CALL, size_t block_size_bytes, uint64_t *block), (caller, ino, block_size_bytes, block), (),    \
       "|size block||", (block_size_bytes, *block), (), ())                                                            \
    OP(IOCTL, ioctl, (FS_CALL, fs_file file, const struct fs_ioctl *call, int *ret_result),                            \
       (caller, ino, file, call, ret_result), (),                                                                      \
       "|file command||", (file, call->command), (), ())                                                               \
    OP(POLL, poll, (FS_CALL, fs_file file, unsigned *ret_events), (caller, ino, file, ret_events), (),                 \
       "|file||", (file), (), ())                                                                                      \
    OP(FALLOCATE, fallocate, (FS_CALL, fs_file file, int mode, off_t offset, off_t length),                            \
       (caller, ino, file, mode, offset, length), (FS_SIZE(length), FS_OFFSET),                                        \
       "|file size offset mode||", (file, (uint64_t)length, (uint64_t)offset, (uint64_t)mode), (), ())                 \
    OP(LSEEK, lseek, (FS_CALL, fs_file file, off_t offset, int whence, off_t *ret_offset),                             \
       (caller, ino, file, offset, whence, ret_offset), (FS_OFFSET, FS_CAME_OF(*ret_offset)),                          \
       "|file offset whence result||", (file, (uint64_t)offset, (uint64_t)whence, FS_DONE(*ret_offset)), (), ())       \
    OP(COPY_FILE_RANGE, copy_file_range, (FS_CALL, fs_file file, off_t offset, fs_ino out_ino, fs_file out_file,       \
       off_t out_offset, size_t size_bytes, unsigned flags, size_t *ret_copied_bytes),                                 \
       (caller, ino, file, offset, out_ino, out_file, out_offset, size_bytes, flags, ret_copied_bytes),                \
       (FS_SIZE(size_bytes), FS_OFFSET, FS_CAME_OF(*ret_copied_bytes), FS_BYTES),                                      \
       " bytes|file size offset result|out_node out_file out_offset flags|",                                           \
       (file, size_bytes, (uint64_t)offset, FS_DONE(*ret_copied_bytes)),                                               \
       (out_ino, out_file, (uint64_t)out_offset, flags), ())                                                           \
    OP(TMPFILE, tmpfile, (FS_CALL, mode_t mode, int flags, struct fs_entry *ret_entry, fs_file *ret_file),             \
       (caller, ino, mode, flags, ret_entry, ret_file), (),                                                            \
       "|file entry mode flags|umask gid|", (FS_OPENED, FS_ENTRY, mode, (uint64_t)flags), (FS_MAKER), ())              \
    OP(STATX, statx, (FS_CALL, fs_file file, int flags, unsigned mask, struct statx *ret_attr),                        \
       (caller, ino, file, flags, mask, ret_attr), (),                                                                 \
       "|file flags mask||", (file, (uint64_t)flags, mask), (), ())                                                    \
    FS_OP_SYNCFS(OP)
/* clang-format on */

enum fs_op {
#define FS_ENUM(NAME, member, params, args, values, ...) FS_OP_##NAME,
    FS_OPS(FS_ENUM)
#undef FS_ENUM
        FS_OP_COUNT,
};

struct fs_layer;

struct fs_ops {
#define FS_MEMBER(NAME, member, params, args, values, ...) int (*member)(struct fs_layer * layer, FS_UNPACK params);
    FS_OPS(FS_MEMBER)
#undef FS_MEMBER
    /* Takes back `count` lookups. Not an operation on the lower file system: never timed, cannot fail. */
    void (*forget)(struct fs_layer *layer, fs_ino ino, uint64_t count);
};

/* A member of a vector that may be changed while others call it. */
#define FS_MEMBER_NOW(layer, member) __atomic_load_n(&(layer)->ops->member, __ATOMIC_ACQUIRE)

/* Embedded as the first member of every layer. */
struct fs_layer {
    const struct fs_ops *ops;
    struct fs_layer *next; /* NULL at the bottom; borrowed */
};

/* Names of the ops without a prefix, indexed by enum fs_op. */
extern const char *const fs_op_names[FS_OP_COUNT];

/* What events have of the ops: "NAME [bytes]|COLUMNS|MORE|TEXTS", see events_format.h. */
extern const char *const fs_op_events[FS_OP_COUNT];

#endif
