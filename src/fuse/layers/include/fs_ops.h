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

/* ---- Fields of FS_OPS ----
 *
 * A field such as `PARAMS((int, flags), (fs_file *, ret_file))` is a list of 0 to 8 pairs. From it FS_EACH(PARAMS,
 * field, FIRST, NEXT) makes `FIRST(int, flags) NEXT(fs_file *, ret_file)`. A field with another label does not
 * compile. */
#define FS_PARAMS_IN_PARAMS(...) __VA_ARGS__
#define FS_VALUES_IN_VALUES(...) __VA_ARGS__
#define FS_COLUMNS_IN_COLUMNS(...) __VA_ARGS__
#define FS_MORE_IN_MORE(...) __VA_ARGS__
#define FS_TEXTS_IN_TEXTS(...) __VA_ARGS__
#define FS_EACH(LABEL, field, FIRST, NEXT) FS_EACH_PAIR(FIRST, NEXT, FS_##LABEL##_IN_##field)

/* FS_COMMA followed by n pairs expands to n + 1 arguments (the first pair becomes FS_COMMA's argument). So the tenth
 * argument of FS_TENTH is FS_EACH_n. */
/* clang-format off */
#define FS_COMMA(...) ,
#define FS_EACH_PAIR(FIRST, NEXT, ...)                                                                                 \
    FS_TENTH(FS_COMMA __VA_ARGS__, FS_EACH_8, FS_EACH_7, FS_EACH_6, FS_EACH_5, FS_EACH_4, FS_EACH_3, FS_EACH_2,        \
             FS_EACH_1, FS_EACH_0, )(FIRST, NEXT, __VA_ARGS__)
#define FS_TENTH(...) FS_TENTH_OF(__VA_ARGS__)
#define FS_TENTH_OF(a, b, c, d, e, f, g, h, i, tenth, ...) tenth
#define FS_EACH_0(FIRST, NEXT, nothing) nothing
#define FS_EACH_1(FIRST, NEXT, pair) FIRST pair
#define FS_EACH_2(FIRST, NEXT, pair, ...) FIRST pair FS_EACH_1(NEXT, NEXT, __VA_ARGS__)
#define FS_EACH_3(FIRST, NEXT, pair, ...) FIRST pair FS_EACH_2(NEXT, NEXT, __VA_ARGS__)
#define FS_EACH_4(FIRST, NEXT, pair, ...) FIRST pair FS_EACH_3(NEXT, NEXT, __VA_ARGS__)
#define FS_EACH_5(FIRST, NEXT, pair, ...) FIRST pair FS_EACH_4(NEXT, NEXT, __VA_ARGS__)
#define FS_EACH_6(FIRST, NEXT, pair, ...) FIRST pair FS_EACH_5(NEXT, NEXT, __VA_ARGS__)
#define FS_EACH_7(FIRST, NEXT, pair, ...) FIRST pair FS_EACH_6(NEXT, NEXT, __VA_ARGS__)
#define FS_EACH_8(FIRST, NEXT, pair, ...) FIRST pair FS_EACH_7(NEXT, NEXT, __VA_ARGS__)
/* clang-format on */

/* The parameters of a row's op after the layer, and the same as arguments. */
#define FS_CALL const struct fs_caller *caller, fs_ino ino
#define FS_PARAMETERS(params) FS_CALL FS_EACH(PARAMS, params, FS_PARAMETER, FS_PARAMETER)
#define FS_PARAMETER(type, name) , type name
#define FS_ARGUMENTS(params) caller, ino FS_EACH(PARAMS, params, FS_ARGUMENT, FS_ARGUMENT)
#define FS_ARGUMENT(type, name) , name

/* In a row: the number if the call succeeded, else 0. */
#define FS_DONE(number) (result < 0 ? 0 : (uint64_t)(number))

