/* libosprof_posix.so: profiles the file calls of the program that it is preloaded into, as one layer of a run.
 *
 * It wraps functions of libc and does nothing else: a call passes through at once unless its file is below the
 * directories of the run. The process keeps only some memory: no descriptor, no thread, no handler. */
#include <assert.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "counting.h"

static_assert(sizeof(off_t) == 8 && sizeof(time_t) == 8, "on 32-bit systems there are other aliases");

static __attribute__((constructor)) void start(void) {
    wrapper_start();
    if (preload_looks())
        preload_join(&posix_ops);
}

/* ---- The functions of libc whose calls count, a row each, and each of its aliases: glibc has several symbols for
 * files of 64-bit size, for programs compiled with _FORTIFY_SOURCE (_chk), and for those linked before 2.33 (__xstat).
 *
 *     ROW(return type, symbol, (parameters), (arguments), operation, whether it counts, outcome)
 *
 * Those that open or close descriptors are in descriptors.c and stdio.c, those of streams in stdio.c.
 * ---- */

/* Which parameter names the file. */
#define FD fd_counts(fd)
#define PATH name_counts(AT_FDCWD, path)
#define AT name_counts(dir_fd, path)
#define EITHER either_name_counts(AT_FDCWD, from, AT_FDCWD, to)
#define EITHER_AT either_name_counts(from_fd, from, to_fd, to)
#define EITHER_FD either_fd_counts(fd, to_fd)
#define DIRECTORY fd_counts(directory_fd(directory))
#define MAPPING all_files_count()

/* What the result means. */
#define FAILS call_outcome(result == -1)      /* -1 is an error */
#define GIVES call_outcome(result == NULL)    /* a pointer; NULL is an error */
#define RETURNS_ERROR call_error((int)result) /* the errno value */
#define MOVES(BYTES) call_moved((uint64_t)(BYTES), (int64_t)result)
#define MOVES_UP_TO(BYTES) call_moved((BYTES) < ALL_BYTES || result < 0 ? (BYTES) : (uint64_t)result, (int64_t)result)
#define MOVES_VECTOR call_moved(result < 0 ? 0 : vector_bytes(vector, count), (int64_t)result)
#define ENDS call_outcome(false) /* NULL may be the end, or an error */

/* A program that asks for this many bytes means all there are. */
#define ALL_BYTES (UINT64_C(1) << 40)

/* clang-format off */
#define MOVING_ROWS(ROW)                                                                                               \
    ROW(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size), POSIX_READ, FD, MOVES(size))                   \
    ROW(ssize_t, __read_chk, (int fd, void *to, size_t size, size_t room), (fd, to, size, room), POSIX_READ, FD, MOVES(size)) \
    ROW(ssize_t, readv, (int fd, const struct iovec *vector, int count), (fd, vector, count), POSIX_READV, FD, MOVES_VECTOR) \
    ROW(ssize_t, pread, (int fd, void *to, size_t size, off64_t offset), (fd, to, size, offset), POSIX_PREAD, FD, MOVES(size)) \
    ROW(ssize_t, pread64, (int fd, void *to, size_t size, off64_t offset), (fd, to, size, offset), POSIX_PREAD, FD, MOVES(size)) \
    ROW(ssize_t, __pread_chk, (int fd, void *to, size_t size, off64_t offset, size_t room), (fd, to, size, offset, room), POSIX_PREAD, FD, MOVES(size)) \
    ROW(ssize_t, __pread64_chk, (int fd, void *to, size_t size, off64_t offset, size_t room), (fd, to, size, offset, room), POSIX_PREAD, FD, MOVES(size)) \
    ROW(ssize_t, preadv, (int fd, const struct iovec *vector, int count, off64_t offset), (fd, vector, count, offset), POSIX_PREADV, FD, MOVES_VECTOR) \
    ROW(ssize_t, preadv64, (int fd, const struct iovec *vector, int count, off64_t offset), (fd, vector, count, offset), POSIX_PREADV, FD, MOVES_VECTOR) \
    ROW(ssize_t, preadv2, (int fd, const struct iovec *vector, int count, off64_t offset, int flags), (fd, vector, count, offset, flags), POSIX_PREADV, FD, MOVES_VECTOR) \
    ROW(ssize_t, preadv64v2, (int fd, const struct iovec *vector, int count, off64_t offset, int flags), (fd, vector, count, offset, flags), POSIX_PREADV, FD, MOVES_VECTOR) \
    ROW(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size), POSIX_WRITE, FD, MOVES(size))       \
    ROW(ssize_t, writev, (int fd, const struct iovec *vector, int count), (fd, vector, count), POSIX_WRITEV, FD, MOVES_VECTOR) \
    ROW(ssize_t, pwrite, (int fd, const void *from, size_t size, off64_t offset), (fd, from, size, offset), POSIX_PWRITE, FD, MOVES(size)) \
    ROW(ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t offset), (fd, from, size, offset), POSIX_PWRITE, FD, MOVES(size)) \
    ROW(ssize_t, pwritev, (int fd, const struct iovec *vector, int count, off64_t offset), (fd, vector, count, offset), POSIX_PWRITEV, FD, MOVES_VECTOR) \
    ROW(ssize_t, pwritev64, (int fd, const struct iovec *vector, int count, off64_t offset), (fd, vector, count, offset), POSIX_PWRITEV, FD, MOVES_VECTOR) \
    ROW(ssize_t, pwritev2, (int fd, const struct iovec *vector, int count, off64_t offset, int flags), (fd, vector, count, offset, flags), POSIX_PWRITEV, FD, MOVES_VECTOR) \
    ROW(ssize_t, pwritev64v2, (int fd, const struct iovec *vector, int count, off64_t offset, int flags), (fd, vector, count, offset, flags), POSIX_PWRITEV, FD, MOVES_VECTOR)

