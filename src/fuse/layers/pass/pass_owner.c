/* Owners that have no number in the daemon's user namespace.
 *
 * In the namespace of an ordinary user (osprof run) only that user and group have numbers; system calls show all others
 * as the overflow ids, usually 65534. If the kernel got these, it would find no owner for the mount's file, and let
 * nobody write to it or remove it, whatever its mode allows. So such files are shown as the daemon's own, and the lower
 * file system, which knows the real owner, decides who may do what. */
#include <fcntl.h>

#include "pass_private.h"

/* The first number in a file; -1 if there is none. */
static int64_t read_number(int proc_fd, const char *path) {
    char text[32];
    return read_beginning(proc_fd, path, text, sizeof(text)) ? strtoll(text, NULL, 10) : -1;
}

/* A line of a map: "FIRST OUTSIDE COUNT". */
static bool covers(const char *line, int64_t id) {
    char *rest;
    int64_t first = strtoll(line, &rest, 10);
    strtoll(rest, &rest, 10);
    int64_t count = strtoll(rest, NULL, 10);
    return id >= first && id < first + count;
}

/* Without a map every id has a number. */
static bool has_number(int proc_fd, const char *map, int64_t id) {
    CLEANUP_FD int fd = openat(proc_fd, map, O_RDONLY | O_CLOEXEC);
    CLEANUP_STREAM FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
    CLEANUP_FREE char *line = NULL;
    size_t size_bytes = 0;
    bool found = false;
    if (!stream)
        return true;
    steal_fd(&fd);
    while (!found && getline(&line, &size_bytes, stream) > 0)
        found = covers(line, id);
    return found;
}

static int64_t find_overflow(int proc_fd, const char *map, const char *overflow) {
    int64_t id = read_number(proc_fd, overflow);
    return id >= 0 && !has_number(proc_fd, map, id) ? id : -1;
}

void pass_find_overflow_ids(struct pass *pass) {
    pass->overflow_uid = find_overflow(pass->proc_fd, "self/uid_map", "sys/kernel/overflowuid");
    pass->overflow_gid = find_overflow(pass->proc_fd, "self/gid_map", "sys/kernel/overflowgid");
}

uid_t pass_shown_uid(const struct pass *pass, uid_t uid) {
    return (int64_t)uid == pass->overflow_uid ? geteuid() : uid;
}

gid_t pass_shown_gid(const struct pass *pass, gid_t gid) {
    return (int64_t)gid == pass->overflow_gid ? getegid() : gid;
}
