/* osprof fuse: starts a FUSE daemon so that its requests are profiled. This process waits for the command, as a shell
 * would without us; another stays beside the daemon (observer.h). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "aggstats/user_label.h"
#include "base.h"
#include "command.h"
#include "executable.h"
#include "observer.h"
#include "option_table.h"
#include "output.h"
#include "path.h"
#include "preload_library.h"

#define DEFAULT_PROFILE "osprof.out"

struct fuse_options {
    const char *profile;
    const char *causes;
    struct session_options session; /* its profile and keeps_old are filled in later */
};

/* See option_row.parse */
static const char *parse_by(char **text, void *data, char why[OPTION_TEXT_SIZE]) {
    static const char *const words[] = {GROUPING_WORDS_OF_MOUNTS NULL};
    struct fuse_options *options = data;
    return options_parse_groupings(*text, words, &options->session.groupings, why);
}

static const char *parse_joint(char **text, void *data, char why[OPTION_TEXT_SIZE]) {
    struct fuse_options *options = data;
    (void)why;
    return session_parse_joint(requests_find_joint, *text, options->session.joint);
}

static const struct option_row rows[] = {
    ROW_OUTPUT("write the final profile to FILE; default: osprof.out; an older one becomes FILE.old",
               struct fuse_options, profile),
    SESSION_ROW_RESOLUTION(struct fuse_options, session, "1, 2, 4 or 8", "1"),
    SESSION_ROWS(struct fuse_options, session),
    {.name = "by",
     .metavar = "KIND[+KIND]...",
     WORDS_OF(GROUPING_WORDS_OF_MOUNTS),
     .help = "keep a profile of each of these too: {}",
     .completed_as = "list",
     .kind = OPTION_PARSED,
     .parse = parse_by},
    {.name = "joint",
     .metavar = "OP:VALUE",
     .help = "relate the latency of OP to VALUE: size, result, offset or error; may be repeated",
     .kind = OPTION_PARSED,
     .parse = parse_joint},
    {.name = "slow",
     .metavar = "TIME",
     .help = "find the causes of requests that take so long, such as 10ms",
     .parse_time = control_parse_slow,
     INTO(TIME, struct fuse_options, session.slow_ns)},
    {.name = "causes",
     .metavar = "FILE",
     .help = "further lines for the table of causes, before its own",
     INTO(FILE, struct fuse_options, causes)},
    {.name = "label",
     .metavar = "KEY=VALUE",
     .help = "a line of the profile's header, such as rack=7; may be repeated",
     INTO(TEXTS, struct fuse_options, session.labels)},
    ROW_ARGUMENTS(COMMAND, "[--] DAEMON [ARGUMENT]..."),
    {.kind = OPTION_END},
};

/* ---- Options ------------------------------------------------------------------------------------ */