#define COPYING_ROWS(ROW)                                                                                              \
    ROW(ssize_t, copy_file_range, (int fd, off64_t *from, int to_fd, off64_t *to, size_t size, unsigned flags), (fd, from, to_fd, to, size, flags), POSIX_COPY_FILE_RANGE, EITHER_FD, MOVES_UP_TO(size)) \
    ROW(ssize_t, sendfile, (int to_fd, int fd, off64_t *offset, size_t size), (to_fd, fd, offset, size), POSIX_SENDFILE, EITHER_FD, MOVES_UP_TO(size)) \
    ROW(ssize_t, sendfile64, (int to_fd, int fd, off64_t *offset, size_t size), (to_fd, fd, offset, size), POSIX_SENDFILE, EITHER_FD, MOVES_UP_TO(size))

#define DATA_ROWS(ROW)                                                                                                 \
    ROW(off64_t, lseek, (int fd, off64_t offset, int whence), (fd, offset, whence), POSIX_LSEEK, FD, FAILS)            \
    ROW(off64_t, lseek64, (int fd, off64_t offset, int whence), (fd, offset, whence), POSIX_LSEEK, FD, FAILS)          \
    ROW(ssize_t, splice, (int fd, off64_t *from, int to_fd, off64_t *to, size_t size, unsigned flags), (fd, from, to_fd, to, size, flags), POSIX_SPLICE, EITHER_FD, MOVES_UP_TO(size)) \
    ROW(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off64_t offset), (at, size, protection, flags, fd, offset), POSIX_MMAP, mapped_fd_counts(flags, fd), call_outcome(result == MAP_FAILED)) \
    ROW(void *, mmap64, (void *at, size_t size, int protection, int flags, int fd, off64_t offset), (at, size, protection, flags, fd, offset), POSIX_MMAP, mapped_fd_counts(flags, fd), call_outcome(result == MAP_FAILED)) \
    ROW(int, fsync, (int fd), (fd), POSIX_FSYNC, FD, FAILS)                                                            \
    ROW(int, fdatasync, (int fd), (fd), POSIX_FDATASYNC, FD, FAILS)                                                    \
    ROW(int, sync_file_range, (int fd, off64_t offset, off64_t size, unsigned flags), (fd, offset, size, flags), POSIX_SYNC_FILE_RANGE, FD, FAILS) \
    ROW(int, syncfs, (int fd), (fd), POSIX_SYNCFS, FD, FAILS)                                                          \
    ROW(int, truncate, (const char *path, off64_t size), (path, size), POSIX_TRUNCATE, PATH, FAILS)                    \
    ROW(int, truncate64, (const char *path, off64_t size), (path, size), POSIX_TRUNCATE, PATH, FAILS)                  \
    ROW(int, ftruncate, (int fd, off64_t size), (fd, size), POSIX_FTRUNCATE, FD, FAILS)                                \
    ROW(int, ftruncate64, (int fd, off64_t size), (fd, size), POSIX_FTRUNCATE, FD, FAILS)                              \
    ROW(int, fallocate, (int fd, int mode, off64_t offset, off64_t size), (fd, mode, offset, size), POSIX_FALLOCATE, FD, FAILS) \
    ROW(int, fallocate64, (int fd, int mode, off64_t offset, off64_t size), (fd, mode, offset, size), POSIX_FALLOCATE, FD, FAILS) \
    ROW(int, posix_fallocate, (int fd, off64_t offset, off64_t size), (fd, offset, size), POSIX_FALLOCATE, FD, RETURNS_ERROR) \
    ROW(int, posix_fallocate64, (int fd, off64_t offset, off64_t size), (fd, offset, size), POSIX_FALLOCATE, FD, RETURNS_ERROR) \
    ROW(int, posix_fadvise, (int fd, off64_t offset, off64_t size, int advice), (fd, offset, size, advice), POSIX_FADVISE, FD, RETURNS_ERROR) \
    ROW(int, posix_fadvise64, (int fd, off64_t offset, off64_t size, int advice), (fd, offset, size, advice), POSIX_FADVISE, FD, RETURNS_ERROR) \
    ROW(ssize_t, readahead, (int fd, off64_t offset, size_t size), (fd, offset, size), POSIX_FADVISE, FD, FAILS)       \
    ROW(int, madvise, (void *at, size_t size, int advice), (at, size, advice), POSIX_FADVISE, advice_may_wait(advice) ? MAPPING : 0, FAILS) \
    ROW(int, posix_madvise, (void *at, size_t size, int advice), (at, size, advice), POSIX_FADVISE, advice_may_wait(advice) ? MAPPING : 0, RETURNS_ERROR) \
    ROW(int, msync, (void *at, size_t size, int flags), (at, size, flags), POSIX_MSYNC, MAPPING, FAILS)                \
    ROW(int, flock, (int fd, int operation), (fd, operation), POSIX_FLOCK, FD, FAILS)                                  \
    ROW(int, lockf, (int fd, int command, off64_t size), (fd, command, size), POSIX_LOCK, FD, FAILS)                   \
    ROW(int, lockf64, (int fd, int command, off64_t size), (fd, command, size), POSIX_LOCK, FD, FAILS)

