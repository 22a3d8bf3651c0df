/* Saving profiles. */
#include "profile_target.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "final_file.h"
#include "log.h"
#include "path.h"
#include "proc.h"
#include "profile_series.h"

#define DEFAULT_NAME "osprof.out"
#define BACKUP_SUFFIX ".old"
#define SECOND_ATTEMPTS 100U

static int open_stream(struct profile_target *target, int fd, const char *shown) {
    target->stream_fd = fd;
    target->shown = strdup(shown);
    if (fd < 0)
        return negative_errno();
    return target->shown ? 0 : -ENOMEM;
}

static char *absolute_path(int dir_fd, const char *name) {
    char directory[PATH_MAX];
    return path_of_open(dir_fd, directory) < 0 ? strdup(name) : path_join(directory, name);
}

/* Reports a bad place now, not after a day of profiling. */
static int open_file(struct profile_target *target, const char *file) {
    const char *name;
    struct stat attr;
    int err = open_parent(AT_FDCWD, file, &target->dir_fd, &name);
    if (err < 0)
        return err;
    if (strlen(name) + strlen(BACKUP_SUFFIX) > NAME_MAX)
        return -ENAMETOOLONG;
    target->name = strdup(name);
    target->shown = absolute_path(target->dir_fd, name);
    if (!target->name || !target->shown)
        return -ENOMEM;
    if (fstat(target->dir_fd, &attr) == 0 && attr.st_nlink == 0)
        return -ENOENT; /* removed: it is still open, but nothing can be made in it */
    if (syscall(SYS_faccessat2, target->dir_fd, "", W_OK | X_OK, AT_EMPTY_PATH | AT_EACCESS) < 0)
        return negative_errno();
    return check_replaceable(target->dir_fd, target->name);
}

/* Opens the existing file, if any. */
static int open_existing(struct profile_target *target, const char *file) {
    struct stat attr;
    if (may_be_planted(file))
        return -EPERM;
    CLEANUP_FREE char *existing = realpath(file, NULL); /* a symbolic link stays one */
    if (!existing || stat(existing, &attr) < 0)
        return open_file(target, file);
    if (S_ISDIR(attr.st_mode))
        return -EISDIR;
    if (S_ISREG(attr.st_mode))
        return open_file(target, existing);
    /* A FIFO without a reader is an error now, not a wait; once it is open, writes may wait as usual. */
    int fd = open(file, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0)
        fcntl(fd, F_SETFL, 0);
    return open_stream(target, fd, file);
}

static int open_target(struct profile_target *target, const char *file, bool foreground) {
    target->mode = new_file_mode();
    target->start_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (target->start_fd < 0)
        return negative_errno();
    if (!file && !foreground) {
        target->keep_old = true;
        return may_be_planted(DEFAULT_NAME) ? -EPERM : open_file(target, DEFAULT_NAME);
    }
    if (!file || strcmp(file, "-") == 0) {
        /* A regular file without a name, as osprof run makes in memory, can be read only by the process that opened
         * it. */
        struct stat attr;
        if (foreground && fstat(STDOUT_FILENO, &attr) == 0 && S_ISREG(attr.st_mode) && attr.st_nlink == 0)
            target->reader = getppid();
        return open_stream(target, fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), "standard output");
    }
    return open_existing(target, file);
}

/* Opens the directory, and decides how names in it begin. file: without slashes at its end */
static int open_series_place(struct profile_target *target, const char *file, const char *mountpoint) {
    CLEANUP_FREE char *existing = realpath(file, NULL);
    const char *name = strrchr(mountpoint, '/');
    int err = 0;
    name = name && name[1] ? name + 1 : "root";
    if (existing)
        target->dir_fd = open(existing, O_PATH | O_DIRECTORY | O_CLOEXEC);
    else
        err = open_parent(AT_FDCWD, file, &target->dir_fd, &name);
    if (target->dir_fd < 0)
        return err < 0 ? err : negative_errno();
    target->name = strdup(name);
    return target->name ? 0 : -ENOMEM;
}

