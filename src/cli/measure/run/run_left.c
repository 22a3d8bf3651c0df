/* A child process reads /proc, and is not waited for: reading the files of a process that hangs in the kernel may
 * block. Programs that are ending when the command does are given a moment for that. */
#include "run_left.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base.h"
#include "command.h"
#include "proc.h"

#define LOOK_MS 1000
#define ENDING_MS 200 /* for processes that are about to end */
#define ENDING_STEP_NS 20000000
#define START_FIELD 22
#define ENVIRONMENT_BYTES_MAX (4U << 20)
#define NAMES_MAX 8U

/* ---- Processes of the run ----------------------------------------------------------------------- */

struct run_mark {
    const char *variable; /* in the environment; NULL: the layer user is not profiled */
    size_t variable_bytes;
    struct stat own_namespace;
    bool has_namespace;
    uint64_t own_start;
};

static uint64_t start_of(pid_t pid, struct proc_stat *stat) {
    const char *field = proc_stat_read((uint64_t)pid, stat) ? proc_stat_field(stat, START_FIELD) : NULL;
    return field ? strtoull(field, NULL, 10) : 0;
}

static bool has_variable(const struct run_mark *mark, int proc_fd) {
    CLEANUP_FD int fd = mark->variable ? openat(proc_fd, "environ", O_RDONLY | O_CLOEXEC) : -1;
    CLEANUP_FREE char *text = fd < 0 ? NULL : malloc(ENVIRONMENT_BYTES_MAX);
    size_t size_bytes = 0;
    ssize_t more = 1;
    while (text && size_bytes < ENVIRONMENT_BYTES_MAX && more > 0) {
        more = read(fd, text + size_bytes, ENVIRONMENT_BYTES_MAX - size_bytes);
        size_bytes += more > 0 ? (size_t)more : 0;
    }
    return text && memmem(text, size_bytes, mark->variable, mark->variable_bytes);
}

/* ---- Looking ------------------------------------------------------------------------------------ */

/* Returns false if it does not belong to the run. */
static bool look_at(const struct run_mark *mark, const struct run_mounts *mounts, pid_t pid, int proc_fd,
                    struct run_left_process *ret_process) {
    struct proc_stat status;
    struct stat attr;
    const uint64_t start = start_of(pid, &status);
    *ret_process = (struct run_left_process){.pid = pid};
    if (start == 0 || start < mark->own_start || !status.state || status.state[0] == 'Z' || status.state[0] == 'X')
        return false;
    snprintf(ret_process->program, sizeof(ret_process->program), "%s", status.name);
    if (pid == getpid() || pid == getppid() || strcmp(ret_process->program, RUN_ASKING_NAME) == 0)
        return false;
    for (size_t i = 0; i < mounts->count; i++)
        if (pid == mounts->daemons[i].pid)
            return false;
    const bool is_in_namespace = mark->has_namespace && fstatat(proc_fd, "ns/mnt", &attr, 0) == 0 &&
                                 attr.st_dev == mark->own_namespace.st_dev && attr.st_ino == mark->own_namespace.st_ino;
    return is_in_namespace || has_variable(mark, proc_fd);
}

static void look_at_all(const struct run_mark *mark, const struct run_mounts *mounts, int to_fd) {
    DIR *directory = opendir("/proc");
    size_t count = 0;
    for (struct dirent *entry; directory && count < RUN_LEFT_MAX && (entry = readdir(directory));) {
        struct run_left_process process;
        const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        CLEANUP_FD int proc_fd =
            pid > 0 ? openat(dirfd(directory), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
        if (proc_fd < 0 || !look_at(mark, mounts, pid, proc_fd, &process))
            continue;
        write_all(to_fd, &process, sizeof(process)); /* atomic: a pipe's atomic size is larger */
        count++;
    }
    if (directory)
        closedir(directory);
}

/* Reads what the child writes. Returns whether it has ended. */
static bool collect(int fd, struct run_left *left) {
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + LOOK_MS * NS_PER_MS;
    int64_t left_ms = LOOK_MS;
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    while (left->count < RUN_LEFT_MAX && left_ms > 0 && poll(&readable, 1, (int)left_ms) == 1) {
        struct run_left_process *process = &left->processes[left->count];
        if (read(fd, process, sizeof(*process)) != (ssize_t)sizeof(*process))
            return true;
        left->count++;
        left_ms = (end_ns - read_clock_ns(CLOCK_MONOTONIC)) / 1000000;
    }
    return false;
}

void run_left_find(struct run_left *ret_left, const struct run_user *user, const struct run_mounts *mounts) {
    CLEANUP_FREE char *variable = NULL;
    struct proc_stat stat_text;
    struct run_mark mark = {.own_start = start_of(getpid(), &stat_text)};
    int ends[2];
    ret_left->count = 0;
    if (user->session.recorder && asprintf(&variable, "OSPROF_POSIX=%s", user->variable) < 0) {
        variable = NULL;
        return;
    }
    mark.variable = variable;
    mark.variable_bytes = variable ? strlen(variable) + 1 : 0;
    mark.has_namespace = mounts->count > 0 && stat("/proc/self/ns/mnt", &mark.own_namespace) == 0;
    if ((!variable && !mark.has_namespace) || pipe2(ends, O_CLOEXEC) < 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        look_at_all(&mark, mounts, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    const bool has_ended = collect(ends[0], ret_left);
    close(ends[0]);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, has_ended ? 0 : WNOHANG);
    }
}

/* ---- Reporting ---------------------------------------------------------------------------------- */

/* "sleep 4711, sh 4712 and 3 others" */
static void list_names(const struct run_left *left, char ret_text[RUN_LEFT_TEXT_SIZE]) {
    size_t length = 0;
    ret_text[0] = '\0';
    for (size_t i = 0; i < left->count && i < NAMES_MAX; i++)
        length += (size_t)snprintf(ret_text + length, RUN_LEFT_TEXT_SIZE - length, "%s%s %ld", i > 0 ? ", " : "",
                                   left->processes[i].program, (long)left->processes[i].pid);
    if (left->count > NAMES_MAX)
        snprintf(ret_text + length, RUN_LEFT_TEXT_SIZE - length, " and %zu other%s", left->count - NAMES_MAX,
                 left->count - NAMES_MAX == 1 ? "" : "s");
    for (char *at = ret_text; *at; at++) /* a program may choose any name */
        if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f)
            *at = '?';
}

void run_left_tell(struct run_left *left, const struct run_user *user, const struct run_mounts *mounts,
                   char ret_names[RUN_LEFT_TEXT_SIZE]) {
    const struct timespec step = {.tv_nsec = ENDING_STEP_NS};
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + ENDING_MS * NS_PER_MS;
    /* Of a program that becomes a daemon, the process that is there at first only starts the one that stays. */
    while (left->count > 0 && read_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        nanosleep(&step, NULL);
        run_left_find(left, user, mounts);
    }
    list_names(left, ret_names);
    if (left->count > 0)
        complain("the command has ended, but not what it started: %s; what %s from here on is not in the profile: let "
                 "the command wait for %s",
                 ret_names, left->count == 1 ? "that does" : "they do", left->count == 1 ? "it" : "them");
}