#define ATTRIBUTE_ROWS(ROW)                                                                                            \
    ROW(int, stat, (const char *path, struct stat *to), (path, to), POSIX_STAT, PATH, FAILS)                           \
    ROW(int, stat64, (const char *path, struct stat64 *to), (path, to), POSIX_STAT, PATH, FAILS)                       \
    ROW(int, lstat, (const char *path, struct stat *to), (path, to), POSIX_STAT, PATH, FAILS)                          \
    ROW(int, lstat64, (const char *path, struct stat64 *to), (path, to), POSIX_STAT, PATH, FAILS)                      \
    ROW(int, fstatat, (int dir_fd, const char *path, struct stat *to, int flags), (dir_fd, path, to, flags), POSIX_STAT, AT, FAILS) \
    ROW(int, fstatat64, (int dir_fd, const char *path, struct stat64 *to, int flags), (dir_fd, path, to, flags), POSIX_STAT, AT, FAILS) \
    ROW(int, __xstat, (int version, const char *path, struct stat *to), (version, path, to), POSIX_STAT, PATH, FAILS)  \
    ROW(int, __xstat64, (int version, const char *path, struct stat64 *to), (version, path, to), POSIX_STAT, PATH, FAILS) \
    ROW(int, __lxstat, (int version, const char *path, struct stat *to), (version, path, to), POSIX_STAT, PATH, FAILS) \
    ROW(int, __lxstat64, (int version, const char *path, struct stat64 *to), (version, path, to), POSIX_STAT, PATH, FAILS) \
    ROW(int, __fxstatat, (int version, int dir_fd, const char *path, struct stat *to, int flags), (version, dir_fd, path, to, flags), POSIX_STAT, AT, FAILS) \
    ROW(int, __fxstatat64, (int version, int dir_fd, const char *path, struct stat64 *to, int flags), (version, dir_fd, path, to, flags), POSIX_STAT, AT, FAILS) \
    ROW(int, fstat, (int fd, struct stat *to), (fd, to), POSIX_FSTAT, FD, FAILS)                                       \
    ROW(int, fstat64, (int fd, struct stat64 *to), (fd, to), POSIX_FSTAT, FD, FAILS)                                   \
    ROW(int, __fxstat, (int version, int fd, struct stat *to), (version, fd, to), POSIX_FSTAT, FD, FAILS)              \
    ROW(int, __fxstat64, (int version, int fd, struct stat64 *to), (version, fd, to), POSIX_FSTAT, FD, FAILS)          \
    ROW(int, statx, (int dir_fd, const char *path, int flags, unsigned mask, void *to), (dir_fd, path, flags, mask, to), POSIX_STATX, AT, FAILS) \
    ROW(int, name_to_handle_at, (int dir_fd, const char *path, void *to, int *mount, int flags), (dir_fd, path, to, mount, flags), POSIX_STAT, AT, FAILS) \
    ROW(int, inotify_add_watch, (int fd, const char *path, uint32_t events), (fd, path, events), POSIX_ACCESS, PATH, FAILS) \
    ROW(int, access, (const char *path, int mode), (path, mode), POSIX_ACCESS, PATH, FAILS)                            \
    ROW(int, faccessat, (int dir_fd, const char *path, int mode, int flags), (dir_fd, path, mode, flags), POSIX_ACCESS, AT, FAILS) \
    ROW(int, eaccess, (const char *path, int mode), (path, mode), POSIX_ACCESS, PATH, FAILS)                           \
    ROW(int, euidaccess, (const char *path, int mode), (path, mode), POSIX_ACCESS, PATH, FAILS)                        \
    ROW(int, statfs, (const char *path, void *to), (path, to), POSIX_STATFS, PATH, FAILS)                              \
    ROW(int, statfs64, (const char *path, void *to), (path, to), POSIX_STATFS, PATH, FAILS)                            \
    ROW(int, statvfs, (const char *path, void *to), (path, to), POSIX_STATFS, PATH, FAILS)                             \
    ROW(int, statvfs64, (const char *path, void *to), (path, to), POSIX_STATFS, PATH, FAILS)                           \
    ROW(int, fstatfs, (int fd, void *to), (fd, to), POSIX_STATFS, FD, FAILS)                                           \
    ROW(int, fstatfs64, (int fd, void *to), (fd, to), POSIX_STATFS, FD, FAILS)                                         \
    ROW(int, fstatvfs, (int fd, void *to), (fd, to), POSIX_STATFS, FD, FAILS)                                          \
    ROW(int, fstatvfs64, (int fd, void *to), (fd, to), POSIX_STATFS, FD, FAILS)                                        \
    ROW(int, chmod, (const char *path, mode_t mode), (path, mode), POSIX_CHMOD, PATH, FAILS)                           \
    ROW(int, lchmod, (const char *path, mode_t mode), (path, mode), POSIX_CHMOD, PATH, FAILS)                          \
    ROW(int, fchmod, (int fd, mode_t mode), (fd, mode), POSIX_CHMOD, FD, FAILS)                                        \
    ROW(int, fchmodat, (int dir_fd, const char *path, mode_t mode, int flags), (dir_fd, path, mode, flags), POSIX_CHMOD, AT, FAILS) \
    ROW(int, chown, (const char *path, uid_t uid, gid_t gid), (path, uid, gid), POSIX_CHOWN, PATH, FAILS)              \
    ROW(int, lchown, (const char *path, uid_t uid, gid_t gid), (path, uid, gid), POSIX_CHOWN, PATH, FAILS)             \
    ROW(int, fchown, (int fd, uid_t uid, gid_t gid), (fd, uid, gid), POSIX_CHOWN, FD, FAILS)                           \
    ROW(int, fchownat, (int dir_fd, const char *path, uid_t uid, gid_t gid, int flags), (dir_fd, path, uid, gid, flags), POSIX_CHOWN, AT, FAILS) \
    ROW(int, utimensat, (int dir_fd, const char *path, const void *times, int flags), (dir_fd, path, times, flags), POSIX_UTIMENS, path ? AT : fd_counts(dir_fd), FAILS) \
    ROW(int, futimens, (int fd, const void *times), (fd, times), POSIX_UTIMENS, FD, FAILS)                             \
    ROW(int, utime, (const char *path, const void *times), (path, times), POSIX_UTIMENS, PATH, FAILS)                  \
    ROW(int, utimes, (const char *path, const void *times), (path, times), POSIX_UTIMENS, PATH, FAILS)                 \
    ROW(int, lutimes, (const char *path, const void *times), (path, times), POSIX_UTIMENS, PATH, FAILS)                \
    ROW(int, futimes, (int fd, const void *times), (fd, times), POSIX_UTIMENS, FD, FAILS)                              \
    ROW(int, futimesat, (int dir_fd, const char *path, const void *times), (dir_fd, path, times), POSIX_UTIMENS, path ? AT : fd_counts(dir_fd), FAILS) \
    ROW(ssize_t, getxattr, (const char *path, const char *name, void *to, size_t size), (path, name, to, size), POSIX_GETXATTR, PATH, FAILS) \
    ROW(ssize_t, lgetxattr, (const char *path, const char *name, void *to, size_t size), (path, name, to, size), POSIX_GETXATTR, PATH, FAILS) \
    ROW(ssize_t, fgetxattr, (int fd, const char *name, void *to, size_t size), (fd, name, to, size), POSIX_GETXATTR, FD, FAILS) \
    ROW(int, setxattr, (const char *path, const char *name, const void *from, size_t size, int flags), (path, name, from, size, flags), POSIX_SETXATTR, PATH, FAILS) \
    ROW(int, lsetxattr, (const char *path, const char *name, const void *from, size_t size, int flags), (path, name, from, size, flags), POSIX_SETXATTR, PATH, FAILS) \
    ROW(int, fsetxattr, (int fd, const char *name, const void *from, size_t size, int flags), (fd, name, from, size, flags), POSIX_SETXATTR, FD, FAILS) \
    ROW(ssize_t, listxattr, (const char *path, char *to, size_t size), (path, to, size), POSIX_LISTXATTR, PATH, FAILS) \
    ROW(ssize_t, llistxattr, (const char *path, char *to, size_t size), (path, to, size), POSIX_LISTXATTR, PATH, FAILS) \
    ROW(ssize_t, flistxattr, (int fd, char *to, size_t size), (fd, to, size), POSIX_LISTXATTR, FD, FAILS)              \
    ROW(int, removexattr, (const char *path, const char *name), (path, name), POSIX_REMOVEXATTR, PATH, FAILS)          \
    ROW(int, lremovexattr, (const char *path, const char *name), (path, name), POSIX_REMOVEXATTR, PATH, FAILS)         \
    ROW(int, fremovexattr, (int fd, const char *name), (fd, name), POSIX_REMOVEXATTR, FD, FAILS)

