/* Starting the command, and standing between it and the process that started osprof.
 *
 * It stays in osprof's process group, so that a terminal treats both as one job: the kernel sends what is typed
 * (Ctrl-C, Ctrl-\, Ctrl-Z) to both, and a shell continues both. Such signals are not passed on, or the command would
 * get them twice. Signals that a process sends are: the kernel does not tell whether to osprof
 * alone or to the whole group, in which case the command gets them twice.
 *
 * The command of another user has a session of its own, without a terminal: with one it could type for the user who has
 * started osprof (TIOCSTI). Then all signals are passed on.
 *
 * A child process looks in /proc for what is left, and is not waited for: reading the files of a process that hangs in the
 * kernel may block. Programs that are ending when the command does are given a moment for that. */
#include "run_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base.h"
#include "command.h"
#include "dir.h"
#include "proc.h"

#define LOOK_MS 1000
#define ENDING_MS 200 /* for processes that are about to end */
#define ENDING_STEP_NS 20000000
#define START_FIELD 22
#define ENVIRONMENT_BYTES_MAX (4U << 20)
#define NAMES_MAX 8U

/* ---- Running ------------------------------------------------------------------------------------ */

/* error: an errno value */
static _Noreturn void give_up(int error_fd, int error) {
    write_all(error_fd, &error, sizeof(error));
    _exit(error == ENOENT ? RUN_NOT_FOUND : RUN_CANNOT_EXECUTE);
}

static bool is_apart(const struct run_identity *as) {
    return as->name && as->uid != 0;
}

/* parent: with which it dies; 0: it goes on without osprof
 * error_fd: gets errno if exec fails */
static _Noreturn void become_command(const char *const *arguments, const struct run_place *place, pid_t parent,
                                     int error_fd) {
    namespace_restrict(place->space);
    if (is_apart(place->as))
        setsid();
    int error = run_identity_assume(place->as);
    if (error)
        give_up(error_fd, -error);
    if (parent != 0) { /* another user would be without it */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(RUN_FAILED);
    }
    signals_restore(place->signals);
    run_user_enter(place->user);
    execvp(arguments[0], (char **)(uintptr_t)arguments);
    give_up(error_fd, errno);
}

static void pass_on(const struct signalfd_siginfo *info, const struct run_identity *as, pid_t child) {
    const int signal = (int)info->ssi_signo;
    if (is_apart(as)) {
        /* Nobody could continue its process group, so SIGTSTP would not stop it. It may not have a group yet. */
        const int passed = signal == SIGTSTP ? SIGSTOP : signal;
        if (kill(-child, passed) < 0)
            kill(child, passed);
    } else if (info->ssi_code <= 0 && (pid_t)info->ssi_pid != child) {
        kill(child, signal); /* a process sent it, not the kernel; and not the command itself, to its whole group */
    }
    if (signal == SIGTSTP)
        signals_stop_self(signal);
}

/* Returns its wait status. */
static int wait_for(pid_t child, const struct run_place *place) {
    struct signalfd_siginfo info;
    int status;
    for (;;) {
        run_mounts_wait(place->mounts, place->signals->fd, run_neighbours_wait_ms(place->neighbours));
        int signal = signals_take(place->signals, 0, &info);
        run_neighbours_look(place->neighbours);
        if (signal == SIGCHLD) {
            siginfo_t ended = {.si_pid = 0};
            run_mounts_notice_ends(place->mounts);
            if (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == child)
                run_user_note_times(place->user, child);
            if (waitpid(child, &status, WNOHANG) == child)
                return status;
        } else if (signal != 0) {
            pass_on(&info, place->as, child);
        }
    }
}

int run_child(const char *const *arguments, const struct run_place *place, struct run_outcome *ret_outcome) {
    struct run_user *user = place->user;
    const pid_t parent = place->mounts->count > 0 ? getpid() : 0;
    int exec_error = 0;
    int ends[2] = {-1, -1};
    pid_t pid = -1;
    int error = pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0 ? negative_errno() : 0;
    CLEANUP_FD int error_fd = ends[0];
    if (error == 0) {
        const int program = run_user_begins(user);
        pid = fork();
        if (pid == 0)
            become_command(arguments, place, parent, ends[1]);
        error = pid < 0 ? negative_errno() : 0;
        run_user_has_begun(user, program, pid);
        close(ends[1]);
    }
    if (error) {
        complain("cannot start a process: %s", strerror(-error));
        return error;
    }
    const int status = wait_for(pid, place);
    const bool is_killed = WIFSIGNALED(status);
    struct run_outcome outcome = {.status = is_killed ? RUN_SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status),
                                  .is_started = true,
                                  .is_killed = is_killed};
    if (read(error_fd, &exec_error, sizeof(exec_error)) == sizeof(exec_error)) {
        complain("cannot run %s: %s", arguments[0], strerror(exec_error));
        outcome.is_started = false;
    }
    *ret_outcome = outcome;
    return 0;
}

void run_outcome_add_exit(const struct run_outcome *outcome, struct aggstats_exit *exit) {
    if (exit->status > 0 || exit->signal > 0)
        return;
    if (outcome->is_killed)
        exit->signal = (uint64_t)(outcome->status - RUN_SIGNALLED);
    else
        exit->status = (uint64_t)outcome->status;
}

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
    CLEANUP_DIR DIR *directory = opendir("/proc");
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
}

/* Reads what the child writes. Returns whether it has ended. */
static bool collect(int fd, struct run_left *left) {
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + LOOK_MS * NS_PER_MS;
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    for (int64_t left_ms = LOOK_MS; left->count < RUN_LEFT_MAX && left_ms > 0 && poll(&readable, 1, (int)left_ms) == 1;
         left_ms = (end_ns - read_clock_ns(CLOCK_MONOTONIC)) / NS_PER_MS) {
        struct run_left_process *process = &left->processes[left->count];
        if (read(fd, process, sizeof(*process)) != (ssize_t)sizeof(*process))
            return true;
        left->count++;
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

void run_left_tell(struct run_left *left, const struct run_user *user, const struct run_mounts *mounts,
                   char ret_names[RUN_LEFT_TEXT_SIZE]) {
    const struct timespec step = {.tv_nsec = ENDING_STEP_NS};
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + ENDING_MS * NS_PER_MS;
    size_t length = 0;
    /* Of a program that becomes a daemon, the process that is there at first only starts the one that stays. */
    while (left->count > 0 && read_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        nanosleep(&step, NULL);
        run_left_find(left, user, mounts);
    }
    /* "sleep 4711, sh 4712 and 3 others" */
    ret_names[0] = '\0';
    for (size_t i = 0; i < left->count && i < NAMES_MAX; i++)
        length += (size_t)snprintf(ret_names + length, RUN_LEFT_TEXT_SIZE - length, "%s%s %ld", i > 0 ? ", " : "",
                                   left->processes[i].program, (long)left->processes[i].pid);
    if (left->count > NAMES_MAX)
        snprintf(ret_names + length, RUN_LEFT_TEXT_SIZE - length, " and %zu other%s", left->count - NAMES_MAX,
                 left->count - NAMES_MAX == 1 ? "" : "s");
    for (char *at = ret_names; *at; at++) /* a program may choose any name */
        if ((unsigned char)*at < ' ' || (unsigned char)*at >= 0x7f)
            *at = '?';
    if (left->count > 0)
        complain("the command has ended, but not what it started: %s; what %s from here on is not in the profile: let "
                 "the command wait for %s",
                 ret_names, left->count == 1 ? "that does" : "they do", left->count == 1 ? "it" : "them");
}