static int open_series(struct profile_target *target, const char *file, const char *mountpoint) {
    size_t length = strlen(file);
    while (length > 1 && file[length - 1] == '/')
        length--;
    CLEANUP_FREE char *place = strndup(file, length);
    CLEANUP_FREE char *pattern = NULL;
    target->is_series = true;
    target->start_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!place || target->start_fd < 0)
        return place ? negative_errno() : -ENOMEM;
    if (may_be_planted(place))
        return -EPERM;
    if (file[length] && access(place, F_OK) < 0)
        return negative_errno(); /* "DIR/" names a directory */
    int err = open_series_place(target, place, mountpoint);
    if (err < 0)
        return err;
    if (strlen(target->name) + PROFILE_SERIES_SUFFIX_MAX > NAME_MAX)
        return -ENAMETOOLONG;
    if (asprintf(&pattern, "%s-*.osprof", target->name) < 0)
        return -ENOMEM;
    target->shown = absolute_path(target->dir_fd, pattern);
    if (!target->shown)
        return -ENOMEM;
    return syscall(SYS_faccessat2, target->dir_fd, "", R_OK | W_OK | X_OK, AT_EMPTY_PATH | AT_EACCESS) < 0
               ? negative_errno()
               : 0;
}

static const struct profile_target no_target = {.start_fd = -1, .dir_fd = -1, .stream_fd = -1, .second_fd = -1};

int profile_target_init_series(struct profile_target *ret_target, const char *file, const char *mountpoint) {
    *ret_target = no_target;
    ret_target->mode = new_file_mode();
    int err = open_series(ret_target, file, mountpoint);
    if (err < 0)
        log_message("cannot write profiles to %s: %s; choose another directory with -o profile=DIR", file,
                    strerror(-err));
    return err;
}

int profile_target_init(struct profile_target *ret_target, const char *file, bool foreground) {
    *ret_target = no_target;
    int err = open_target(ret_target, file, foreground);
    if (err < 0)
        log_message("cannot write the profile to %s: %s; choose another place with -o profile=FILE",
                    file ? file : DEFAULT_NAME, strerror(-err));
    return err;
}

void profile_target_finish(struct profile_target *target) {
    close_fd(&target->start_fd);
    close_fd(&target->dir_fd);
    close_fd(&target->stream_fd);
    close_fd(&target->second_fd);
    free(target->name);
    free(target->second);
    free(target->shown);
}

mode_t profile_target_mode(const struct profile_target *target, const struct control_text *text) {
    return text->has_paths ? target->mode & 0600 : target->mode;
}

static int replace(const struct profile_target *target, int dir_fd, const char *name, const struct control_text *text) {
    mode_t mode = profile_target_mode(target, text);
    return replace_file(dir_fd, name, NULL, mode, text->text, text->size_bytes);
}