#ifdef HAVE_FUSE_SYNCFS
#define FS_OP_SYNCFS(OP) OP(SYNCFS, syncfs, PARAMS(), VALUES(), COLUMNS(), MORE(), TEXTS())
#else
#define FS_OP_SYNCFS(OP)
#endif

/* A row for each operation. Every row has all of these fields, maybe empty:
 *   NAME      in profiles: the kernel's request type
 *   member    of struct fs_ops
 *   PARAMS    (type, name) of each parameter after `caller` and `ino`, which is the inode of the op, or the parent
 *             directory of `name`
 *   VALUES    (member, expression) of each member of struct fs_values that the op has, except the error
 *   COLUMNS   (name, number) of each column of the op's events, at most four
 *   MORE      (name, number) of each further column of events with names
 *   TEXTS     (name, string) of each text of events with names
 * Expressions are evaluated after the call; `result` is its status. src/events/include/events_format.h describes the
 * columns and texts. */
/* clang-format off */
#define FS_OPS(OP)                                                                                                     \
    OP(LOOKUP, lookup, PARAMS((const char *, name), (struct fs_entry *, ret_entry)), VALUES(),                         \
       COLUMNS((entry, FS_DONE(ret_entry->ino))), MORE(), TEXTS((name, name)))                                         \
    OP(GETATTR, getattr, PARAMS((fs_file, file), (struct stat *, ret_attr)), VALUES(),                                 \
       COLUMNS((file, file)), MORE(), TEXTS())                                                                         \
    OP(SETATTR, setattr,                                                                                               \
       PARAMS((fs_file, file), (const struct stat *, attr), (int, which), (struct stat *, ret_attr)), VALUES(),        \
       COLUMNS((file, file), (which, which), (size, attr->st_size)),                                                   \
       MORE((mode, attr->st_mode), (owner, attr->st_uid), (group, attr->st_gid), (atime_s, attr->st_atim.tv_sec),      \
            (atime_ns, attr->st_atim.tv_nsec), (mtime_s, attr->st_mtim.tv_sec), (mtime_ns, attr->st_mtim.tv_nsec)),    \
       TEXTS())                                                                                                        \
    OP(READLINK, readlink, PARAMS((char *, target), (size_t, size_bytes)), VALUES((size, size_bytes)),                 \
       COLUMNS((size, size_bytes)), MORE(), TEXTS())                                                                   \
    OP(SYMLINK, symlink, PARAMS((const char *, name), (const char *, target), (struct fs_entry *, ret_entry)),         \
       VALUES(),                                                                                                       \
       COLUMNS((entry, FS_DONE(ret_entry->ino))), MORE((umask, caller->umask), (gid, caller->gid)),                    \
       TEXTS((name, name), (target, target)))                                                                          \
    OP(MKNOD, mknod, PARAMS((const char *, name), (mode_t, mode), (dev_t, device), (struct fs_entry *, ret_entry)),    \
       VALUES(),                                                                                                       \
       COLUMNS((entry, FS_DONE(ret_entry->ino)), (mode, mode), (device, device)),                                      \
       MORE((umask, caller->umask), (gid, caller->gid)), TEXTS((name, name)))                                          \
    OP(MKDIR, mkdir, PARAMS((const char *, name), (mode_t, mode), (struct fs_entry *, ret_entry)), VALUES(),           \
       COLUMNS((entry, FS_DONE(ret_entry->ino)), (mode, mode)), MORE((umask, caller->umask), (gid, caller->gid)),      \
       TEXTS((name, name)))                                                                                            \
    OP(UNLINK, unlink, PARAMS((const char *, name)), VALUES(), COLUMNS(), MORE(), TEXTS((name, name)))                 \
    OP(RMDIR, rmdir, PARAMS((const char *, name)), VALUES(), COLUMNS(), MORE(), TEXTS((name, name)))                   \
    OP(RENAME, rename, PARAMS((const char *, name), (fs_ino, new_parent), (const char *, new_name)), VALUES(),         \
       COLUMNS((parent, new_parent)), MORE(), TEXTS((name, name), (new_name, new_name)))                               \
    OP(RENAME2, rename2,                                                                                               \
       PARAMS((const char *, name), (fs_ino, new_parent), (const char *, new_name), (unsigned, flags)), VALUES(),      \
       COLUMNS((parent, new_parent), (flags, flags)), MORE(), TEXTS((name, name), (new_name, new_name)))               \
    OP(LINK, link, PARAMS((fs_ino, new_parent), (const char *, new_name), (struct fs_entry *, ret_entry)), VALUES(),   \
       COLUMNS((entry, FS_DONE(ret_entry->ino)), (parent, new_parent)), MORE(), TEXTS((new_name, new_name)))           \
    OP(OPEN, open, PARAMS((int, flags), (fs_file *, ret_file)), VALUES(),                                              \
       COLUMNS((file, FS_DONE(*ret_file)), (flags, flags)), MORE(), TEXTS())                                           \
    OP(READ, read,                                                                                                     \
       PARAMS((fs_file, file), (struct fs_read_into *, into), (size_t, size_bytes), (off_t, offset),                   \
              (size_t *, ret_read_bytes)),                                                                             \
       VALUES((has_bytes, true), (size, size_bytes), (offset, offset), (result, FS_DONE(*ret_read_bytes)),             \
              (past_eof, FS_DONE(size_bytes > 0 && *ret_read_bytes == 0))),                                            \
       COLUMNS((file, file), (size, size_bytes), (offset, offset), (result, FS_DONE(*ret_read_bytes))), MORE(),        \
       TEXTS())                                                                                                        \
    OP(WRITE, write,                                                                                                   \
       PARAMS((fs_file, file), (const void *, data), (size_t, size_bytes), (off_t, offset), (unsigned, flags),         \
              (size_t *, ret_written_bytes)),                                                                          \
       VALUES((has_bytes, true), (size, size_bytes), (offset, offset), (result, FS_DONE(*ret_written_bytes))),         \
       COLUMNS((file, file), (size, size_bytes), (offset, offset), (result, FS_DONE(*ret_written_bytes))),             \
       MORE((flags, flags)), TEXTS())                                                                                  \
    OP(STATFS, statfs, PARAMS((struct statvfs *, ret_statfs)), VALUES(), COLUMNS(), MORE(), TEXTS())                   \
    OP(RELEASE, release, PARAMS((fs_file, file)), VALUES(), COLUMNS((file, file)), MORE(), TEXTS())                    \
    OP(FSYNC, fsync, PARAMS((fs_file, file), (bool, data_only)), VALUES(),                                             \
       COLUMNS((file, file), (data_only, data_only)), MORE(), TEXTS())                                                 \
    OP(SETXATTR, setxattr, PARAMS((const char *, name), (const void *, value), (size_t, size_bytes), (int, flags)),    \
       VALUES((size, size_bytes)),                                                                                     \
       COLUMNS((size, size_bytes)), MORE((flags, flags)), TEXTS((attribute, name)))                                    \
    OP(GETXATTR, getxattr,                                                                                             \
       PARAMS((const char *, name), (void *, value), (size_t, size_bytes), (size_t *, ret_size_bytes)),                \
       VALUES((size, size_bytes), (result, FS_DONE(*ret_size_bytes))),                                                 \
       COLUMNS((size, size_bytes), (result, FS_DONE(*ret_size_bytes))), MORE(), TEXTS((attribute, name)))              \
    OP(LISTXATTR, listxattr, PARAMS((char *, names), (size_t, size_bytes), (size_t *, ret_size_bytes)),                \
       VALUES((size, size_bytes), (result, FS_DONE(*ret_size_bytes))),                                                 \
       COLUMNS((size, size_bytes), (result, FS_DONE(*ret_size_bytes))), MORE(), TEXTS())                               \
    OP(REMOVEXATTR, removexattr, PARAMS((const char *, name)), VALUES(), COLUMNS(), MORE(), TEXTS((attribute, name)))  \
    OP(FLUSH, flush, PARAMS((fs_file, file), (uint64_t, lock_owner)), VALUES(),                                        \
       COLUMNS((file, file)), MORE((lock_owner, lock_owner)), TEXTS())                                                 \
    OP(OPENDIR, opendir, PARAMS((fs_file *, ret_file)), VALUES(),                                                      \
       COLUMNS((file, FS_DONE(*ret_file))), MORE(), TEXTS())                                                           \
    OP(READDIR, readdir,                                                                                               \
       PARAMS((fs_file, file), (off_t, offset), (fs_fill_fn, fill), (void *, context), (size_t *, ret_entry_count)),   \
       VALUES((offset, offset), (result, FS_DONE(*ret_entry_count)), (past_eof, FS_DONE(*ret_entry_count == 0))),      \
       COLUMNS((file, file), (offset, offset), (result, FS_DONE(*ret_entry_count))), MORE(), TEXTS())                  \
    OP(READDIRPLUS, readdirplus,                                                                                       \
       PARAMS((fs_file, file), (off_t, offset), (fs_fill_fn, fill), (void *, context), (size_t *, ret_entry_count)),   \
       VALUES((offset, offset), (result, FS_DONE(*ret_entry_count)), (past_eof, FS_DONE(*ret_entry_count == 0))),      \
       COLUMNS((file, file), (offset, offset), (result, FS_DONE(*ret_entry_count))), MORE(), TEXTS())                  \
    OP(RELEASEDIR, releasedir, PARAMS((fs_file, file)), VALUES(), COLUMNS((file, file)), MORE(), TEXTS())              \
    OP(FSYNCDIR, fsyncdir, PARAMS((fs_file, file), (bool, data_only)), VALUES(),                                       \
       COLUMNS((file, file), (data_only, data_only)), MORE(), TEXTS())                                                 \
    OP(GETLK, getlk, PARAMS((fs_file, file), (struct fs_lock *, lock)), VALUES(),                                      \
       COLUMNS((file, file), (lock_type, lock->type), (lock_start, lock->start), (lock_length, lock->length)),         \
       MORE((lock_owner, lock->owner), (is_flock, lock->is_flock)), TEXTS())                                           \
    OP(SETLK, setlk, PARAMS((fs_file, file), (const struct fs_lock *, lock)), VALUES(),                                \
       COLUMNS((file, file), (lock_type, lock->type), (lock_start, lock->start), (lock_length, lock->length)),         \
       MORE((lock_owner, lock->owner), (is_flock, lock->is_flock)), TEXTS())                                           \
    OP(SETLKW, setlkw, PARAMS((fs_file, file), (const struct fs_lock *, lock)), VALUES(),                              \
       COLUMNS((file, file), (lock_type, lock->type), (lock_start, lock->start), (lock_length, lock->length)),         \
       MORE((lock_owner, lock->owner), (is_flock, lock->is_flock)), TEXTS())                                           \
    OP(ACCESS, access, PARAMS((int, mask)), VALUES(), COLUMNS((mask, mask)), MORE(), TEXTS())                          \
    OP(CREATE, create,                                                                                                 \
       PARAMS((const char *, name), (mode_t, mode), (int, flags), (struct fs_entry *, ret_entry),                      \
              (fs_file *, ret_file)), VALUES(),                                                                        \
       COLUMNS((file, FS_DONE(*ret_file)), (entry, FS_DONE(ret_entry->ino)), (mode, mode), (flags, flags)),            \
       MORE((umask, caller->umask), (gid, caller->gid)), TEXTS((name, name)))                                          \
    OP(BMAP, bmap, PARAMS((size_t, block_size_bytes), (uint64_t *, block)), VALUES(),                                  \
       COLUMNS((size, block_size_bytes), (block, *block)), MORE(), TEXTS())                                            \
    OP(IOCTL, ioctl, PARAMS((fs_file, file), (const struct fs_ioctl *, call), (int *, ret_result)), VALUES(),          \
       COLUMNS((file, file), (command, call->command)), MORE(), TEXTS())                                               \
    OP(POLL, poll, PARAMS((fs_file, file), (unsigned *, ret_events)), VALUES(),                                        \
       COLUMNS((file, file)), MORE(), TEXTS())                                                                         \
    OP(FALLOCATE, fallocate, PARAMS((fs_file, file), (int, mode), (off_t, offset), (off_t, length)),                   \
       VALUES((size, length), (offset, offset)),                                                                       \
       COLUMNS((file, file), (size, length), (offset, offset), (mode, mode)), MORE(), TEXTS())                         \
    OP(LSEEK, lseek, PARAMS((fs_file, file), (off_t, offset), (int, whence), (off_t *, ret_offset)),                   \
       VALUES((offset, offset), (result, FS_DONE(*ret_offset))),                                                       \
       COLUMNS((file, file), (offset, offset), (whence, whence), (result, FS_DONE(*ret_offset))), MORE(), TEXTS())     \
    OP(COPY_FILE_RANGE, copy_file_range,                                                                               \
       PARAMS((fs_file, file), (off_t, offset), (fs_ino, out_ino), (fs_file, out_file), (off_t, out_offset),           \
              (size_t, size_bytes), (unsigned, flags), (size_t *, ret_copied_bytes)),                                  \
       VALUES((has_bytes, true), (size, size_bytes), (offset, offset), (result, FS_DONE(*ret_copied_bytes))),          \
       COLUMNS((file, file), (size, size_bytes), (offset, offset), (result, FS_DONE(*ret_copied_bytes))),              \
       MORE((out_node, out_ino), (out_file, out_file), (out_offset, out_offset), (flags, flags)), TEXTS())             \
    OP(TMPFILE, tmpfile, PARAMS((mode_t, mode), (int, flags), (struct fs_entry *, ret_entry), (fs_file *, ret_file)),  \
       VALUES(),                                                                                                       \
       COLUMNS((file, FS_DONE(*ret_file)), (entry, FS_DONE(ret_entry->ino)), (mode, mode), (flags, flags)),            \
       MORE((umask, caller->umask), (gid, caller->gid)), TEXTS())                                                      \
    OP(STATX, statx, PARAMS((fs_file, file), (int, flags), (unsigned, mask), (struct statx *, ret_attr)), VALUES(),    \
       COLUMNS((file, file), (flags, flags), (mask, mask)), MORE(), TEXTS())                                           \
    FS_OP_SYNCFS(OP)
