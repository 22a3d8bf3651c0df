/* What is watched is found in three steps: the directory is asked for in a child process, since its file system may wait
 * for a server or a daemon; the mount is taken from the kernel's answer, or from the name; then processes and control
 * group are checked. */
#include "attach_watched.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "aggstats/profile.h"
#include "base.h"
#include "command.h"
#include "mounts.h"
#include "path.h"
#include "str.h"

#define ASKED_DIRECTORY_SECONDS 3

/* ---- Asking the kernel ---------------------------------------------------------------------------- */

/* What the kernel says of a directory that the user has named. */
struct asked_directory {
    int error;           /* 0, or a negative errno value; then the rest is not valid */
    uint64_t mount_id;   /* of the mount that the kernel finds there */
    char path[PATH_MAX]; /* absolute, without symbolic links; "": not asked for */
};

/* The child keeps no other file open: it may stay for as long as the file system hangs, also after osprof has ended. */
static _Noreturn void answer(const char *directory, bool resolves, int pipe_fd) {
    struct asked_directory asked = {.error = 0};
    struct statx attr = {.stx_mnt_id = 0};
    if (dup2(pipe_fd, STDIN_FILENO) == STDIN_FILENO)
        close_range(STDIN_FILENO + 1, ~0U, 0); /* before Linux 5.9 open files stay open */
    const bool is_there = statx(AT_FDCWD, directory, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_MNT_ID, &attr) == 0;
    if (is_there && !S_ISDIR(attr.stx_mode))
        asked.error = -ENOTDIR;
    else if (!is_there || (resolves && !realpath(directory, asked.path)))
        asked.error = negative_errno();
    asked.mount_id = attr.stx_mnt_id;
    write_all(STDIN_FILENO, &asked, sizeof(asked));
    _exit(0);
}

/* Errors:  -ETIMEDOUT, -EIO the child was killed, those of poll(2) and read(2) */
static int read_answer(int pipe_fd, struct asked_directory *ret_asked) {
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + ASKED_DIRECTORY_SECONDS * NS_PER_S;
    struct pollfd answered = {.fd = pipe_fd, .events = POLLIN};
    size_t size_bytes = 0;
    while (size_bytes < sizeof(*ret_asked)) {
        const int64_t left_ns = end_ns - read_clock_ns(CLOCK_MONOTONIC);
        const int ready = poll(&answered, 1, left_ns > 0 ? (int)(left_ns / NS_PER_MS) : 0);
        if (ready == 0)
            return -ETIMEDOUT;
        const ssize_t count =
            ready < 0 ? -1 : read(pipe_fd, (char *)ret_asked + size_bytes, sizeof(*ret_asked) - size_bytes);
        if (count == 0)
            return -EIO;
        if (count < 0 && errno != EINTR)
            return negative_errno();
        size_bytes += count > 0 ? (size_t)count : 0;
    }
    return 0;
}

/* resolves: also asks for the path
 * Errors:  in ret_asked: -ETIMEDOUT there was no answer within ASKED_DIRECTORY_SECONDS; -ENOTDIR; those of pipe(2),
 *          fork(2), statx(2) and realpath(3) */
static void ask(const char *directory, bool resolves, struct asked_directory *ret_asked) {
    int ends[2];
    *ret_asked = (struct asked_directory){.error = 0};
    if (pipe2(ends, O_CLOEXEC) < 0) {
        ret_asked->error = negative_errno();
        return;
    }
    CLEANUP_FD int read_fd = ends[0];
    CLEANUP_FD int write_fd = ends[1];
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent))
        _exit(0);
    if (child == 0)
        answer(directory, resolves, write_fd);
    int error = child < 0 ? negative_errno() : 0;
    close_fd(&write_fd);
    if (error == 0) {
        error = read_answer(read_fd, ret_asked);
        kill(child, SIGKILL);
        waitpid(child, NULL, error ? WNOHANG : 0); /* a child that still asks may hang for good */
    }
    if (error)
        ret_asked->error = error;
}

/* ---- The mount of a directory --------------------------------------------------------------------- */

static void finish_target(struct attach_target *target) {
    fuse_mount_finish(&target->mount);
    free(target->mountpoint);
    *target = (struct attach_target){.mountpoint = NULL};
}

