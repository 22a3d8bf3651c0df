/* Finding live files. */
#include "live_files.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base.h"
#include "command.h"
#include "control_socket.h"
#include "dir.h"
#include "live_dirs.h"
#include "mounts.h"
#include "own_dir.h"
#include "path.h"

#define STEP_NS 20000000L
#define STEPS_MAX 250

/* True if a user other than this one and root owns the file, or may write to it. The group's bits are also the mask
 * of an access control list. Programs of a run of another user's write into the live file of that run: so they may have given
 * it any label, as that of a mount or of a socket, and any size. */
static bool may_others_write(const struct stat *st) {
    return (st->st_uid != geteuid() && st->st_uid != 0) || st->st_mode & (S_IWGRP | S_IWOTH);
}

/* Opens a live directory; NULL if there is none, or another user could have filled or exchanged it. */
static DIR *open_trusted_dir(const char *path) {
    CLEANUP_FD int fd = -1;
    struct stat st;
    if (own_dir_open(path, 0, true, &fd) < 0 || fstat(fd, &st) < 0 || may_others_write(&st))
        return NULL;
    DIR *dir = fdopendir(fd);
    if (dir)
        steal_fd(&fd);
    return dir;
}

/* Opens a live file.
 * Errors:  -EINVAL another kind of file; -EACCES other users may write to it, *ret_fd is open then; those of open(2) */
static int open_live_file(int dir_fd, const char *name, int *ret_fd) {
    CLEANUP_FD int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return negative_errno();
    if (!S_ISREG(st.st_mode) || !aggstats_live_is(fd))
        return -EINVAL;
    *ret_fd = steal_fd(&fd);
    return may_others_write(&st) ? -EACCES : 0;
}

static void live_file_finish(struct live_file *file) {
    free(file->path);
    aggstats_profile_finish(&file->profile);
}

static int read_dir(DIR *dir, const char *dir_path, struct live_files *files) {
    int error = 0;
    for (struct dirent *entry = readdir(dir); entry && !error; entry = readdir(dir)) {
        struct live_file file = {0};
        CLEANUP_FD int fd = -1;
        error = open_live_file(dirfd(dir), entry->d_name, &fd);
        if (error == -EACCES && fd >= 0) {
            file.info.recording = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK; /* a recorder locks it */
            error = 0;
        } else if (error == 0) {
            error = aggstats_live_read_head(fd, &file.profile, &file.info, &file.why);
        }
        if (error && error != -EBADMSG) { /* it is no live file for us */
            error = error == -ENOMEM ? error : 0;
            continue;
        }
        file.path = path_join(dir_path, entry->d_name);
        error = file.path ? grow_array(&files->files, files->count, sizeof(file)) : -ENOMEM;
        if (error)
            live_file_finish(&file);
        else
            files->files[files->count++] = file;
    }
    return error;
}

int live_files_find(struct live_files *ret_files) {
    struct live_files files = {0};
    struct live_dirs dirs;
    live_dirs_find(&dirs);
    int error = 0;
    for (unsigned i = 0; i < dirs.count && !error; i++) {
        CLEANUP_DIR DIR *dir = open_trusted_dir(dirs.paths[i]);
        if (dir)
            error = read_dir(dir, dirs.paths[i], &files);
    }
    if (error)
        live_files_finish(&files);
    else
        *ret_files = files;
    return error;
}

/* The directory is still that of this user or root: nobody else can have exchanged it. */
int live_file_load(struct live_file *file) {
    CLEANUP_FD int fd = -1;
    struct aggstats_profile profile;
    int error = open_live_file(AT_FDCWD, file->path, &fd);
    if (error == 0)
        error = aggstats_live_read(fd, &profile, &file->info, &file->why);
    if (error == 0) {
        aggstats_profile_finish(&file->profile);
        file->profile = profile;
    }
    return error;
}

void live_files_finish(struct live_files *files) {
    for (size_t i = 0; i < files->count; i++)
        live_file_finish(&files->files[i]);
    free(files->files);
    *files = (struct live_files){0};
}