#define NAME_ROWS(ROW)                                                                                                 \
    ROW(int, rename, (const char *from, const char *to), (from, to), POSIX_RENAME, EITHER, FAILS)                      \
    ROW(int, renameat, (int from_fd, const char *from, int to_fd, const char *to), (from_fd, from, to_fd, to), POSIX_RENAME, EITHER_AT, FAILS) \
    ROW(int, renameat2, (int from_fd, const char *from, int to_fd, const char *to, unsigned flags), (from_fd, from, to_fd, to, flags), POSIX_RENAME, EITHER_AT, FAILS) \
    ROW(int, link, (const char *from, const char *to), (from, to), POSIX_LINK, EITHER, FAILS)                          \
    ROW(int, linkat, (int from_fd, const char *from, int to_fd, const char *to, int flags), (from_fd, from, to_fd, to, flags), POSIX_LINK, EITHER_AT, FAILS) \
    ROW(int, unlink, (const char *path), (path), POSIX_UNLINK, PATH, FAILS)                                            \
    ROW(int, remove, (const char *path), (path), POSIX_UNLINK, PATH, FAILS)                                            \
    ROW(int, unlinkat, (int dir_fd, const char *path, int flags), (dir_fd, path, flags), flags & AT_REMOVEDIR ? POSIX_RMDIR : POSIX_UNLINK, AT, FAILS) \
    ROW(int, mkdir, (const char *path, mode_t mode), (path, mode), POSIX_MKDIR, PATH, FAILS)                           \
    ROW(int, mkdirat, (int dir_fd, const char *path, mode_t mode), (dir_fd, path, mode), POSIX_MKDIR, AT, FAILS)       \
    ROW(char *, mkdtemp, (char *path), (path), POSIX_MKDIR, PATH, GIVES)                                               \
    ROW(int, rmdir, (const char *path), (path), POSIX_RMDIR, PATH, FAILS)                                              \
    ROW(int, symlink, (const char *target, const char *path), (target, path), POSIX_SYMLINK, PATH, FAILS)              \
    ROW(int, symlinkat, (const char *target, int dir_fd, const char *path), (target, dir_fd, path), POSIX_SYMLINK, AT, FAILS) \
    ROW(ssize_t, readlink, (const char *path, char *to, size_t size), (path, to, size), POSIX_READLINK, PATH, FAILS)   \
    ROW(ssize_t, readlinkat, (int dir_fd, const char *path, char *to, size_t size), (dir_fd, path, to, size), POSIX_READLINK, AT, FAILS) \
    ROW(ssize_t, __readlink_chk, (const char *path, char *to, size_t size, size_t room), (path, to, size, room), POSIX_READLINK, PATH, FAILS) \
    ROW(ssize_t, __readlinkat_chk, (int dir_fd, const char *path, char *to, size_t size, size_t room), (dir_fd, path, to, size, room), POSIX_READLINK, AT, FAILS) \
    ROW(int, mknod, (const char *path, mode_t mode, dev_t device), (path, mode, device), POSIX_MKNOD, PATH, FAILS)     \
    ROW(int, mknodat, (int dir_fd, const char *path, mode_t mode, dev_t device), (dir_fd, path, mode, device), POSIX_MKNOD, AT, FAILS) \
    ROW(int, __xmknod, (int version, const char *path, mode_t mode, dev_t *device), (version, path, mode, device), POSIX_MKNOD, PATH, FAILS) \
    ROW(int, __xmknodat, (int version, int dir_fd, const char *path, mode_t mode, dev_t *device), (version, dir_fd, path, mode, device), POSIX_MKNOD, AT, FAILS) \
    ROW(int, mkfifo, (const char *path, mode_t mode), (path, mode), POSIX_MKNOD, PATH, FAILS)                          \
    ROW(int, mkfifoat, (int dir_fd, const char *path, mode_t mode), (dir_fd, path, mode), POSIX_MKNOD, AT, FAILS)      \
    ROW(struct dirent *, readdir, (DIR *directory), (directory), POSIX_READDIR, DIRECTORY, ENDS)                       \
    ROW(struct dirent64 *, readdir64, (DIR *directory), (directory), POSIX_READDIR, DIRECTORY, ENDS)                   \
    ROW(int, readdir_r, (DIR *directory, struct dirent *entry, struct dirent **to), (directory, entry, to), POSIX_READDIR, DIRECTORY, RETURNS_ERROR) \
    ROW(int, readdir64_r, (DIR *directory, struct dirent64 *entry, struct dirent64 **to), (directory, entry, to), POSIX_READDIR, DIRECTORY, RETURNS_ERROR) \
    ROW(ssize_t, getdents64, (int fd, void *to, size_t size), (fd, to, size), POSIX_GETDENTS, FD, FAILS)