/* Lines with counts begin otherwise than those of the header. */
static bool has_counts(const char *text) {
    const char *line = text;
    while (line && line[0] == '#') {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return line && line[0] != '\0';
}

/* If another profile is in the way, this one gets another name, and keeps it from now on. */
static int save_to_file(struct profile_target *target, const struct control_text *text) {
    CLEANUP_FREE char *other_name = NULL;
    mode_t mode = profile_target_mode(target, text);
    int err = final_file_save(target->dir_fd, target->name, target->keep_old, mode, text, &other_name);
    if (err < 0)
        return err;
    target->keep_old = false; /* the existing file is ours now */
    char *shown = other_name ? absolute_path(target->dir_fd, other_name) : NULL;
    if (!shown)
        return other_name ? -ENOMEM : 0;
    log_message(FINAL_FILE_IS_TAKEN "; this one goes to %s", target->shown, shown);
    free(target->name);
    free(target->shown);
    target->name = steal_pointer(&other_name);
    target->shown = shown;
    return 0;
}

/* If the reader of a stream has ended, the profile would be lost with the stream: the caller must keep it elsewhere,
 * unless nothing has been counted. A process that is killed hands its children to another of its threads while that has
 * not ended yet: then they still have the same parent, whose first thread is dead. */
int profile_target_save(struct profile_target *target, const struct control_text *text) {
    const pid_t reader = target->reader;
    struct proc_stat stat;
    if (target->is_series)
        return -EISDIR;
    if (target->stream_fd < 0)
        return save_to_file(target, text);
    if (reader != 0 &&
        (getppid() != reader || (proc_stat_read((uint64_t)reader, &stat) && strchr("ZX", stat.state[0]))))
        return has_counts(text->text) ? -EPIPE : 0;
    return write_all(target->stream_fd, text->text, text->size_bytes);
}

/* Walks to the directory step by step, so that a step into our own mount is seen before a request is sent. */
static int open_directory_elsewhere(int start_fd, char *path, dev_t own_device, int *ret_fd) {
    CLEANUP_FD int fd = path[0] == '/' ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)
                                       : openat(start_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *rest = path;
    struct statx attr;
    for (const char *step = strsep(&rest, "/"); fd >= 0 && step; step = strsep(&rest, "/")) {
        int next = openat(fd, step[0] ? step : ".", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close_fd(&fd);
        fd = next;
        if (fd >= 0 && statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &attr) == 0 &&
            makedev(attr.stx_dev_major, attr.stx_dev_minor) == own_device)
            return -ELOOP;
    }
    if (fd < 0)
        return negative_errno();
    *ret_fd = steal_fd(&fd);
    return 0;
}

static const char *last_name(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static int open_parent_elsewhere(const struct profile_target *target, const char *file, dev_t own_device,
                                 int *ret_dir_fd) {
    const char *name = last_name(file);
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return -EISDIR;
    CLEANUP_FREE char *directory = name > file ? strndup(file, (size_t)(name - file)) : strdup(".");
    return directory ? open_directory_elsewhere(target->start_fd, directory, own_device, ret_dir_fd) : -ENOMEM;
}

int profile_target_save_as(const struct profile_target *target, const char *file, dev_t own_device,
                           const struct control_text *text) {
    CLEANUP_FD int dir_fd = -1;
    int err = open_parent_elsewhere(target, file, own_device, &dir_fd);
    return err < 0 ? err : replace(target, dir_fd, last_name(file), text);
}

/* True for the file of the final profile, or the one it replaces. */
static bool is_own_place(const struct profile_target *target, int dir_fd, const char *name) {
    struct stat own;
    struct stat attr;
    size_t length = target->name ? strlen(target->name) : 0;
    if (!target->name || target->is_series || strncmp(name, target->name, length) != 0 ||
        (name[length] && strcmp(name + length, BACKUP_SUFFIX) != 0))
        return false;
    return fstat(target->dir_fd, &own) == 0 && fstat(dir_fd, &attr) == 0 && own.st_dev == attr.st_dev &&
           own.st_ino == attr.st_ino;
}

bool profile_target_is_at(const struct profile_target *target, const char *path) {
    size_t length = strlen(target->shown);
    return target->name && !target->is_series && strncmp(path, target->shown, length) == 0 &&
           (!path[length] || strcmp(path + length, BACKUP_SUFFIX) == 0);
}

int profile_target_open_new(const struct profile_target *target, const char *file, dev_t own_device, int *ret_dir_fd,
                            const char **ret_name) {
    CLEANUP_FD int dir_fd = -1;
    struct stat attr;
    const char *name = last_name(file);
    int err = open_parent_elsewhere(target, file, own_device, &dir_fd);
    if (err < 0)
        return err;
    if (is_own_place(target, dir_fd, name))
        return -EBUSY;
    if (fstatat(dir_fd, name, &attr, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    *ret_dir_fd = steal_fd(&dir_fd);
    *ret_name = name;
    return 0;
}

/* A name that is free in the directory. */
static int find_free_name(int dir_fd, const char *stem, char **ret_name) {
    struct stat attr;
    for (unsigned attempt = 0; attempt < SECOND_ATTEMPTS; attempt++) {
        char number[16] = "";
        CLEANUP_FREE char *name = NULL;
        if (attempt > 0)
            snprintf(number, sizeof(number), "-%u", attempt);
        if (asprintf(&name, "%s%s.osprof", stem, number) < 0)
            return -ENOMEM;
        if (fstatat(dir_fd, name, &attr, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT) {
            *ret_name = steal_pointer(&name);
            return 0;
        }
    }
    return -EEXIST;
}

int profile_target_add_second(struct profile_target *target, const char *path) {
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    int err = open_parent(AT_FDCWD, path, &dir_fd, &name);
    if (err < 0)
        return err;
    target->second = strdup(name);
    if (!target->second)
        return -ENOMEM;
    target->second_fd = steal_fd(&dir_fd);
    return 0;
}

/* Owner:   the caller frees *ret_shown, the new file's path for messages
 * Errors:  -ENOENT there is no second place, and those of writing */
static int save_second(const struct profile_target *target, const struct control_text *text, char **ret_shown) {
    CLEANUP_FREE char *name = NULL;
    if (target->second_fd < 0)
        return -ENOENT;
    int err = find_free_name(target->second_fd, target->second, &name);
    if (err < 0)
        return err;
    CLEANUP_FREE char *shown = absolute_path(target->second_fd, name);
    if (!shown)
        return -ENOMEM;
    err = replace(target, target->second_fd, name, text);
    if (err == 0)
        *ret_shown = steal_pointer(&shown);
    return err;
}

/* ---- The final profile that cannot be written where it should ---- */

static char *make_outcome(const char *what, const char *where) {
    char *outcome = NULL;
    return asprintf(&outcome, "%s %s\n", what, where) < 0 ? NULL : outcome;
}

char *final_profile_saved(const struct profile_target *target) {
    return make_outcome("saved", target->shown);
}

bool final_profile_keep(const struct profile_target *target, const struct aggstats_recorder *recorder,
                        const struct control_text *text, int err, char **ret_outcome) {
    const char *why = strerror(-err);
    const char *shown = target->shown;
    const char *live_path = aggstats_recorder_live_path(recorder);
    bool is_live_whole = live_path && aggstats_recorder_live_complete(recorder) && !text->exceeds_live;
    CLEANUP_FREE char *second = NULL;
    *ret_outcome = live_path ? make_outcome("live", live_path) : make_outcome("lost", "");
    if (text->text && is_live_whole) {
        log_message("cannot write profile %s: %s; saved in %s (osprof save %s)", shown, why, live_path, live_path);
    } else if (text->text && save_second(target, text, &second) == 0) {
        log_message("cannot write profile %s: %s; saved in %s", shown, why, second);
        free(*ret_outcome);
        *ret_outcome = make_outcome("elsewhere", second);
        return false;
    } else if (text->text) {
        log_message("cannot write profile %s: %s; it follows", shown, why);
        for (const char *end, *line = text->text; *line; line = *end ? end + 1 : end) { /* the last resort */
            end = strchrnul(line, '\n');
            log_message("%.*s", (int)(end - line), line);
        }
    } else if (live_path) {
        log_message("cannot write profile %s: %s; its counters are in %s (osprof save %s), the rest is lost", shown,
                    why, live_path, live_path);
    } else {
        log_message("cannot write profile %s: %s; it is lost", shown, why);
    }
    return true;
}

/* ---- Descriptors kept in reserve ---- */

/* They are opened on /dev/null. */
static void open_all(struct spare_fds *spare) {
    for (size_t index = 0; index < SPARE_FDS; index++) {
        if (spare->fds[index] < 0)
            spare->fds[index] = open("/dev/null", O_PATH | O_CLOEXEC);
    }
}

static void close_all(struct spare_fds *spare) {
    for (size_t index = 0; index < SPARE_FDS; index++)
        close_fd(&spare->fds[index]);
}

void spare_fds_init(struct spare_fds *spare) {
    pthread_mutex_init(&spare->lock, NULL);
    spare->users = 0;
    for (size_t index = 0; index < SPARE_FDS; index++)
        spare->fds[index] = -1;
    open_all(spare);
}

void spare_fds_finish(struct spare_fds *spare) {
    close_all(spare);
    pthread_mutex_destroy(&spare->lock);
}

void spare_fds_use(struct spare_fds *spare) {
    pthread_mutex_lock(&spare->lock);
    if (spare->users++ == 0)
        close_all(spare);
    pthread_mutex_unlock(&spare->lock);
}

void spare_fds_keep(struct spare_fds *spare) {
    pthread_mutex_lock(&spare->lock);
    if (--spare->users == 0)
        open_all(spare);
    pthread_mutex_unlock(&spare->lock);
}
