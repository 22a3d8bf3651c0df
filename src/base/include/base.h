/* What C lacks: clean-up attributes, stealing, a few careful helpers for descriptors and files, time as text. It knows
 * nothing of profiles or file systems. Functions return 0 or a negative errno value. */
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

/* Makes room for one more in an array of `count`, whose room doubles. array_pointer: the address of the pointer to it
 * Errors: -ENOMEM */
static inline int grow_array(void *array_pointer, size_t count, size_t member_bytes) {
    void **array = (void **)array_pointer;
    if (count != 0 && (count & (count - 1)) != 0)
        return 0;
    void *grown = reallocarray(*array, count == 0 ? 1 : 2 * count, member_bytes);
    if (!grown)
        return -ENOMEM;
    *array = grown;
    return 0;
}

/* On a local variable: released when it goes out of scope. */
#define CLEANUP_FD __attribute__((cleanup(close_fd)))
#define CLEANUP_FREE __attribute__((cleanup(free_pointer)))
#define CLEANUP_STREAM __attribute__((cleanup(close_stream)))

/* Opens /dev/null as standard input, output or error if the parent process closed it. Otherwise the next file that is
 * opened would get that number and be taken for it.
 * Threads: before any other exists */
int reserve_standard_fds(void);

/* Writes all of data, over short writes and EINTR. */
int write_all(int fd, const void *data, size_t size_bytes);

/* Allocates blocks on the disk for a range of a file. If a limit of file sizes forbids it, the error is -EFBIG and no
 * SIGXFSZ is delivered.
 * Threads: any; may not be called in a signal handler */
int allocate_blocks(int fd, off_t offset, size_t size_bytes);

/* Reads the beginning of a file as text, with one read: for files that the kernel makes. path: relative to dir_fd, or
 * AT_FDCWD. Returns false, with an empty text, if it cannot be read or is empty. */
bool read_beginning(int dir_fd, const char *path, char *ret_text, size_t size_bytes);

/* Opens a regular file of this user or of root for reading and writing, to be mapped: the file of another user could be cut
 * short under our memory. A symbolic link is not followed.
 * Errors:  -EISDIR, -EPERM it is another kind of file, or of another user; those of open(2) */
int open_to_map(const char *path);

/* Replaces (or creates) the regular file `name` in dir_fd as a whole: writes, syncs and renames a temporary file beside
 * it, so that readers see the old contents or the new ones. Where the file system allows it, the temporary file has no
 * name until the end; elsewhere a process that is killed leaves .osprof.*.tmp behind.
 * mode:    the file's mode, exactly, whatever the umask
 * backup_name: if not NULL, the old file is kept under this name
 * Errors:  the failed call's; the old file is untouched then. -ENOTSUP, -EISDIR: `name` is no regular file */
int replace_file(int dir_fd, const char *name, const char *backup_name, mode_t mode, const void *data,
                 size_t size_bytes);

/* Whether replace_file() may replace that. Errors: -EISDIR, -ENOTSUP it is there, and no regular file */
int check_replaceable(int dir_fd, const char *name);

/* Why a file was not replaced, in words: of -ENOTSUP what it is not, else strerror(). error: of replace_file() or
 * nameless_file_give_name()
 * Threads: as strerror() */
const char *replace_error_text(int error);

#define TEMPORARY_NAME_SIZE 32

/* A new file of mode 0600, for reading and writing, that has no name until nameless_file_give_name(). On a file system
 * without O_TMPFILE it has a temporary name that cannot be guessed. */
struct nameless_file {
    int dir_fd; /* borrowed */
    int fd;
    char temporary[TEMPORARY_NAME_SIZE]; /* "" if it has none */
};

/* Owner:   the caller finishes *ret_file. Errors: those of open(2) */
int nameless_file_create(int dir_fd, struct nameless_file *ret_file);

/* Writes the whole contents, sets the mode, and syncs the file to disk. Errors: the failed call's */
int nameless_file_fill(const struct nameless_file *file, mode_t mode, const void *data, size_t size_bytes);

/* replaces: the file may replace a regular file of that name
 * Errors:  -EEXIST the name is taken; -ENOTSUP, -EISDIR the name is taken by something that cannot be replaced; those
 *          of linking and renaming */
int nameless_file_give_name(struct nameless_file *file, const char *name, bool replaces);

/* Closes the file, and removes it if it has not got its name. */
void nameless_file_finish(struct nameless_file *file);

/* Opens the directory part of path (relative to dir_fd) as O_PATH and returns the last component.
 * Errors:  -EISDIR path ends in a slash, "." or "..", -EINVAL empty, and those of open(2)
 * Owner:   the caller closes *ret_dir_fd; *ret_name points into path */
int open_parent(int dir_fd, const char *path, int *ret_dir_fd, const char **ret_name);

/* True if another user may have put the file there to make us write to a place of his choice: the directory is sticky
 * and world-writable, and the file belongs neither to us nor to the directory's owner. The kernel uses the same rule
 * for fs.protected_symlinks. Root ignores regular files, since it replaces them. Returns false if there is no file */
bool may_be_planted(const char *path);

#define UTC_TEXT_SIZE 64

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)

static inline struct timespec timespec_of(int64_t ns) {
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

/* Reads a clock, in nanoseconds. clock: CLOCK_MONOTONIC or another that every kernel has */
int64_t read_clock_ns(clockid_t clock);

/* Reads a length of time with a unit, us, ms, s, m or h, such as "10ms", "1.5h"; "0.5" is in seconds. Returns false if it is
 * none, or is not within the bounds. */
bool time_parse(const char *text, uint64_t ns_min, uint64_t ns_max, uint64_t *ret_ns);

/* A time as text to the nanosecond, "2026-11-21T02:30:00.123456789Z" (RFC 3339). unix_ns: since 1970 */
void format_utc(int64_t unix_ns, char ret_text[UTC_TEXT_SIZE]);

/* The permissions that a new file of this process gets, without those that its umask(2) takes away.
 * Threads: a file that another thread makes at this moment may get more */
mode_t new_file_mode(void);

/* Replaces control characters by '?': the text is one line then, that a terminal can show. Returns the text */
char *make_line(char *text);

/* The place of a word in a list of words; count: it is not there. */
size_t word_index(const char *const *words, size_t count, const char *word);

/* Steps over one UTF-8 character of *text. The character is *ret_character, and the result its length in bytes. Each
 * byte that is not UTF-8 becomes U+FFFD. Returns 0 at the end */
size_t next_character(const char **text, const char **ret_character);

/* Mixes a text into a hash: begin with HASH_BEGIN.
 * Source:  Fowler, Noll, Vo: FNV-1a */
#define HASH_BEGIN UINT64_C(14695981039346656037)
static inline uint64_t hash_text(uint64_t before, const char *text) {
    for (; *text; text++)
        before = (before ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return before;
}

/* The code point of a character of next_character(). */
uint32_t character_code(const char *character, size_t length);

/* True if a terminal does anything with a character of next_character() except show it. */
bool is_obeyed_by_terminals(const char *character, size_t length);

/* The same; also true if nobody sees the character, so that two names look alike. */
bool is_invisible(const char *character, size_t length);

#endif