/* *ret_target may have been found before. Errors: -ENOMEM */
static int copy_entry(const struct mounts_entry *entry, const char *path, struct attach_target *ret_target) {
    struct attach_target target = {.process = ret_target->process,
                                   .mount = {.device = entry->device,
                                             .path = strdup(path),
                                             .type = strdup(entry->type),
                                             .source = strdup(entry->source),
                                             .root = strdup(entry->root)},
                                   .mountpoint = strdup(entry->path),
                                   .has_one_device =
                                       strcmp(entry->type, "btrfs") != 0 && strcmp(entry->type, "overlay") != 0};
    if (!target.mount.path || !target.mount.type || !target.mount.source || !target.mount.root || !target.mountpoint) {
        finish_target(&target);
        return -ENOMEM;
    }
    finish_target(ret_target);
    *ret_target = target;
    return 0;
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

/* Below a root of the process that is no mount point, as after chroot(2), its table of mounts lacks the mount: it is in
 * ours if the process shares our mount namespace. */
static int find_answered(const struct asked_directory *asked, const char *path, struct attach_target *target) {
    const pid_t process = target->process;
    struct stat own;
    struct stat theirs;
    char link[32];
    int error = find_number(asked->mount_id, path, target);
    if (error != -EXDEV || process == 0)
        return error;
    snprintf(link, sizeof(link), "/proc/%ld/ns/mnt", (long)process);
    if (stat("/proc/self/ns/mnt", &own) < 0 || stat(link, &theirs) < 0 || own.st_ino != theirs.st_ino)
        return error;
    target->process = 0;
    error = find_number(asked->mount_id, path, target);
    target->process = error ? process : 0;
    return error;
}

/* Where the file system does not answer: the mount that has the inner path, with symbolic links as they stand.
 * Errors:  -EXDEV there is none, -ENOMEM, those of reading the table */
static int find_unanswered(const struct asked_directory *asked, const char *directory, const char *path,
                           const char *inner, struct attach_target *target) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    int error = mounts_open_of(target->process, &table);
    if (error || !mounts_of_path(&table, inner, &entry))
        return error ? error : -EXDEV;
    const bool may_hang = mounts_may_hang(&entry);
    error = copy_entry(&entry, path, target);
    if (error)
        return error;
    if (asked->error == -ETIMEDOUT)
        complain("%s does not answer within %d s: whether it is there is not known, and its name is taken as it stands",
                 directory, ASKED_DIRECTORY_SECONDS);
    else if (may_hang)
        complain("%s does not answer (%s): whether it is there is not known, and its name is taken as it stands",
                 directory, strerror(-asked->error));
    else
        return asked->error;
    return 0;
}

static int find(const char *directory, struct attach_target *target) {
    CLEANUP_FREE char *path = directory[0] ? path_normalise(directory) : NULL;
    const char *inner = path ? path_in_process(path, &target->process) : NULL;
    struct asked_directory asked;
    if (!path)
        return directory[0] ? negative_errno() : -ENOENT; /* that of getcwd(2) too */
    ask(directory, !inner, &asked);
    /* Other errors are of the file system, such as of one whose daemon has ended, or of another user's. */
    const int error = asked.error;
    const bool is_of_name =
        error == 0 || error == -ENOENT || error == -ENOTDIR || error == -ELOOP || error == -ENAMETOOLONG;
    if (!is_of_name)
        return find_unanswered(&asked, directory, path, inner ? inner : path, target);
    return asked.error ? asked.error : find_answered(&asked, inner ? path : asked.path, target);
}

/* Errors:  reported to the user */
static int find_target(const char *directory, struct attach_target *target) {
    int error = find(directory, target);
    if (error == -EXDEV && target->process > 0)
        complain("cannot watch %s: a symbolic link, or the root of process %ld, leads out of what that process has "
                 "mounted; name where it leads",
                 directory, (long)target->process);
    else if (error == -EXDEV)
        complain(
            "cannot watch %s: it is in another mount namespace; name it as /proc/PID/root/..., with a process there",
            directory);
    else if (error)
        complain("cannot watch %s: %s", directory, strerror(-error));
    else if (mounts_is_pseudo(target->mount.type)) {
        complain("cannot watch %s: it is on %s, which holds no files, but tells what the kernel knows", directory,
                 target->mount.type);
        error = -EINVAL;
    }
    return error;
}

