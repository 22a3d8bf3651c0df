/* Starting the command, and standing between it and the process that started osprof.
 *
 * It stays in osprof's process group, so that a terminal treats both as one job: the kernel sends what is typed
 * (Ctrl-C, Ctrl-\, Ctrl-Z) to both, and a shell continues both. Such signals are not passed on, or the command would
 * get them twice. Signals that a process sends are: the kernel does not tell whether to osprof
 * alone or to the whole group, in which case the command gets them twice.
 *
 * The command of another user has a session of its own, without a terminal: with one it could type for the user who has
 * started osprof (TIOCSTI). Then all signals are passed on. */
#include "run_child.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base.h"
#include "command.h"

struct child {
    pid_t pid;
    int error_fd; /* gets errno if exec fails */
};

/* error: an errno value */
static _Noreturn void give_up(int error_fd, int error) {
    write_all(error_fd, &error, sizeof(error));
    _exit(error == ENOENT ? RUN_NOT_FOUND : RUN_CANNOT_EXECUTE);
}

static bool is_apart(const struct run_identity *as) {
    return as->name && as->uid != 0;
}

/* parent: with which it dies; 0: it goes on without osprof */
static _Noreturn void become_command(const char *const *arguments, const struct namespace *space,
                                     const struct run_identity *as, const struct signals *signals,
                                     const struct run_user *user, pid_t parent, int error_fd) {
    namespace_restrict(space);
    if (is_apart(as))
        setsid();
    int error = run_identity_assume(as);
    if (error)
        give_up(error_fd, -error);
    if (parent != 0) { /* another user would be without it */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(RUN_FAILED);
    }
    signals_restore(signals);
    run_user_enter(user);
    execvp(arguments[0], (char **)(uintptr_t)arguments);
    give_up(error_fd, errno);
}

static int start(const char *const *arguments, const struct namespace *space, const struct run_identity *as,
                 const struct signals *signals, const struct run_user *user, bool is_mounted, struct child *ret_child) {
    int ends[2];
    const pid_t parent = is_mounted ? getpid() : 0;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return negative_errno();
    const int program = user ? run_user_begins(user) : -1;
    pid_t pid = fork();
    if (pid == 0)
        become_command(arguments, space, as, signals, user, parent, ends[1]);
    if (user)
        run_user_has_begun(user, program, pid);
    int error = pid < 0 ? negative_errno() : 0;
    close(ends[1]);
    if (error)
        close(ends[0]);
    else
        *ret_child = (struct child){.pid = pid, .error_fd = ends[0]};
    return error;
}

/* True if a process sent it, not the kernel; and not the command itself, to its whole group. */
static bool is_sent_to_us(const struct signalfd_siginfo *info, pid_t child) {
    return info->ssi_code <= 0 && (pid_t)info->ssi_pid != child;
}

/* Its group is one that nobody could continue, so SIGTSTP would not stop it. It may not have a group yet. */
static void pass_on_apart(int signal, pid_t child) {
    const int passed = signal == SIGTSTP ? SIGSTOP : signal;
    if (kill(-child, passed) < 0)
        kill(child, passed);
}

static void pass_on(const struct signalfd_siginfo *info, const struct run_identity *as, pid_t child) {
    int signal = (int)info->ssi_signo;
    if (is_apart(as))
        pass_on_apart(signal, child);
    else if (is_sent_to_us(info, child))
        kill(child, signal);
    if (signal == SIGTSTP)
        signals_stop_self(signal);
}

static bool has_ended(pid_t child) {
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

/* Returns its wait status. user: NULL: nobody wants to know its times */
static int wait_for(pid_t child, const struct run_identity *as, const struct signals *signals,
                    struct run_mounts *mounts, struct run_user *user, struct run_neighbours *neighbours) {
    struct signalfd_siginfo info;
    int status;
    for (;;) {
        run_outside_wait(&mounts->outside, mounts->daemons, mounts->count, signals->fd,
                         run_neighbours_wait_ms(neighbours));
        int signal = signals_take(signals, 0, &info);
        run_neighbours_look(neighbours);
        if (signal == SIGCHLD) {
            run_mounts_notice_ends(mounts);
            if (user && has_ended(child))
                run_times_note(&user->times, child);
            if (waitpid(child, &status, WNOHANG) == child)
                return status;
        } else if (signal != 0) {
            pass_on(&info, as, child);
        }
    }
}

static struct run_outcome outcome_of(int wait_status) {
    if (WIFSIGNALED(wait_status))
        return (struct run_outcome){RUN_SIGNALLED + WTERMSIG(wait_status), true, true};
    return (struct run_outcome){WEXITSTATUS(wait_status), true, false};
}

int run_child(const char *const *arguments, const struct namespace *space, const struct run_identity *as,
              const struct signals *signals, struct run_mounts *mounts, struct run_user *user,
              struct run_neighbours *neighbours, struct run_outcome *ret_outcome) {
    struct child child = {.pid = -1, .error_fd = -1};
    int exec_error = 0;
    int error = start(arguments, space, as, signals, user, mounts->count > 0, &child);
    if (error)
        return error;
    struct run_outcome outcome = outcome_of(wait_for(child.pid, as, signals, mounts, user, neighbours));
    if (read(child.error_fd, &exec_error, sizeof(exec_error)) == sizeof(exec_error)) {
        complain("cannot run %s: %s", arguments[0], strerror(exec_error));
        outcome.is_started = false;
    }
    close(child.error_fd);
    *ret_outcome = outcome;
    return 0;
}