/* A socket has an absolute path; a file is in the mount. */
char *control_path(const struct aggstats_profile *profile) {
    const char *mount = aggstats_profile_label(profile, "mount");
    const char *name = aggstats_profile_label(profile, "control");
    if (name && name[0] == '/')
        return strdup(name);
    return mount && mount[0] == '/' ? path_join(mount, name && name[0] ? name : ".osprof") : NULL;
}

char *live_file_socket(const struct live_file *file) {
    CLEANUP_FREE char *beside = NULL;
    const char *control = aggstats_profile_label(&file->profile, "control");
    if (control && control[0] == '/')
        return control_socket_is_at(control) ? strdup(control) : NULL;
    return live_socket_path(file->path, &beside) == 0 && control_socket_is_at(beside) ? steal_pointer(&beside) : NULL;
}

static bool is_newer(const struct live_file *file, const struct live_file *than) {
    return !than || file->profile.start_ns >= than->profile.start_ns;
}

struct live_file *live_files_serving(const struct live_files *files, const char *path) {
    struct live_file *newest = NULL;
    for (size_t i = 0; i < files->count; i++) {
        struct live_file *file = &files->files[i];
        const char *mount = aggstats_profile_label(&file->profile, "mount");
        CLEANUP_FREE char *control = control_path(&file->profile);
        if (file->info.recording && is_newer(file, newest) &&
            ((mount && strcmp(mount, path) == 0) || (control && strcmp(control, path) == 0)))
            newest = file;
    }
    return newest;
}

struct live_file *live_files_left(const struct live_files *files, const char *path) {
    struct live_file *newest = NULL;
    for (size_t i = 0; i < files->count; i++) {
        struct live_file *file = &files->files[i];
        const char *mount = aggstats_profile_label(&file->profile, "mount");
        if (mount && !file->info.recording && strcmp(mount, path) == 0 && is_newer(file, newest))
            newest = file;
    }
    return newest;
}

char *live_file_control(const struct live_file *file) {
    char *socket = live_file_socket(file);
    return socket ? socket : control_path(&file->profile);
}

char *live_control(const struct aggstats_profile *profile) {
    const char *mount = aggstats_profile_label(profile, "mount");
    CLEANUP_LIVE_FILES struct live_files files = {0};
    const struct live_file *serving = mount && live_files_find(&files) == 0 ? live_files_serving(&files, mount) : NULL;
    return serving ? live_file_control(serving) : control_path(profile);
}

/* ---- Mounts that are ending --------------------------------------------------------------------- */

/* Whether the mount of a file that has the final profile there is gone, but its process still records. */
static bool any_is_ending(const struct live_files *files, const char *profile_path) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    for (size_t i = 0; i < files->count; i++) {
        const struct live_file *file = &files->files[i];
        const char *profile = aggstats_profile_label(&file->profile, "profile");
        const char *mountpoint = aggstats_profile_label(&file->profile, "mount");
        bool is_mounted = false;
        if (!file->info.recording || !profile || !mountpoint || strcmp(profile, profile_path) != 0)
            continue;
        mounts_open(&table);
        while (!is_mounted && mounts_next(&table, &entry))
            is_mounted = strcmp(entry.path, mountpoint) == 0 && mounts_is_fuse(&entry);
        if (!is_mounted)
            return true;
        mounts_close(&table);
    }
    return false;
}

/* As osproffs names it: with symbolic links in its directory resolved. */
static char *real_path(const char *path) {
    CLEANUP_FREE char *normal = path_normalise(path);
    char *slash = normal ? strrchr(normal, '/') : NULL;
    if (!slash)
        return NULL;
    *slash = '\0';
    CLEANUP_FREE char *directory = realpath(slash == normal ? "/" : normal, NULL);
    return directory ? path_join(strcmp(directory, "/") == 0 ? "" : directory, slash + 1) : NULL;
}

void live_files_wait_for_profile(struct live_files *files, const char *path) {
    const struct timespec step = {.tv_nsec = STEP_NS};
    CLEANUP_FREE char *profile_path = real_path(path);
    int steps = 0;
    for (; profile_path && steps < STEPS_MAX && any_is_ending(files, profile_path); steps++) {
        nanosleep(&step, NULL);
        live_files_finish(files);
        live_files_find(files);
    }
    if (steps == STEPS_MAX)
        complain("note: the mount whose profile goes to %s has not ended yet, so that this is not it", path);
}
