/* Starting an osproffs over a directory in place, and getting its profile. */
#include "run_daemon.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "base.h"
#include "command.h"
#include "live_dirs.h"
#include "mounts.h"
#include "namespace.h"
#include "path.h"
#include "run_options.h"

/* ---- Options for osproffs -------------------------------------------------------------------- */

/* The value of an option in a list for -o, the last one if there are several.
 * Owner:   the caller frees it
 * Returns NULL if it is not given */
static char *find_option(const char *list, const char *name) {
    CLEANUP_FREE char *copy = list ? strdup(list) : NULL;
    char *value = NULL;
    char *rest = copy;
    for (const char *option = strsep(&rest, ","); option; option = strsep(&rest, ",")) {
        size_t length = strlen(name);
        if (strncmp(option, name, length) != 0 || option[length] != '=')
            continue;
        free(value);
        value = strdup(option + length + 1);
    }
    return value;
}

/* Opens it, and makes the default one if needed, before anything is mounted over it. */
static int open_live_dir(const char *given) {
    struct live_dirs dirs;
    CLEANUP_FREE char *asked = find_option(given, "live");
    if (asked && strcmp(asked, "none") == 0)
        return -1;
    if (asked)
        return open(asked, O_PATH | O_DIRECTORY | O_CLOEXEC);
    live_dirs_find(&dirs);
    if (live_dirs_make(&dirs) < 0)
        return -1;
    return open(dirs.paths[dirs.chosen], O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int run_osproffs_init(struct run_osproffs *ret_options, const char *given, const char *labels, bool wants_groups) {
    CLEANUP_FREE char *profile = find_option(given, "profile");
    CLEANUP_FREE char *by = find_option(given, "by");
    CLEANUP_FREE char *timing = find_option(given, "timing");
    CLEANUP_FREE char *beside = path_beside_program("osproffs");
    const char *program = getenv("OSPROFFS");
    struct run_osproffs options = {.given = given, .labels = labels, .live_dir_fd = -1};
    if (profile) {
        complain("cannot take --mount-option profile=%s: osprof run says where the profile goes: -o FILE", profile);
        return -EINVAL;
    }
    /* Beside this program, where both are installed; else in PATH. */
    options.program = program && program[0]                 ? strdup(program)
                      : beside && access(beside, X_OK) == 0 ? steal_pointer(&beside)
                                                            : strdup("osproffs");
    options.control_name = find_option(given, "control");
    if (!options.control_name)
        options.control_name = strdup(".osprof");
    /* Groups that nobody has asked for, if they are compatible with the given options. */
    options.has_groups_unasked = wants_groups && !by && (!timing || strcmp(timing, "full") == 0);
    options.live_dir_fd = open_live_dir(given);
    *ret_options = options;
    if (options.program && options.control_name)
        return 0;
    complain("no memory");
    return -ENOMEM;
}

void run_osproffs_finish(struct run_osproffs *options) {
    free(options->program);
    free(options->control_name);
    close_fd(&options->live_dir_fd);
}

#define LOWER_FD 3 /* in the daemon */
#define LIVE_ATTEMPTS 100
#define GIVE_UP_MS 2000

/* ---- The directory ------------------------------------------------------------------------------ */

static int complain_unusable(const char *name, int error) {
    complain("cannot profile %s: %s", name, strerror(-error));
    return error;
}

int run_daemon_open(struct run_daemon *ret_daemon, const char *name) {
    struct run_daemon *daemon = ret_daemon;
    struct statfs fs;
    *daemon = (struct run_daemon){
        .name = name, .lower_fd = -1, .profile_fd = -1, .root_fd = -1, .control_fd = -1, .live_fd = -1};
    daemon->path = realpath(name, NULL);
    daemon->lower_fd = daemon->path ? open(daemon->path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (daemon->lower_fd < 0 || fstatfs(daemon->lower_fd, &fs) < 0)
        return complain_unusable(name, negative_errno());
    /* A file system without files needs no profile, and file systems mounted below the root would be visible through it. */
    if (strcmp(daemon->path, "/") == 0) {
        complain("cannot profile /: /proc, /dev and whatever else is mounted there would be seen through it; name the "
                 "directories that matter, as -d /usr -d /home");
        return -EINVAL;
    }
    if (fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC) {
        complain("cannot profile %s: it shows the kernel's state, and no storage", name);
        return -EINVAL;
    }
    return 0;
}

int run_daemon_reopen(struct run_daemon *daemon) {
    CLEANUP_FD int fd = open(daemon->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat before;
    struct stat now;
    if (fd < 0 || fstat(daemon->lower_fd, &before) < 0 || fstat(fd, &now) < 0)
        return complain_unusable(daemon->name, negative_errno());
    if (before.st_dev != now.st_dev || before.st_ino != now.st_ino)
        return complain_unusable(daemon->name, -ESTALE);
    close_fd(&daemon->lower_fd);
    daemon->lower_fd = steal_fd(&fd);
    return 0;
}

void run_daemon_renew(struct run_daemon *daemon) {
    close_fd(&daemon->profile_fd);
    close_fd(&daemon->root_fd);
    close_fd(&daemon->control_fd);
    close_fd(&daemon->live_fd);
    daemon->pid = 0;
    daemon->was_mounted = false;
    daemon->has_ended = false;
}

void run_daemon_finish(struct run_daemon *daemon) {
    run_daemon_renew(daemon);
    free(daemon->path);
    close_fd(&daemon->lower_fd);
}

/* ---- Starting ----------------------------------------------------------------------------------- */

/* As root other users may use the mount too: the command may change its user. The control file is written to, also over
 * a read-only directory. */
static void exec_osproffs(const struct run_daemon *daemon, const struct run_osproffs *options) {
    char lower[32];
    const char *lists[] = {geteuid() == 0 ? "rw,allow_other" : "rw",
                           options->has_groups_unasked ? "by=file+directory+program" : NULL, options->given,
                           options->labels, "profile=-"};
    const char *arguments[2 * ARRAY_SIZE(lists) + 5] = {"osproffs", "-f"};
    size_t count = 2;
    snprintf(lower, sizeof(lower), "/proc/self/fd/%d", LOWER_FD);
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        if (!lists[i])
            continue;
        arguments[count++] = "-o";
        arguments[count++] = lists[i];
    }
    arguments[count++] = lower;
    arguments[count++] = daemon->path;
    execvp(options->program, (char **)(uintptr_t)arguments);
    if (strchr(options->program, '/'))
        complain("cannot run %s: %s", options->program, strerror(errno));
    else
        complain("cannot find osproffs: it is neither beside osprof nor in PATH; name it by the variable OSPROFFS");
}

/* Standard input is empty, the profile goes to memory, messages to our standard error. All other files are closed. */
static int arrange_fds(const struct run_daemon *daemon) {
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(daemon->profile_fd, STDOUT_FILENO) < 0)
        return negative_errno();
    int lower_fd = fcntl(daemon->lower_fd, F_DUPFD_CLOEXEC, LOWER_FD + 1);
    if (lower_fd < 0 || dup2(lower_fd, LOWER_FD) < 0)
        return negative_errno();
    close_range(LOWER_FD + 1, ~0U, 0); /* before Linux 5.9 open files stay open */
    return 0;
}

/* In a session of its own, so that nothing typed at a terminal reaches it. */
static _Noreturn void become_daemon(const struct run_daemon *daemon, const struct run_osproffs *options,
                                    const struct signals *signals, pid_t parent) {
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    int error = geteuid() == 0 ? 0 : namespace_let_mount();
    if (error == 0)
        error = arrange_fds(daemon);
    if (error)
        complain("cannot start %s: %s", options->program, strerror(-error));
    signals_restore(signals);
    if (error == 0)
        exec_osproffs(daemon, options);
    _exit(1);
}

/* The device number at a path, which a mount on it changes; 0 if unknown. */
static dev_t device_at(const char *path) {
    dev_t device;
    return mounts_device_at(path, &device) < 0 ? 0 : device;
}

/* The kernel signals in mountinfo that something was mounted. */
static int wait_for_mount(struct run_daemon *daemon, dev_t device_before, const struct signals *signals,
                          int *ret_signal) {
    CLEANUP_FD int mounts_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    struct pollfd events[] = {{.fd = mounts_fd, .events = POLLPRI}, {.fd = signals->fd, .events = POLLIN}};
    if (mounts_fd < 0)
        return complain_unusable(daemon->name, negative_errno());
    while (device_at(daemon->path) == device_before) {
        struct signalfd_siginfo info;
        poll(events, ARRAY_SIZE(events), -1);
        int signal = signals_take(signals, 0, &info);
        run_daemon_reap(daemon);
        if (daemon->has_ended)
            return -ECHILD;
        if (signals_ends(signal)) {
            *ret_signal = signal;
            return -EINTR;
        }
    }
    return 0;
}

/* Asks for attributes of an open file. */
static int ask(int fd) {
    struct statx attr;
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &attr) < 0 ? negative_errno() : 0;
}

/* Opens the live file of a daemon that has mounted, through the directory's descriptor, whatever is mounted over it by now. */
static void open_live(struct run_daemon *daemon, const struct run_osproffs *options) {
    for (unsigned attempt = 0; attempt < LIVE_ATTEMPTS && daemon->live_fd < 0; attempt++) {
        struct input input = {0};
        char number[16] = "";
        if (attempt > 0)
            snprintf(number, sizeof(number), "-%u", attempt);
        snprintf(daemon->live_name, sizeof(daemon->live_name), "%ld%s.live", (long)daemon->pid, number);
        daemon->live_fd = openat(options->live_dir_fd, daemon->live_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (daemon->live_fd < 0)
            return;
        if (run_daemon_read_live(daemon, &input) < 0 || !input.live.recording || input.live.pid != daemon->pid)
            close_fd(&daemon->live_fd); /* left behind by another process of the same number */
        input_finish(&input);
    }
}

/* Looking up the control file waits for the daemon's first answer. */
static int open_mount(struct run_daemon *daemon, const struct run_osproffs *options) {
    daemon->root_fd = open(daemon->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (daemon->root_fd < 0)
        return negative_errno();
    daemon->control_fd = openat(daemon->root_fd, options->control_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (daemon->control_fd < 0)
        return negative_errno();
    if (options->live_dir_fd >= 0)
        open_live(daemon, options);
    daemon->was_mounted = true;
    /* before it asks, the kernel believes that the root belongs to uid 0; if that has no number, nobody may write
     * there */
    return ask(daemon->root_fd);
}

/* Reports that a daemon has given up, or cannot be used. The daemon has said why, unless it was killed. */
static int complain_not_mounted(struct run_daemon *daemon, const struct run_osproffs *options,
                                const struct signals *signals, int error) {
    struct signalfd_siginfo info;
    for (int waited_ms = 0; !daemon->has_ended && waited_ms < GIVE_UP_MS; waited_ms += 10) {
        signals_take(signals, 10, &info);
        run_daemon_reap(daemon);
    }
    if (!daemon->has_ended)
        complain("cannot profile %s: its control file %s: %s", daemon->name, options->control_name, strerror(-error));
    else if (WIFSIGNALED(daemon->wait_status))
        complain("cannot profile %s: %s was killed by signal %d (%s)", daemon->name, options->program,
                 WTERMSIG(daemon->wait_status), strsignal(WTERMSIG(daemon->wait_status)));
    else
        complain("cannot profile %s (see the line above)", daemon->name);
    return error;
}

int run_daemon_start(struct run_daemon *daemon, const struct run_osproffs *options, const struct signals *signals,
                     int *ret_signal) {
    pid_t parent = getpid();
    dev_t device_before = device_at(daemon->path);
    daemon->profile_fd = memfd_create("osprof.out", MFD_CLOEXEC);
    if (daemon->profile_fd < 0)
        return complain_unusable(daemon->name, negative_errno());
    pid_t pid = fork();
    if (pid == 0)
        become_daemon(daemon, options, signals, parent);
    if (pid < 0)
        return complain_unusable(daemon->name, negative_errno());
    daemon->pid = pid;
    int error = wait_for_mount(daemon, device_before, signals, ret_signal);
    if (error == -EINTR)
        return error;
    if (error == 0)
        error = open_mount(daemon, options);
    return error ? complain_not_mounted(daemon, options, signals, error) : 0;
}

/* ---- Running ------------------------------------------------------------------------------------ */

int run_daemon_command(const struct run_daemon *daemon, const char *command) {
    char control[32];
    snprintf(control, sizeof(control), "/proc/self/fd/%d", daemon->control_fd);
    CLEANUP_FD int fd = open(control, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? negative_errno() : write_all(fd, command, strlen(command));
}

void run_daemon_wait_for_answer(const struct run_daemon *daemon) {
    ask(daemon->control_fd); /* if the daemon has ended, that is noticed elsewhere */
}

int run_daemon_read_live(const struct run_daemon *daemon, struct input *ret_input) {
    struct aggstats_parse_error why;
    struct input input = {.is_live = true};
    if (daemon->live_fd < 0)
        return -ENOENT;
    int error = aggstats_live_read(daemon->live_fd, &input.profile, &input.live, &why);
    if (error == 0)
        *ret_input = input;
    return error;
}

bool run_daemon_reap(struct run_daemon *daemon) {
    if (daemon->pid == 0 || daemon->has_ended)
        return false;
    daemon->has_ended = waitpid(daemon->pid, &daemon->wait_status, WNOHANG) == daemon->pid;
    return daemon->has_ended;
}

/* ---- The end ------------------------------------------------------------------------------------ */

void run_daemon_detach(struct run_daemon *daemon) {
    char mount[32];
    close_fd(&daemon->control_fd);
    if (daemon->root_fd < 0) {
        if (daemon->pid != 0 && !daemon->has_ended)
            kill(daemon->pid, SIGTERM); /* it has not mounted yet */
        return;
    }
    snprintf(mount, sizeof(mount), "/proc/self/fd/%d", daemon->root_fd);
    if (umount2(mount, MNT_DETACH) < 0 && errno != EINVAL) /* EINVAL if the daemon has unmounted it */
        complain("cannot unmount %s: %s", daemon->name, strerror(errno));
    close_fd(&daemon->root_fd);
}

int run_daemon_profile(struct run_daemon *daemon, const struct run_osproffs *options, struct input *ret_input) {
    struct input input = {.is_live = false};
    struct aggstats_parse_error why;
    CLEANUP_FD int fd = dup(daemon->profile_fd);
    CLEANUP_STREAM FILE *stream = fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fdopen(fd, "r") : NULL;
    if (stream)
        steal_fd(&fd);
    if (stream && aggstats_profile_parse(stream, &input.profile, &why) == 0) {
        *ret_input = input;
        return 0;
    }
    int error = run_daemon_read_live(daemon, ret_input);
    if (error) {
        complain("the profile of %s is lost: its osproffs was killed, and %s", daemon->name,
                 error == -ENOENT ? "there is no live file" : strerror(-error));
        return error;
    }
    ret_input->counting = false;
    ret_input->is_live = false;
    complain("the profile of %s is recovered from the live file: it is what was counted until osproffs was killed",
             daemon->name);
    unlinkat(options->live_dir_fd, daemon->live_name, 0);
    return 0;
}