/* Reports a bad path now, not when the daemon ends. The observer's current directory is "/" then. */
static char *settle_profile(const char *given) {
    const char *name;
    CLEANUP_FD int dir_fd = -1;
    char directory[PATH_MAX];
    char *path = NULL;
    const char *file = given ? given : DEFAULT_PROFILE;
    int error = open_parent(AT_FDCWD, file, &dir_fd, &name);
    if (error == 0 && faccessat(dir_fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
        error = negative_errno();
    if (error == 0 && may_be_planted(file))
        error = -EPERM;
    if (error == 0)
        error = output_check_at(dir_fd, name);
    if (error == 0)
        error = path_of_open(dir_fd, directory);
    if (error == 0 && !(path = path_join(directory, name)))
        error = -ENOMEM;
    if (error)
        complain("cannot write %s: %s; -o names another file", file, output_error_text(error));
    return error ? NULL : path;
}

/* ---- Waiting for the command -------------------------------------------------------------------- */

static volatile pid_t command_pid;

/* A terminal sends signals to the whole job, except SIGHUP, which goes to the session leader. A signal that somebody
 * sends to this process is meant for the command. */
static void pass_on(int signal, siginfo_t *info, void *unused) {
    (void)unused;
    const bool is_mine_alone = info->si_code <= 0 || (signal == SIGHUP && getsid(0) == getpid());
    if (is_mine_alone && command_pid > 0)
        kill(command_pid, signal);
}

static int status_of(const struct observer_started *started, const char *command) {
    if (started->exec_error) {
        complain("cannot run %s: %s", command, strerror(started->exec_error));
        return started->exec_error == ENOENT ? RUN_NOT_FOUND : RUN_CANNOT_EXECUTE;
    }
    if (WIFSIGNALED(started->wait_status))
        return RUN_SIGNALLED + WTERMSIG(started->wait_status);
    const int status = WEXITSTATUS(started->wait_status);
    return status == 0 && started->is_unsaved ? RUN_FAILED : status;
}

/* A command that cannot be profiled runs nevertheless. Returns only if that fails. */
static int run_unprofiled(char *const *command) {
    complain("%s runs without being profiled", command[0]);
    execvp(command[0], command);
    const struct observer_started failed = {.exec_error = errno};
    return status_of(&failed, command[0]);
}

/* The observer has ended without reporting the end of the command: it has failed, and has said why, or was killed. This
 * process then goes on in its place, until the daemon ends. */
static int go_on_without(const struct observer_options *options, pid_t observer, struct observer_started *started) {
    int status = 0;
    while (waitpid(observer, &status, 0) < 0 && errno == EINTR)
        ;
    if (started->command == 0)
        return run_unprofiled(options->command);
    const bool is_killed = WIFSIGNALED(status);
    const int error = is_killed ? observer_take_over(options, started->command, started) : 0;
    if (error == -ESRCH) { /* nobody profiles the daemon any more, which is a child of this process now */
        const bool is_there = waitpid(started->command, NULL, WNOHANG) == 0;
        const char *live = options->state->live;
        complain("the process that profiles %s was killed%s%s%s", options->command[0],
                 is_there ? ": the daemon goes on without being profiled" : ", and so was the daemon",
                 live[0] ? "; 'osprof save' takes the profile until then from " : "", live);
    }
    return !is_killed || error ? RUN_FAILED : status_of(started, options->command[0]);
}

static int run(const struct observer_options *options) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    const struct sigaction passed_on = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct observer_started started = {.command = 0};
    bool is_held = true;
    int ends[2];
    /* Keep our files from getting the numbers 0 to 2. Standard files that were closed stay closed for the daemon. */
    for (int fd = 0; fd <= STDERR_FILENO && is_held; fd++)
        is_held = fcntl(fd, F_GETFD) >= 0 || open("/dev/null", O_RDWR | O_CLOEXEC) == fd;
    if (!is_held || pipe2(ends, O_CLOEXEC) < 0) {
        complain("cannot start %s: %s", options->command[0], strerror(errno));
        return RUN_FAILED;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* gets the daemon if the observer is killed */
    pid_t observer = fork();
    if (observer == 0) {
        close(ends[0]);
        _exit(observer_run(options, ends[1]));
    }
    close(ends[1]);
    if (observer < 0) {
        complain("cannot start %s: %s", options->command[0], strerror(errno));
        return RUN_FAILED;
    }
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        sigaction(numbers[i], &passed_on, NULL);
    while (!started.has_ended) {
        const ssize_t count = read(ends[0], &started, sizeof(started));
        if (count < 0 && errno == EINTR)
            continue;
        if (count != (ssize_t)sizeof(started))
            return go_on_without(options, observer, &started);
        command_pid = started.command;
    }
    return status_of(&started, options->command[0]);
}

static enum status start(const struct fuse_options *given, char **command, struct observer_options *options) {
    CLEANUP_FREE char *library = NULL;
    CLEANUP_FREE char *profile = settle_profile(given->profile);
    options->session.keeps_old = true;
    char path[PATH_MAX];
    int result = RUN_FAILED;
    if (profile && preload_library_find("libosprof_fuse.so", &library) == 0) {
        options->session.profile = profile;
        void *shared = mmap(NULL, sizeof(*options->state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED)
            complain("no memory: %s", strerror(errno));
        options->state = shared != MAP_FAILED ? shared : NULL;
        options->command = command;
        options->library = library;
        const char *found = executable_find(command[0], path, sizeof(path));
        const enum executable kind = found ? executable_look(found) : EXECUTABLE_DYNAMIC;
        const bool is_seen = executable_preloads(kind); /* of Go too: its FUSE library may be written in C */
        if (options->state && !is_seen)
            complain(
                "cannot profile %s from inside: %s; as root, 'osprof attach --layers fuse MOUNT' profiles its mount "
                "from outside, and osproffs over it does",
                command[0], executable_reason(kind));
        result = options->state && is_seen ? run(options) : run_unprofiled(command);
    }
    thread_causes_finish(&options->causes);
    return (enum status)result;
}

/* ---- The command line --------------------------------------------------------------------------- */

static enum status run_parsed(const struct command *command, const struct fuse_options *given,
                              const struct arguments *arguments) {
    struct observer_options options = {.session = given->session};
    char complaint[USER_LABEL_COMPLAINT_SIZE];
    char why[THREAD_CAUSES_WHY_SIZE] = "";
    int error = 0;
    if (arguments->rest_count == 0)
        usage_error(command, "the daemon must be given");
    else if (given->profile && strcmp(given->profile, "-") == 0)
        usage_error(command, "the profile is written when the daemon ends, so it needs a file");
    else if (!aggstats_resolution_valid(given->session.resolution))
        usage_error(command, "--resolution takes 1, 2, 4 or 8, not '%u'", given->session.resolution);
    else if (!user_labels_valid(given->session.labels.texts, given->session.labels.count, complaint))
        usage_error(command, "--label %s", complaint);
    else if ((error = thread_causes_init(&options.causes, given->causes, why)))
        complain("--causes %s: %s", given->causes ? given->causes : "", why[0] ? why : strerror(-error));
    else
        return start(given, arguments->rest, &options);
    return (enum status)RUN_FAILED;
}

static enum status run_fuse(const struct command *command, int argc, char **argv) {
    struct fuse_options given = {.session = {.resolution = 1}};
    struct arguments arguments;
    enum status status;
    if (options_parse(command, argc, argv, &given, &arguments, &status))
        status = run_parsed(command, &given, &arguments);
    else if (status != STATUS_OK)
        status = (enum status)RUN_FAILED;
    option_list_finish(&given.session.labels);
    return status;
}

const struct command command_fuse = {
    .name = "fuse",
    .summary = "starts a FUSE daemon, and profiles it from inside",
    .help = "Runs DAEMON, which mounts a FUSE file system, such as sshfs or bindfs, and profiles the requests that "
            "the kernel makes of it: each from its arrival in the daemon to its answer. The daemon is not changed, and "
            "needs no privilege for it. It may go into the background; the profile of its mount is read, reset and "
            "rotated by the commands that do that with mounts of osproffs, and the final one is written when the "
            "mount, or the daemon, has ended.",
    .notes = "Exit status: that of DAEMON; 125 if osprof fails, 126 if DAEMON cannot be run, 127 if it is not found. A "
             "library is preloaded into DAEMON: statically linked programs, those of Go and set-id programs are not "
             "measured.",
    .options = rows,
    .common = COMMON_FORCE,
    .run = run_fuse,
};