/* clang-format on */

enum fs_op {
#define FS_ENUM(NAME, ...) FS_OP_##NAME,
    FS_OPS(FS_ENUM)
#undef FS_ENUM
        FS_OP_COUNT,
};

struct fs_layer;

struct fs_ops {
#define FS_MEMBER(NAME, member, params, values, columns, more, texts)                                                  \
    int (*member)(struct fs_layer * layer, FS_PARAMETERS(params));
    FS_OPS(FS_MEMBER)
#undef FS_MEMBER
    /* Takes back `count` lookups. Not an operation on the lower file system: never timed, cannot fail. */
    void (*forget)(struct fs_layer *layer, fs_ino ino, uint64_t count);
};

/* Reads a member of a vector that another thread may change meanwhile. */
#define FS_MEMBER_NOW(layer, member) __atomic_load_n(&(layer)->ops->member, __ATOMIC_ACQUIRE)

/* Embedded as the first member of every layer. */
struct fs_layer {
    const struct fs_ops *ops;
    struct fs_layer *next; /* NULL at the bottom; borrowed */
};

/* Names of the ops without a prefix, indexed by enum fs_op. */
extern const char *const fs_op_names[FS_OP_COUNT];

/* Descriptions of the ops' events: "NAME [bytes]|COLUMNS|MORE|TEXTS", see events_format.h. */
extern const char *const fs_op_events[FS_OP_COUNT];

#endif
