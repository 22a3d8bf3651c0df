/* The directories for live files. */
#include "live_dirs.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base.h"
#include "own_dir.h"

/* Errors:  those of own_dir_open(); -EPERM it belongs to another user, or others may write there */
static int check_place(const char *path, unsigned made_max) {
    CLEANUP_FD int fd = -1;
    struct stat attr;
    const int error = own_dir_open(path, made_max, true, &fd);
    if (error)
        return error;
    if (fstat(fd, &attr) < 0)
        return negative_errno();
    return attr.st_uid == geteuid() && (attr.st_mode & (S_IWGRP | S_IWOTH)) == 0 ? 0 : -EPERM;
}

/* ---- Directories in /tmp ------------------------------------------------------------------------- */

static void find_spares(struct live_dirs *dirs) {
    char prefix[32];
    CLEANUP_FD int fd = -1;
    if (own_dir_open("/tmp", 0, true, &fd) < 0)
        return;
    DIR *tmp = fdopendir(fd);
    if (!tmp)
        return;
    const int tmp_fd = steal_fd(&fd);
    snprintf(prefix, sizeof(prefix), "osprof-%u.", (unsigned)geteuid());
    for (const struct dirent *entry = readdir(tmp); entry && dirs->count < LIVE_DIRS_MAX; entry = readdir(tmp)) {
        struct stat attr;
        /* /tmp is sticky: nobody else can give a directory of this user that name. */
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            fstatat(tmp_fd, entry->d_name, &attr, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(attr.st_mode) &&
            attr.st_uid == geteuid() && (attr.st_mode & 07777) == OWN_DIR_MODE)
            snprintf(dirs->paths[dirs->count++], PATH_MAX, "/tmp/%s", entry->d_name);
    }
    closedir(tmp);
}

static int make_spare(struct live_dirs *dirs) {
    CLEANUP_FD int tmp_fd = -1;
    const int error = own_dir_open("/tmp", 0, true, &tmp_fd);
    if (error || dirs->count == LIVE_DIRS_MAX)
        return error ? error : -EPERM;
    char *path = dirs->paths[dirs->count];
    snprintf(path, PATH_MAX, "/tmp/osprof-%u.XXXXXX", (unsigned)geteuid());
    if (!mkdtemp(path))
        return negative_errno();
    dirs->chosen = dirs->count++;
    return 0;
}

/* ---- All of them --------------------------------------------------------------------------------- */

void live_dirs_find(struct live_dirs *ret_dirs) {
    struct live_dirs dirs = {.count = LIVE_DIRS_COMMON + 1, .chosen = LIVE_DIRS_COMMON};
    const char *runtime_dir = getenv("XDG_RUNTIME_DIR");
    /* The specification has relative paths ignored. */
    if (runtime_dir && runtime_dir[0] == '/' && strlen(runtime_dir) + sizeof("/osprof") <= PATH_MAX) {
        snprintf(dirs.paths[0], PATH_MAX, "%s/osprof", runtime_dir);
        dirs.chosen = own_dir_is_foreign(check_place(dirs.paths[0], 0)) ? LIVE_DIRS_COMMON : 0;
    }
    if (dirs.chosen != 0)
        snprintf(dirs.paths[0], PATH_MAX, "/run/user/%u/osprof", (unsigned)geteuid());
    if (geteuid() == 0)
        snprintf(dirs.paths[LIVE_DIRS_COMMON], PATH_MAX, "/run/osprof");
    else
        snprintf(dirs.paths[LIVE_DIRS_COMMON], PATH_MAX, "/tmp/osprof-%u", (unsigned)geteuid());
    if (geteuid() != 0)
        find_spares(&dirs);
    *ret_dirs = dirs;
}

int live_dirs_make(struct live_dirs *dirs) {
    const int error = check_place(dirs->paths[dirs->chosen], 1);
    if (geteuid() == 0 || dirs->chosen != LIVE_DIRS_COMMON || !own_dir_is_foreign(error))
        return error;
    /* Takes the directory in /tmp that an earlier process made, or makes one. */
    for (unsigned i = LIVE_DIRS_COMMON + 1; i < dirs->count; i++) {
        if (check_place(dirs->paths[i], 0) == 0) {
            dirs->chosen = i;
            return 0;
        }
    }
    return make_spare(dirs);
}

/* ---- One at a time ------------------------------------------------------------------------------- */

#define LOCK_NS (30 * NS_PER_S)
#define LOCK_STEP_NS (20 * NS_PER_MS)

int live_dirs_lock(void) {
    struct live_dirs dirs;
    live_dirs_find(&dirs);
    if (live_dirs_make(&dirs) < 0)
        return -1;
    CLEANUP_FD int fd = open(dirs.paths[dirs.chosen], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + LOCK_NS;
    while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK || read_clock_ns(CLOCK_MONOTONIC) >= end_ns)
            return -1;
        nanosleep(&(const struct timespec){.tv_nsec = LOCK_STEP_NS}, NULL);
    }
    return steal_fd(&fd);
}

/* A process that was started meanwhile has the descriptor too, so closing it is not enough. */
void live_dirs_unlock(int *lock_fd) {
    CLEANUP_FD int fd = steal_fd(lock_fd);
    if (fd >= 0)
        flock(fd, LOCK_UN);
}

/* ---- Names --------------------------------------------------------------------------------------- */

#define NAME_ATTEMPTS 100

int live_dirs_try(const char *directory, const char *tag, int (*make)(void *context, const char *path), void *context) {
    int error = -EEXIST;
    for (unsigned attempt = 0; attempt < NAME_ATTEMPTS && error == -EEXIST; attempt++) {
        CLEANUP_FREE char *path = NULL;
        char number[16] = "";
        if (tag[0] || attempt > 0)
            snprintf(number, sizeof(number), "%s%u", tag[0] ? "" : "-", attempt);
        error = asprintf(&path, "%s/%ld%s%s.live", directory, (long)getpid(), tag, number) < 0 ? -ENOMEM
                                                                                               : make(context, path);
    }
    return error;
}

int live_socket_path(const char *live_path, char **ret_path) {
    static const char suffix[] = ".live";
    const size_t length = strlen(live_path);
    const size_t stem = length > strlen(suffix) ? length - strlen(suffix) : 0;
    if (stem == 0 || strcmp(live_path + stem, suffix) != 0)
        return -EINVAL;
    return asprintf(ret_path, "%.*s.sock", (int)stem, live_path) < 0 ? -ENOMEM : 0;
}
