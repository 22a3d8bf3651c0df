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
                run_times_note(&place->user->times, child);
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
    int ends[2];
    int error = pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0 ? negative_errno() : 0;
    if (error) {
        complain("cannot start a process: %s", strerror(-error));
        return error;
    }
    CLEANUP_FD int error_fd = ends[0];
    const int program = run_user_begins(user);
    pid_t pid = fork();
    if (pid == 0)
        become_command(arguments, place, parent, ends[1]);
    error = pid < 0 ? negative_errno() : 0;
    run_user_has_begun(user, program, pid);
    close(ends[1]);
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
