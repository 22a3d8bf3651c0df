/* What C lacks: clean-up attributes, stealing, a few careful helpers for descriptors and files, time as text.
 * No knowledge of profiles or file systems. Functions return 0 or a negative errno value. */
#ifndef BASE_H
#define BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define container_of(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* -errno of the call that has just failed; never 0. */
static inline int negative_errno(void) {
    return errno > 0 ? -errno : -EIO;
}

/* Closes *fd if it is open, keeps errno, and leaves -1. */
static inline void close_fd(int *fd) {
    int saved_errno = errno;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = saved_errno;
}

static inline int steal_fd(int *fd) {
    int stolen = *fd;
    *fd = -1;
    return stolen;
}

static inline void free_pointer(void *pointer_to_pointer) {
    free(*(void **)pointer_to_pointer);
}

static inline void close_stream(FILE **stream) {
    if (*stream)
        fclose(*stream);
    *stream = NULL;
}

/* Hands a pointer over: evaluates to it and leaves NULL. */
#define steal_pointer(pointer)                                                                                         \
    (__extension__({                                                                                                   \
        __typeof__(*(pointer)) stolen_ = *(pointer);                                                                   \
        *(pointer) = NULL;                                                                                             \
        stolen_;                                                                                                       \
    }))

/* On a local variable: released when it goes out of scope. */
#define CLEANUP_FD __attribute__((cleanup(close_fd)))
#define CLEANUP_FREE __attribute__((cleanup(free_pointer)))
#define CLEANUP_STREAM __attribute__((cleanup(close_stream)))

/* Opens /dev/null as standard input, output or error where the starter closed it: else the next file opened would be
 * taken for it.
 * Threads: before any other exists */
int reserve_standard_fds(void);

/* Writes all of data, over short writes and EINTR. */
int write_all(int fd, const void *data, size_t size_bytes);

/* Gives a range of a file real blocks on the disk. What a limit of file sizes forbids is -EFBIG, without SIGXFSZ.
 * Threads: any; may not be called in a signal handler */
int allocate_blocks(int fd, off_t offset, size_t size_bytes);

/* What a file begins with, as text, by one read: for those that the kernel makes. path: relative to dir_fd, or
 * AT_FDCWD. Returns false, with an empty text, if it cannot be read or is empty. */
bool read_beginning(int dir_fd, const char *path, char *ret_text, size_t size_bytes);

/* Replaces (or creates) the regular file `name` in dir_fd whole: a temporary file beside it is written,
 * synced and renamed, so that readers see the old contents or the new ones. Its name, which cannot be guessed, it gets
 * last where the file system allows that; where it does not, a process that is killed leaves .osprof.*.tmp behind.
 * mode: of the file, exactly, whatever the umask.
 * backup_name: the old file is kept under this name, if not NULL.
 * Errors:  what failed; the old file is untouched then. -ENOTSUP, -EISDIR: there is something else of that name */
int replace_file(int dir_fd, const char *name, const char *backup_name, mode_t mode, const void *data,
                 size_t size_bytes);

#define TEMPORARY_NAME_SIZE 32

/* A new file of mode 0600, for reading and writing, that has no name until nameless_file_give_name(). Where the file
 * system knows no such files it has one that cannot be guessed. */
struct nameless_file {
    int dir_fd; /* borrowed */
    int fd;
    char temporary[TEMPORARY_NAME_SIZE]; /* "": it has none */
};

/* Owner:   the caller finishes *ret_file. Errors: those of open(2) */
int nameless_file_create(int dir_fd, struct nameless_file *ret_file);

/* Writes all that it is to hold, gives it its mode, and has the disk hold it. Errors: what failed */
int nameless_file_fill(const struct nameless_file *file, mode_t mode, const void *data, size_t size_bytes);

/* replaces: takes the place of a regular file of that name
 * Errors:  -EEXIST there is something of that name; -ENOTSUP, -EISDIR there is something that cannot be replaced; those
 *          of linking and renaming */
int nameless_file_give_name(struct nameless_file *file, const char *name, bool replaces);

/* Closes it, and removes it if it has not got its name. */
void nameless_file_finish(struct nameless_file *file);

/* Opens the directory part of path (relative to dir_fd) as O_PATH and gives the last part.
 * Errors:  -EISDIR path ends in a slash, "." or "..", -EINVAL empty, and those of open(2)
 * Owner:   the caller closes *ret_dir_fd; *ret_name points into path */
int open_parent(int dir_fd, const char *path, int *ret_dir_fd, const char **ret_name);

/* Whether somebody else may have made what is there, so that we write to where he wants: in a directory that is shared
 * (sticky, and all may write to it) it is neither ours nor the directory's owner's. The kernel has the
 * same rule for fs.protected_symlinks. A regular file is no obstacle to root, who replaces it. Returns false if there
 * is nothing */
bool may_be_planted(const char *path);

#define UTC_TEXT_SIZE 64

/* What a clock says, in nanoseconds. clock: CLOCK_MONOTONIC or another that every kernel has */
int64_t read_clock_ns(clockid_t clock);

/* A moment as text to the nanosecond, "2026-11-21T02:30:00.123456789Z" (RFC 3339). unix_ns: since 1970 */
void format_utc(int64_t unix_ns, char ret_text[UTC_TEXT_SIZE]);

/* Steps over one character of *text: *ret_character and the result are its bytes. What is no UTF-8 becomes, byte by
 * byte, U+FFFD. Returns 0 at the end */
size_t next_character(const char **text, const char **ret_character);

/* A hash of a text, and of what it is mixed with: HASH_BEGIN, or the hash of what stands before.
 * Source: Fowler, Noll, Vo: FNV-1a */
#define HASH_BEGIN UINT64_C(14695981039346656037)
uint64_t hash_text(uint64_t before, const char *text);

/* Whether a terminal does something else with a character of next_character() than to show it. */
bool is_obeyed_by_terminals(const char *character, size_t length);

#endif