/* Requests are those of a mount: its profile is found by its mount point. Errors: reported to the user */
static int find_fuse(const char *directory, struct attach_target *target) {
    const struct mounts_entry entry = {.type = target->mount.type};
    char *path = target->process == 0 ? strdup(target->mountpoint) : NULL;
    if (!mounts_is_fuse(&entry)) {
        complain("cannot watch requests to FUSE of %s: it is on %s; leave out --layers fuse", directory,
                 target->mount.type);
        free(path);
        return -ENODEV;
    }
    if (path) {
        free(target->mount.path);
        target->mount.path = path;
    }
    return 0;
}

/* ---- All that is watched -------------------------------------------------------------------------- */

int attach_watched_find(struct attach_watched *watched, const char *directory, const char *cgroup) {
    const struct attach_processes *processes = &watched->processes;
    int error = attach_processes_check(processes);
    if (error == 0 && cgroup)
        error = attach_cgroup_find(cgroup, &watched->cgroup);
    if (error == 0 && directory)
        error = find_target(directory, &watched->target);
    if (error == 0 && watched->is_fuse)
        error = find_fuse(directory, &watched->target);
    if (error || directory)
        return error;
    /* What this process and the watched ones see mounted. */
    error = attach_mounts_add(&watched->mounts, 0);
    for (unsigned i = 0; i < processes->count && error == 0; i++)
        error = attach_mounts_add(&watched->mounts, (pid_t)processes->numbers[i]);
    return error;
}

char *attach_watched_path(const struct attach_watched *watched) {
    char *path = NULL;
    if (watched->target.mountpoint)
        return strdup(watched->target.mount.path);
    if (watched->cgroup.directory)
        return strdup(watched->cgroup.directory);
    return asprintf(&path, "/proc/%u", watched->processes.numbers[0]) < 0 ? NULL : path;
}

/* ---- Words -------------------------------------------------------------------------------------- */

/* "/srv/data is no mount point: calls of process 4711 (postgres) and its descendants on all of /srv (ext4)" */
char *attach_watched_describe(const struct attach_watched *watched) {
    const struct attach_target *target = &watched->target;
    const char *path = target->mount.path;
    const char *group = watched->cgroup.path;
    const unsigned count = watched->processes.count;
    CLEANUP_STR struct str text = {0};
    char words[ATTACH_NAME_SIZE];
    pid_t process;
    const bool is_whole = !target->mountpoint ||
                          strcmp(target->mountpoint, target->process > 0 ? path_in_process(path, &process) : path) == 0;
    if (!is_whole)
        str_addf(&text, "%s is no mount point: ", path);
    if (watched->is_fuse) {
        str_add(&text, "requests to the FUSE daemon");
    } else if (count == 0) {
        str_addf(&text, "calls of %s%s", group ? "control group " : "all programs", group ? group : "");
    } else {
        attach_processes_describe(&watched->processes, words);
        str_addf(&text, "calls of %s and %s descendants", words, count > 1 ? "their" : "its");
        if (group)
            str_addf(&text, ", as far as they are in control group %s", group);
    }
    if (target->mountpoint)
        str_addf(&text, " on %s%s (%s)", is_whole ? "" : "all of ", target->mountpoint, target->mount.type);
    else
        str_add(&text, " on all file systems");
    return str_steal(&text);
}

struct aggstats_label attach_watched_label(const struct attach_watched *watched) {
    static char of_cgroup[] = "calls of cgroup";
    static char of_process[] = "calls of process";
    static char of_processes[] = "calls of processes";
    const unsigned count = watched->processes.count;
    CLEANUP_STR struct str numbers = {0};
    if (count == 0 && !watched->cgroup.path)
        return (struct aggstats_label){.key = NULL};
    if (count == 0)
        return (struct aggstats_label){of_cgroup, strdup(watched->cgroup.path)};
    attach_processes_add(&numbers, &watched->processes, ", ", ATTACH_PROCESSES_MAX);
    return (struct aggstats_label){count == 1 ? of_process : of_processes, str_steal(&numbers)};
}

