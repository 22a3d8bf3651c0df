/* Looking for processes by the links in /proc, which show paths without walking them. */
#include "mountpoint_users.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "path.h"

#define PATIENCE_NS 200000000

struct search {
    const char *path;
    char namespace[64]; /* ours */
    int64_t end_ns;
};

/* Errors: -errno, as when the link is hidden from us */
static int read_link(int dir_fd, const char *name, char *ret_target, size_t size) {
    ssize_t length = readlinkat(dir_fd, name, ret_target, size - 1);
    if (length < 0)
        return negative_errno();
    ret_target[length] = '\0';
    return 0;
}

static bool leads_there(const struct search *search, int dir_fd, const char *name) {
    char target[PATH_MAX];
    return read_link(dir_fd, name, target, sizeof(target)) == 0 && path_below(target, search->path);
}

static DIR *open_dir_at(int dir_fd, const char *name) {
    CLEANUP_FD int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir)
        steal_fd(&fd);
    return dir;
}

/* Calls check() with each numbered entry, until it returns true or the time is up. Returns its last result. */
static bool any_numbered(DIR *dir, struct search *search, void *context,
                         bool (*check)(struct search *search, int dir_fd, const char *name, void *context)) {
    bool found = false;
    for (const struct dirent *entry;
         !found && read_clock_ns(CLOCK_MONOTONIC) < search->end_ns && (entry = readdir(dir));)
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            found = check(search, dirfd(dir), entry->d_name, context);
    return found;
}

static bool is_open_there(struct search *search, int dir_fd, const char *name, void *context) {
    (void)context;
    return leads_there(search, dir_fd, name);
}

static bool has_open_there(struct search *search, int process_fd) {
    DIR *files = open_dir_at(process_fd, "fd");
    bool found = files && any_numbered(files, search, NULL, is_open_there);
    if (files)
        closedir(files);
    return found;
}

/* A process in another mount namespace does not see our mount anyway. */
static bool is_in_namespace(const struct search *search, int process_fd) {
    char namespace[sizeof(search->namespace)];
    return read_link(process_fd, "ns/mnt", namespace, sizeof(namespace)) == 0 &&
           strcmp(namespace, search->namespace) == 0;
}

static bool look_at_process(struct search *search, int dir_fd, const char *name, void *context) {
    struct mountpoint_users *users = context;
    pid_t process = (pid_t)strtol(name, NULL, 10);
    CLEANUP_FD int process_fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (process == getpid() || process_fd < 0 || !is_in_namespace(search, process_fd))
        return false;
    if (!leads_there(search, process_fd, "cwd") && !has_open_there(search, process_fd))
        return false;
    if (users->count++ == 0)
        users->first = process;
    return false;
}

void mountpoint_find_users(const char *path, struct mountpoint_users *ret_users) {
    struct search search = {.path = path, .end_ns = read_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS};
    *ret_users = (struct mountpoint_users){.count = 0};
    DIR *processes = open_dir_at(AT_FDCWD, "/proc");
    if (processes && read_link(AT_FDCWD, "/proc/self/ns/mnt", search.namespace, sizeof(search.namespace)) == 0)
        any_numbered(processes, &search, ret_users, look_at_process);
    ret_users->are_all = read_clock_ns(CLOCK_MONOTONIC) < search.end_ns;
    if (processes)
        closedir(processes);
}
