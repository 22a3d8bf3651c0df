/* A path is made absolute, and "." and ".." are removed, by the text alone. The buffer is small, to fit on the stack of
 * a signal handler: a longer path has no subject. */
#include "subjects.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "call.h"
#include "directory.h"
#include "fd_entries.h"
#include "fd_look.h"
#include "own_call.h"
#include "scope.h"

#define PATH_BYTES FD_PREFIX_MAX

fd_entry fd_table[FD_TABLE_SIZE]; /* here, since fd_table.c uses subjects, which read it too */

/* Absolute, without slashes at its end: so the root directory is empty. */
struct text {
    size_t length;
    char bytes[PATH_BYTES];
};

static void go_up(struct text *text) {
    while (text->length > 0 && text->bytes[--text->length] != '/')
        ;
}

/* Returns false if it is too long. */
static bool append(struct text *text, const char *path) {
    while (*path) {
        const size_t length = (size_t)(strchrnul(path, '/') - path);
        if (length == 2 && path[0] == '.' && path[1] == '.') {
            go_up(text);
        } else if (length > 1 || (length == 1 && path[0] != '.')) {
            if (length + 1 >= sizeof(text->bytes) - text->length)
                return false;
            text->bytes[text->length++] = '/';
            memcpy(text->bytes + text->length, path, length);
            text->length += length;
        }
        path += length;
        path += *path == '/';
    }
    return true;
}

static void cut_slash(struct text *text) {
    if (text->length == 1)
        text->length = 0;
}

/* The kernel's path. Returns its length; 0: there is none, or it is too long */
static size_t read_fd_path(int fd, struct text *text) {
    const bool is_known = fd >= 0 && fd_path(fd, text->bytes, sizeof(text->bytes));
    const size_t length = is_known ? strlen(text->bytes) : 0;
    return length < sizeof(text->bytes) - 1 ? length : 0;
}

static aggstats_subject subject_of(struct text *text) {
    if (text->length == 0)
        text->bytes[text->length++] = '/';
    return aggstats_subject_of_path(preload.recorder, text->bytes, text->length);
}

static __attribute__((noinline)) aggstats_subject of_name(int dir_fd, const char *path) {
    struct text text; /* clearing all of it would take long */
    text.length = 0;
    if (path[0] != '/') { /* begin with the directory to which the path is relative */
        const aggstats_subject known = dir_fd == AT_FDCWD ? 0 : fd_entry_subject(fd_table_known(dir_fd));
        if (dir_fd == AT_FDCWD)
            text.length = directory_path(text.bytes, sizeof(text.bytes));
        else if (known != 0)
            text.length = aggstats_subject_path(preload.recorder, known, text.bytes, sizeof(text.bytes));
        if (text.length == 0 && dir_fd != AT_FDCWD)
            text.length = read_fd_path(dir_fd, &text);
        if (text.length == 0)
            return 0;
        cut_slash(&text);
    }
    return append(&text, path) ? subject_of(&text) : 0;
}

static __attribute__((noinline)) aggstats_subject of_kernels_path(int fd) {
    struct text text;
    text.length = read_fd_path(fd, &text);
    if (text.length == 0)
        return 0;
    cut_slash(&text);
    return subject_of(&text);
}

/* Before Linux 5.8 a file's mount is not known: its device is. */
static unsigned mount_of(const struct statx *attributes) {
    return aggstats_subject_mount(preload.recorder, attributes->stx_mask & STATX_MNT_ID ? attributes->stx_mnt_id : 0,
                                  makedev(attributes->stx_dev_major, attributes->stx_dev_minor));
}

aggstats_subject subjects_of_name(int dir_fd, const char *path) {
    int saved_errno = errno;
    const aggstats_subject subject =
        path[0] == '\0' && dir_fd >= 0 ? fd_entry_subject(fd_table_known(dir_fd)) : of_name(dir_fd, path);
    errno = saved_errno;
    return subject;
}

aggstats_subject subjects_of_fd(int fd, int dir_fd, const char *path, const struct statx *attributes) {
    int saved_errno = errno;
    /* Such as /dev/stdin: the file that it leads to counts, and has a name of its own. */
    const bool is_pseudo_link = path && scope.has_all && path[0] == '/' && scope_may_be_pseudo(path) &&
                                scope_place_of("/", path) != BELOW_INSIDE;
    const bool is_named = path && path[0] && !is_pseudo_link;
    aggstats_subject subject = is_named ? of_name(dir_fd, path) : of_kernels_path(fd);
    if (attributes && S_ISDIR(attributes->stx_mode))
        aggstats_subject_is_directory(preload.recorder, subject);
    if (attributes && preload.groupings & 1U << AGGSTATS_BY_FILESYSTEM)
        subject = aggstats_subject_on(subject, mount_of(attributes));
    errno = saved_errno;
    return subject;
}

static bool ask_attributes(const char *path, struct statx *ret_attributes) {
    return own_call(SYS_statx, AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_MNT_ID,
                    ret_attributes) == 0;
}

/* If the directory cannot be looked at, asks of one above: so far the call has come at most. */
static __attribute__((noinline)) unsigned ask_mount(aggstats_subject subject) {
    struct text text;
    struct statx attributes;
    text.length = aggstats_subject_directory(preload.recorder, subject, text.bytes, sizeof(text.bytes));
    if (text.length == 0)
        return 0;
    while (!ask_attributes(text.bytes, &attributes)) {
        if (text.length <= 1 || (errno != ENOENT && errno != ENOTDIR && errno != EACCES))
            return 0;
        go_up(&text);
        text.length += text.length == 0; /* "/" */
        text.bytes[text.length] = '\0';
    }
    const unsigned mount = mount_of(&attributes);
    aggstats_subject_note_mount(preload.recorder, subject, mount);
    return mount;
}

aggstats_subject subjects_find_mount(aggstats_subject subject) {
    int saved_errno = errno;
    const unsigned mount = ask_mount(subject);
    errno = saved_errno;
    return aggstats_subject_on(subject, mount);
}

/* ---- The part of a counted call that runs only with groups ---- */

void call_add_to_groups(unsigned op, call_of of, uint64_t latency_cycles) {
    const aggstats_subject subject = subjects_with_mount(call_of_subject(of));
    aggstats_shared_group_add(preload.recorder, preload_caller(), subject, op, latency_cycles);
}