char *attach_watched_arguments(const struct attach_watched *watched) {
    CLEANUP_STR struct str text = {0};
    if (watched->is_fuse)
        str_add(&text, "--layers fuse");
    if (watched->processes.count > 0)
        str_add(&text, "--pid ");
    attach_processes_add(&text, &watched->processes, ",", ATTACH_PROCESSES_MAX);
    if (watched->cgroup.path)
        str_addf(&text, "%s--cgroup %s", text.length > 0 ? " " : "", watched->cgroup.path);
    if (watched->target.mountpoint)
        str_addf(&text, "%s%s", text.length > 0 ? " " : "", watched->target.mount.path);
    return str_steal(&text);
}

/* Not where a daemon of FUSE chooses them, nor where layers or subvolumes share them. */
static bool has_lasting_numbers(const struct attach_target *target) {
    const struct mounts_entry entry = {.type = target->mount.type};
    return target->has_one_device && target->mountpoint && !mounts_is_fuse(&entry) &&
           strcmp(entry.type, "virtiofs") != 0;
}

/* ---- The beginning and the end ------------------------------------------------------------------ */

static int start_fuse(const struct attach_watched *watched, struct collector **ret_collector,
                      char ret_why[COLLECTOR_WHY_SIZE]) {
    const struct fuse_requests requests = {
        .connections = {mounts_kernel_device(watched->target.mount.device)}, .connection_count = 1, .are_begun = true};
    return collector_start_fuse(&requests, ret_collector, ret_why);
}

int attach_watched_start(const struct attach_watched *watched, const struct attach_options *options,
                         struct collector **ret_collector, char ret_why[COLLECTOR_WHY_SIZE]) {
    const struct attach_target *target = &watched->target;
    const uint64_t slow_ns = options->session.slow_ns;
    const dev_t device = target->mountpoint ? target->mount.device : 0;
    const struct attach_mounts *mounts = &watched->mounts;
    const struct system_calls calls = {.device = mounts_kernel_device(device),
                                       .has_one_device = target->has_one_device,
                                       .has_lasting_numbers = has_lasting_numbers(target),
                                       .processes = attach_processes_numbers(&watched->processes),
                                       .cgroup = watched->cgroup.number,
                                       .cgroup_level = watched->cgroup.level,
                                       .has_groups = options->session.groupings != 0 || slow_ns > 0,
                                       .slow_ns = slow_ns,
                                       .has_user_stacks = options->stacks,
                                       .own_parent = options->stacks ? user_stacks_parent(options->stacks) : 0,
                                       .has_cgroups = options->session.groupings & 1U << AGGSTATS_BY_CGROUP};
    struct collector *collector = NULL;
    if (watched->is_fuse)
        return start_fuse(watched, ret_collector, ret_why);
    int error = collector_start_calls(&calls, &collector, ret_why);
    if (error)
        return error;
    /* Which of the mounted file systems hold files; more than fit are taken for such. */
    for (size_t i = 0; i < mounts->count && error == 0; i++)
        error = collector_note_device(collector, mounts->mounts[i].device, !mounts_is_pseudo(mounts->mounts[i].type));
    if (error && error != -E2BIG) {
        snprintf(ret_why, COLLECTOR_WHY_SIZE, "%s", strerror(-error));
        collector_finish(collector);
        return error;
    }
    collector_note_begun(collector);
    *ret_collector = collector;
    return 0;
}

bool attach_watched_is_there(const struct attach_watched *watched, const struct collector *collector) {
    const unsigned count = watched->processes.count;
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    if (watched->target.mountpoint)
        mounts_open_of(watched->target.process, &table);
    if (watched->target.mountpoint && !mounts_of_device(&table, watched->target.mount.device, &entry)) {
        complain("%s is not mounted any more", watched->target.mountpoint);
        return false;
    }
    if (watched->is_fuse)
        return !collector_fuse_has_ended(collector);
    if (watched->cgroup.path && !attach_cgroup_is_there(&watched->cgroup)) {
        complain("control group %s is gone", watched->cgroup.path);
        return false;
    }
    if (count == 0 || collector_has_processes(collector))
        return true;
    if (count == 1)
        complain("process %u has ended, and so have its descendants", watched->processes.numbers[0]);
    else
        complain("all of the processes have ended, and so have their descendants");
    return false;
}

void attach_watched_finish(struct attach_watched *watched) {
    finish_target(&watched->target);
    attach_cgroup_finish(&watched->cgroup);
    attach_mounts_finish(&watched->mounts);
}