/* clang-format on */

/* ---- The wrappers of all rows ---- */

static inline struct aggstats_outcome call_error(int error) {
    return (struct aggstats_outcome){.error = error};
}

/* The mapping replaces what was there. */
static inline call_of mapped_fd_counts(int flags, int fd) {
    if (flags & MAP_FIXED)
        names_memory_changed();
    return flags & MAP_ANONYMOUS ? 0 : fd_counts(fd);
}

/* Advice by which files are read or written at once. The rest is most often for memory of no file: allocators give it
 * back so, in each of many calls. MADV_WILLNEED is also POSIX_MADV_WILLNEED. */
static inline bool advice_may_wait(int advice) {
    return advice == MADV_WILLNEED || advice == MADV_REMOVE || advice == MADV_PAGEOUT || advice == MADV_POPULATE_READ ||
           advice == MADV_POPULATE_WRITE;
}

MOVING_ROWS(WRAP_MOVING)
COPYING_ROWS(WRAP_COPYING)
DATA_ROWS(WRAP)
ATTRIBUTE_ROWS(WRAP)
NAME_ROWS(WRAP)

WRAPPER(void, sync, (void)) {
    function_sync *real = real_sync();
    const call_of of = all_files_count();
    if (!of) {
        real();
        return;
    }
    CLEANUP_CALL struct call call = call_begin(POSIX_SYNCFS, of);
    real();
    call_end(&call, call_outcome(false));
}
