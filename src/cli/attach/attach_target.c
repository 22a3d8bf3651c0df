#include "attach_target.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "asked_directory.h"
#include "base.h"
#include "command.h"
#include "mounts.h"
#include "path.h"

/* Those whose files have other devices for stat(2) than the superblock. */
static bool has_one_device(const char *type) {
    return strcmp(type, "btrfs") != 0 && strcmp(type, "overlay") != 0;
}

static int copy_entry(const struct mounts_entry *entry, const char *path, struct attach_target *ret_target) {
    struct attach_target target = {.process = ret_target->process,
                                   .mount = {.device = entry->device,
                                             .path = strdup(path),
                                             .type = strdup(entry->type),
                                             .source = strdup(entry->source),
                                             .root = strdup(entry->root)},
                                   .mountpoint = strdup(entry->path),
                                   .has_one_device = has_one_device(entry->type)};
    if (!target.mount.path || !target.mount.type || !target.mount.source || !target.mount.root || !target.mountpoint) {
        attach_target_finish(&target);
        return -ENOMEM;
    }
    attach_target_finish(ret_target);
    *ret_target = target;
    return 0;
}

/* The mount that the inner path is in.
 * Errors:  -EXDEV there is none, -ENOMEM, those of reading the table */
static int find_above(const char *path, const char *inner, struct attach_target *ret_target, bool *ret_may_hang) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    const int error = mounts_open_of(ret_target->process, &table);
    if (error || !mounts_of_path(&table, inner, &entry))
        return error ? error : -EXDEV;
    *ret_may_hang = mounts_may_hang(&entry);
    return copy_entry(&entry, path, ret_target);
}

/* The mount of that number, which the kernel has found.
 * Errors:  -EXDEV it is of another mount namespace, -ENOMEM, those of reading the table */
static int find_number(uint64_t id, const char *path, struct attach_target *ret_target) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    const int error = mounts_open_of(ret_target->process, &table);
    if (error || !mounts_of_id(&table, id, &entry))
        return error ? error : -EXDEV;
    return copy_entry(&entry, path, ret_target);
}

/* "/data" of "/proc/4711/root/data", and the process; else NULL. */
static const char *path_in_process(const char *path, pid_t *ret_process) {
    const char *number = path_below(path, "/proc");
    if (!number || number[0] != '/' || number[1] < '1' || number[1] > '9')
        return NULL;
    char *end;
    const long process = strtol(number + 1, &end, 10);
    const char *inner = process <= INT_MAX ? path_below(end, "/root") : NULL;
    if (!inner)
        return NULL;
    *ret_process = (pid_t)process;
    return inner[0] ? inner : "/";
}

const char *attach_target_inner_path(const struct attach_target *target) {
    pid_t process;
    return target->process > 0 ? path_in_process(target->mount.path, &process) : target->mount.path;
}

static bool shares_mounts(pid_t process) {
    char link[32];
    struct stat own;
    struct stat theirs;
    snprintf(link, sizeof(link), "/proc/%ld/ns/mnt", (long)process);
    return stat("/proc/self/ns/mnt", &own) == 0 && stat(link, &theirs) == 0 && own.st_ino == theirs.st_ino;
}

/* Whether the answer is of the name. Others are of the file system, such as of one whose daemon has ended, or is that of
 * another user. */
static bool is_of_name(int error) {
    return error == 0 || error == -ENOENT || error == -ENOTDIR || error == -ELOOP || error == -ENAMETOOLONG;
}

/* Below a root of the process that is no mount point, as after chroot(2), its table of mounts lacks the mount. */
static int find_answered(const struct asked_directory *asked, const char *path, struct attach_target *target) {
    int error = find_number(asked->mount_id, path, target);
    if (error == -EXDEV && target->process > 0 && shares_mounts(target->process)) {
        const pid_t process = target->process;
        target->process = 0;
        error = find_number(asked->mount_id, path, target);
        target->process = error ? process : 0;
    }
    return error;
}

/* Where the file system does not answer: the mount that has the path, with symbolic links as they stand. */
static int find_unanswered(const struct asked_directory *asked, const char *directory, const char *path,
                           const char *inner, struct attach_target *target) {
    bool may_hang = false;
    int error = find_above(path, inner, target, &may_hang);
    if (error)
        return error;
    if (asked->error != -ETIMEDOUT && !may_hang)
        return asked->error;
    if (asked->error == -ETIMEDOUT)
        complain("%s does not answer within %d s: whether it is there is not known, and its name is taken as it stands",
                 directory, ASKED_DIRECTORY_SECONDS);
    else
        complain("%s does not answer (%s): whether it is there is not known, and its name is taken as it stands",
                 directory, strerror(-asked->error));
    return 0;
}

static int find(const char *directory, struct attach_target *target) {
    CLEANUP_FREE char *path = directory[0] ? path_normalise(directory) : NULL;
    const char *inner = path ? path_in_process(path, &target->process) : NULL;
    struct asked_directory asked;
    if (!path)
        return directory[0] ? negative_errno() : -ENOENT; /* that of getcwd(2) too */
    asked_directory_ask(directory, !inner, &asked);
    if (!is_of_name(asked.error))
        return find_unanswered(&asked, directory, path, inner ? inner : path, target);
    return asked.error ? asked.error : find_answered(&asked, inner ? path : asked.path, target);
}

int attach_target_find(const char *directory, struct attach_target *ret_target) {
    struct attach_target target = {.mountpoint = NULL};
    int error = find(directory, &target);
    if (error == -EXDEV && target.process > 0)
        complain("cannot watch %s: a symbolic link, or the root of process %ld, leads out of what that process has "
                 "mounted; name where it leads",
                 directory, (long)target.process);
    else if (error == -EXDEV)
        complain(
            "cannot watch %s: it is in another mount namespace; name it as /proc/PID/root/..., with a process there",
            directory);
    else if (error)
        complain("cannot watch %s: %s", directory, strerror(-error));
    else if (mounts_is_pseudo(target.mount.type)) {
        complain("cannot watch %s: it is on %s, which holds no files, but tells what the kernel knows", directory,
                 target.mount.type);
        error = -EINVAL;
    }
    if (error)
        attach_target_finish(&target);
    else
        *ret_target = target;
    return error;
}

bool attach_target_is_there(const struct attach_target *target) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    mounts_open_of(target->process, &table);
    return mounts_of_device(&table, target->mount.device, &entry);
}

void attach_target_finish(struct attach_target *target) {
    fuse_mount_finish(&target->mount);
    free(target->mountpoint);
    *target = (struct attach_target){.mountpoint = NULL};
}
