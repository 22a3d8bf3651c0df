/* The observer starts the daemon, reads the ring in which the preloaded library reports requests, and ends with the
 * mount. It is the daemon's parent, and the subreaper of the processes that the daemon starts. */
#include "observer.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <syslog.h>

#include "aggstats/lane.h"
#include "base.h"
#include "command.h"
#include "live_dirs.h"
#include "output.h"
#include "preload_library.h"
#include "proc.h"
#include "quiet_thread.h"

#define LOOK_NS (5 * NS_PER_MS)         /* between polls while there are requests */
#define IDLE_AFTER_NS (100 * NS_PER_MS) /* without requests */
#define SLEEP_NS (10000 * NS_PER_MS)
#define MOUNT_WAIT_NS (2000 * NS_PER_MS) /* for the mount of a daemon that already serves it */
#define BEGIN_WAIT_NS (1000 * NS_PER_MS) /* for the first request of a daemon in the background */
#define END_WAIT_NS (50 * NS_PER_MS)     /* for answers after the end of the mount */
#define KILLED_NUMBER 100                /* more than any live file has */
#define USED_SIGNALS 7
#define DEPTH_MAX 64 /* of processes that start each other */

struct observer {
    const struct observer_options *options;
    struct ring_reader reader;
    struct fuse_mounts before; /* existing mounts */
    pthread_mutex_t lock;      /* for reading the ring, and for counting */
    struct observed observed;
    bool is_recording; /* the profile has been begun */
    bool has_ended;    /* the mount is gone */
    bool has_second;   /* a second mount has begun, which is not profiled */
    bool has_left;     /* the daemon, or a part of it, cannot be observed any more */
    bool has_children;
    char *live_path;
    char *killed_path; /* of the live file of another process that was killed; NULL: there was none */
    struct sigaction signals_before[USED_SIGNALS]; /* restored in the daemon */
    pid_t command;
    int status_fd; /* -1: the waiting process has got the status */
    int error_fd;  /* gets errno of exec */
    struct observer_started started;
    int64_t command_end_ns;
    int64_t last_record_ns;
    pid_t process;        /* of the daemon; 0: its number is unknown here */
    struct request first; /* FUSE_INIT, until the mount is known */
    int64_t first_ns;     /* 0: there was none */
    bool has_taken_over;  /* after another observer was killed: nobody waits for this process */
};

static struct ring_reader *interrupted_reader; /* for the handler */
static volatile sig_atomic_t wants_save;

/* Prints to the waiting process, or else to the system log. */
__attribute__((format(printf, 2, 3))) static void tell(const struct observer *observer, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (observer->status_fd >= 0)
        complain("%s", text);
    else
        syslog(LOG_ERR, "%s", text);
}

/* ---- The daemon --------------------------------------------------------------------------------- */

static void take_signal(int signal) {
    if (signal != SIGCHLD)
        wants_save = 1;
    ring_reader_interrupt(interrupted_reader);
}

static const int used_signals[USED_SIGNALS] = {SIGCHLD, SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGPIPE, SIGXFSZ};

/* A signal that a terminal sends to the whole job ends the daemon, and thereby this process. Exceeding a limit of file
 * sizes must be an error of writing. */
static void prepare_signals(struct observer *observer) {
    interrupted_reader = &observer->reader;
    for (size_t i = 0; i < USED_SIGNALS; i++) {
        const bool is_noticed = used_signals[i] == SIGCHLD || used_signals[i] == SIGTERM;
        const struct sigaction action = {.sa_handler = is_noticed ? take_signal : SIG_IGN};
        sigaction(used_signals[i], &action, &observer->signals_before[i]);
    }
}

/* Restores what this process has inherited: a daemon started by nohup(1) still ignores SIGHUP. */
static _Noreturn void become_daemon(const struct observer *observer, int error_fd) {
    for (size_t i = 0; i < USED_SIGNALS; i++)
        sigaction(used_signals[i], &observer->signals_before[i], NULL);
    if (setenv(REQUEST_RING_VARIABLE, observer->reader.path, 1) == 0)
        preload_library_set(observer->options->library);
    execvp(observer->options->command[0], observer->options->command);
    const int error = errno;
    write_all(error_fd, &error, sizeof(error));
    _exit(error == ENOENT ? RUN_NOT_FOUND : RUN_CANNOT_EXECUTE);
}

static int start_daemon(struct observer *observer) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return negative_errno();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    observer->command = fork();
    if (observer->command == 0)
        become_daemon(observer, ends[1]);
    const int error = observer->command < 0 ? negative_errno() : 0;
    close(ends[1]);
    observer->error_fd = ends[0];
    observer->has_children = error == 0;
    observer->started.command = observer->command;
    return error ? error : write_all(observer->status_fd, &observer->started, sizeof(observer->started));
}

/* From here on this is a daemon too: it holds neither a terminal nor a pipe that somebody reads. */
static void go_into_background(struct observer *observer) {
    write_all(observer->status_fd, &observer->started, sizeof(observer->started));
    close_fd(&observer->status_fd);
    setsid();
    CLEANUP_FD int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null_fd >= 0 && fd <= 2; fd++)
        dup2(null_fd, fd);
    (void)!chdir("/");
}

/* All descendants of the command become children of this process when their parents end. */
static void reap(struct observer *observer) {
    int status;
    int exec_error = 0;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != observer->command)
            continue;
        observer->command_end_ns = read_clock_ns(CLOCK_MONOTONIC);
        observer->started.has_ended = true;
        observer->started.wait_status = status;
        if (read(observer->error_fd, &exec_error, sizeof(exec_error)) == sizeof(exec_error))
            observer->started.exec_error = exec_error;
        close_fd(&observer->error_fd);
        observer->command = 0;
    }
    if (pid < 0 && errno == ECHILD)
        observer->has_children = false;
}

/* ---- Records ------------------------------------------------------------------------------------ */

/* True if a record is of the profiled mount, whichever process of the daemon reports it. If the mount is unknown, that
 * is assumed only if there is no other. */
static bool is_of_first(const struct observer *observer, const struct request_record *record) {
    const uint8_t mount = record->mount;
    return mount == observer->first.record.mount ||
           (mount == 0 && (!observer->has_second || record->process == observer->first.record.process));
}

/* The processes of a daemon are descendants of this one. A daemon in a PID namespace of its own has numbers that belong
 * to other processes here. */
static bool is_descendant(uint32_t process) {
    const uint64_t own = (uint64_t)getpid();
    uint64_t parent = process;
    for (unsigned depth = 0; depth < DEPTH_MAX && parent != own; depth++)
        if (!proc_status_number(parent, "PPid", 10, &parent))
            return false;
    return parent == own;
}

static void take(struct observer *observer, const struct request *request) {
    const char *daemon = observer->options->command[0];
    if (request->record.kind == REQUEST_STARTED && observer->first_ns == 0) {
        observer->first = *request;
        observer->first_ns = read_clock_ns(CLOCK_MONOTONIC);
    } else if (request->record.kind == REQUEST_STARTED) {
        observer->options->state->has_second = true;
        if (!observer->has_second)
            tell(observer, "%s makes more than one mount: the first one is profiled", daemon);
        observer->has_second = true;
    } else if (request->record.kind == REQUEST_LEFT) { /* it goes on serving, but is not counted any more */
        observer->options->state->has_left = true;
        if (!observer->has_left)
            tell(observer, "%s %s: from then on its requests are not measured, and the profile is incomplete", daemon,
                 request->record.node == REQUEST_LEFT_SANDBOXED ? "has forbidden itself system calls"
                                                                : "has executed a program without its environment");
        observer->has_left = true;
    } else if (observer->is_recording && is_of_first(observer, &request->record)) {
        requests_take(&observer->observed.requests, request);
        observer->has_ended = observer->has_ended || request->record.kind == REQUEST_ENDED;
    }
}

/* If this process is killed in it, its successor knows that it may lack a record. */
static bool take_next(struct observer *observer, struct request *request) {
    bool *is_taking = &observer->options->state->is_taking;
    __atomic_store_n(is_taking, true, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const bool has_one = ring_reader_next(&observer->reader, request);
    if (has_one && observer->process == 0)
        request->record.thread = 0;
    if (has_one)
        take(observer, request);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(is_taking, false, __ATOMIC_RELEASE);
    return has_one;
}

/* Until the mount is known, records stay in the ring. */
static void drain(void *context) {
    struct observer *observer = context;
    struct request request;
    bool has_any = false;
    pthread_mutex_lock(&observer->lock);
    while ((observer->is_recording || observer->first_ns == 0) && take_next(observer, &request))
        has_any = true;
    if (has_any)
        observer->last_record_ns = read_clock_ns(CLOCK_MONOTONIC);
    if (observer->is_recording)
        requests_note_lost(&observer->observed.requests, ring_reader_lost(&observer->reader));
    if (observer->is_recording && observer->has_left) /* for good: each window lacks calls */
        aggstats_recorder_add_lost(observer->observed.session.recorder, 1);
    pthread_mutex_unlock(&observer->lock);
}

/* For struct session_source */
static void tell_text(void *context, const char *text) {
    tell(context, "%s", text);
}

static int begin_session(struct observer *observer, struct fuse_mount *mount) {
    const struct session_source around = {
        .live_path = observer->live_path, .catch_up = drain, .tell = tell_text, .context = observer};
    int error = observed_start(&observer->observed, &observer->options->session, &observer->options->causes, mount,
                               &around, observer->process);
    if (error)
        return error;
    pthread_mutex_lock(&observer->lock);
    observer->is_recording = true;
    pthread_mutex_unlock(&observer->lock);
    session_answer(&observer->observed.session);
    return 0;
}

/* "" if there is none. Returns false if it is too long. */
static bool copy_text(char to[OBSERVER_PATH_SIZE], const char *from) {
    return snprintf(to, OBSERVER_PATH_SIZE, "%s", from ? from : "") < OBSERVER_PATH_SIZE;
}

static void share_state(const struct observer *observer) {
    struct observer_state *state = observer->options->state;
    const struct fuse_mount *mount = &observer->observed.mount;
    state->process = observer->process;
    state->first = observer->first.record;
    state->device = mount->device;
    if (copy_text(state->mount, mount->path) && copy_text(state->type, mount->type) &&
        copy_text(state->source, mount->source) && copy_text(state->ring, observer->reader.path) &&
        copy_text(state->live, observer->live_path) && copy_text(state->socket, observer->observed.session.socket_path))
        __atomic_store_n(&state->is_recording, true, __ATOMIC_RELEASE);
}

/* The daemon has got FUSE_INIT. Its mount may appear a moment later. */
static void find_mount(struct observer *observer) {
    const struct request_record *record = &observer->first.record;
    struct fuse_mount mount = {.path = NULL};
    observer->process = is_descendant(record->process) ? (pid_t)record->process : 0;
    int error = fuse_mount_find(observer->process, record->started.fd, &observer->before, &mount);
    const bool is_late = read_clock_ns(CLOCK_MONOTONIC) - observer->first_ns > MOUNT_WAIT_NS;
    if (error && !is_late)
        return;
    if (error)
        tell(observer, "%s serves a mount that cannot be found (%s): its profile has no mount point",
             observer->options->command[0], strerror(-error));
    error = begin_session(observer, &mount);
    fuse_mount_finish(&mount);
    if (error == 0)
        share_state(observer);
    if (error) {
        tell(observer, "%s is not profiled: no live file can be made at %s: %s", observer->options->command[0],
             observer->live_path, strerror(-error));
        observer->has_ended = true;
    }
}

/* ---- The end ------------------------------------------------------------------------------------ */

/* Answers that were written before the end may still be on their way. */
static void finish_session(struct observer *observer) {
    struct session *session = &observer->observed.session;
    session_stop_answering(session);
    drain(observer);
    ring_reader_end(&observer->reader);
    drain(observer);
    observer->started.is_unsaved = session_end(session) != 0;
    const uint64_t lost = ring_reader_lost(&observer->reader) + observer->observed.requests.not_counted;
    if (lost > 0)
        tell(observer, "not measured: %llu requests of %s; a profile of that time is incomplete",
             (unsigned long long)lost, session->source.name);
    observed_finish(&observer->observed);
    observer->is_recording = false;
}

/* True if the waiting process may learn that the command has ended. */
static bool may_go_on(const struct observer *observer) {
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    const bool waits_for_mount = observer->first_ns != 0 && !observer->is_recording && !observer->has_ended;
    const bool waits_for_begin =
        observer->first_ns == 0 && observer->has_children && now_ns - observer->command_end_ns < BEGIN_WAIT_NS;
    return observer->command == 0 && !waits_for_mount && !waits_for_begin;
}

/* The daemon or its mount is gone. If the command has just ended, the process that waits for it also waits for the
 * profile. */
static bool is_over(const struct observer *observer) {
    return (observer->status_fd < 0 || may_go_on(observer)) && (!observer->has_children || observer->has_ended);
}

static void step(struct observer *observer) {
    reap(observer);
    drain(observer); /* afterwards: what was reported before an end is counted by then */
    if (observer->first_ns != 0 && !observer->is_recording && !observer->has_ended)
        find_mount(observer);
    if (observer->status_fd >= 0 && may_go_on(observer)) {
        if (observer->started.exec_error == 0 && observer->first_ns == 0)
            tell(observer,
                 "no request to %s was seen: it serves no FUSE mount%s, or does so without the C library (static "
                 "programs, those of Go, io_uring) or without the environment that it was started with; as root, "
                 "'osprof attach --layers fuse MOUNT' profiles it from outside",
                 observer->options->command[0], observer->has_children ? " yet" : "");
        if (!is_over(observer) && !observer->has_taken_over)
            go_into_background(observer);
    }
    if (wants_save && observer->is_recording) {
        wants_save = 0;
        drain(observer);
        session_save(&observer->observed.session);
    }
    if (is_over(observer))
        return;
    const bool waits_for_mount = observer->first_ns != 0 && !observer->is_recording;
    const int64_t silence_ns = read_clock_ns(CLOCK_MONOTONIC) - observer->last_record_ns;
    const bool is_idle = silence_ns > IDLE_AFTER_NS && !waits_for_mount;
    const bool is_waited_for = observer->status_fd >= 0 && observer->command == 0;
    ring_reader_wait(&observer->reader, is_idle, !is_idle ? LOOK_NS : is_waited_for ? IDLE_AFTER_NS : SLEEP_NS);
}

/* Until the daemon or its mount is gone; then saves the profile. */
static void observe(struct observer *observer) {
    while (!is_over(observer))
        step(observer);
    if (observer->is_recording) {
        nanosleep(&(struct timespec){.tv_nsec = END_WAIT_NS}, NULL);
        finish_session(observer);
    }
}

/* ---- Life cycle --------------------------------------------------------------------------------- */

/* A live_dirs_try() function: makes the ring. The live file, and the socket, get the same name later. Callers are
 * also wanted for slow calls that are requested later, when their callers may have ended. */
static int create_ring(void *context, const char *live_path) {
    struct observer *observer = context;
    const struct session_options *options = &observer->options->session;
    const unsigned by_caller = 1U << AGGSTATS_BY_PROCESS | 1U << AGGSTATS_BY_PROGRAM;
    struct aggstats_clock clock;
    CLEANUP_FREE char *ring = NULL;
    aggstats_clock_detect(&clock);
    free(observer->live_path);
    observer->live_path = strdup(live_path);
    if (!observer->live_path || asprintf(&ring, "%.*s.ring", (int)(strrchr(live_path, '.') - live_path), live_path) < 0)
        return -ENOMEM;
    return ring_reader_create(ring, clock.kind, options->slow_ns > 0 || options->groupings & by_caller,
                              &observer->reader);
}

static int start(struct observer *observer) {
    struct live_dirs dirs;
    live_dirs_find(&dirs);
    int error = live_dirs_make(&dirs);
    if (error == 0)
        error = live_dirs_try(dirs.paths[dirs.chosen], "-", create_ring, observer);
    if (error) {
        complain("cannot profile %s: nothing can be made in %s: %s", observer->options->command[0],
                 dirs.paths[dirs.chosen], strerror(-error));
        return error;
    }
    prepare_signals(observer);
    error = fuse_mounts_read(&observer->before);
    if (error == 0)
        error = start_daemon(observer);
    if (error)
        complain("cannot start %s: %s", observer->options->command[0], strerror(-error));
    return error;
}

static void finish(struct observer *observer) {
    ring_reader_finish(&observer->reader);
    fuse_mounts_finish(&observer->before);
    free(observer->live_path);
    free(observer->killed_path);
    if (observer->status_fd >= 0 && observer->started.has_ended)
        write_all(observer->status_fd, &observer->started, sizeof(observer->started));
    close_fd(&observer->status_fd);
    pthread_mutex_destroy(&observer->lock);
}

int observer_run(const struct observer_options *options, int status_fd) {
    struct observer observer = {
        .options = options, .status_fd = status_fd, .error_fd = -1, .last_record_ns = read_clock_ns(CLOCK_MONOTONIC)};
    pthread_mutex_init(&observer.lock, NULL);
    openlog("osprof", LOG_PID, LOG_DAEMON);
    int error = start(&observer);
    if (error == 0)
        observe(&observer);
    finish(&observer);
    return error ? 1 : 0;
}

/* ---- Going on after another observer was killed -------------------------------------------------- */

#define KILLED_END ".until-killed"

/* As 'osprof save --remove' does, and removes the live file on success. A thread does it, because writing may take long, and
 * the ring would get full meanwhile. */
static void *save_until_killed(void *context) {
    const struct observer *observer = context;
    const char *live = observer->killed_path;
    CLEANUP_FREE char *path = NULL;
    struct aggstats_profile profile;
    if (asprintf(&path, "%s" KILLED_END, observer->options->session.profile) < 0)
        path = NULL;
    CLEANUP_FD int fd = path ? open(live, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    int error = !path ? -ENOMEM : fd < 0 ? negative_errno() : aggstats_live_read(fd, &profile, NULL, NULL);
    if (error == 0) {
        error = output_write_profile(path, &profile);
        aggstats_profile_finish(&profile);
    }
    if (error)
        complain("the process that profiles %s was killed, and its profile cannot be written to %s: %s; it is in %s, "
                 "from where 'osprof save' takes it; another one goes on",
                 observer->options->command[0], path ? path : "a file", strerror(-error), live);
    else
        complain("the process that profiles %s was killed: the profile until then is in %s; another one goes on",
                 observer->options->command[0], path);
    if (error == 0)
        unlink(live);
    return NULL;
}

/* The files keep the names that the daemon and others know; the live file of the killed process gets another one. */
static int choose_paths_again(struct observer *observer) {
    const struct observer_state *state = observer->options->state;
    const int length = (int)(strrchr(state->live, '-') + 1 - state->live);
    observer->live_path = strdup(state->live);
    if (asprintf(&observer->killed_path, "%.*s%u.live", length, state->live, KILLED_NUMBER) < 0)
        observer->killed_path = NULL;
    if (!observer->live_path || !observer->killed_path)
        return -ENOMEM;
    unlink(state->socket);
    return rename(state->live, observer->killed_path) < 0 ? negative_errno() : 0;
}

static char *copy_known(const char *text) {
    return text[0] ? strdup(text) : NULL;
}

static int go_on(struct observer *observer, pthread_t *ret_thread, bool *ret_has_thread) {
    const struct observer_state *state = observer->options->state;
    struct fuse_mount mount = {.device = state->device,
                               .path = copy_known(state->mount),
                               .type = copy_known(state->type),
                               .source = copy_known(state->source)};
    int error = ring_reader_open(state->ring, &observer->reader);
    if (error == 0)
        error = choose_paths_again(observer);
    if (error == 0) {
        interrupted_reader = &observer->reader;
        sigaction(SIGCHLD, &(struct sigaction){.sa_handler = take_signal}, NULL);
        error = begin_session(observer, &mount);
    }
    fuse_mount_finish(&mount);
    if (error == 0 && __atomic_load_n(&state->is_taking, __ATOMIC_ACQUIRE))
        aggstats_recorder_add_lost(observer->observed.session.recorder, 1);
    if (error)
        complain("%s is not profiled any more, though its mount is served on: %s", observer->options->command[0],
                 strerror(-error));
    *ret_has_thread = observer->killed_path && quiet_thread_start(ret_thread, save_until_killed, observer) == 0;
    if (observer->killed_path && !*ret_has_thread)
        save_until_killed(observer);
    return error;
}

int observer_take_over(const struct observer_options *options, pid_t command, struct observer_started *ret_started) {
    const struct observer_state *state = options->state;
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    const bool has_command = kill(command, 0) == 0 || errno == EPERM;
    if (!__atomic_load_n(&state->is_recording, __ATOMIC_ACQUIRE) || !has_command)
        return -ESRCH;
    struct observer observer = {.options = options,
                                .status_fd = open("/dev/null", O_WRONLY | O_CLOEXEC), /* this process itself waits */
                                .error_fd = -1,
                                .command = command,
                                .has_children = true,
                                .process = state->process,
                                .first = {.record = state->first},
                                .first_ns = now_ns,
                                .has_second = state->has_second,
                                .has_left = state->has_left,
                                .started = {.command = command},
                                .last_record_ns = now_ns,
                                .has_taken_over = true};
    pthread_mutex_init(&observer.lock, NULL);
    pthread_t saving;
    bool has_thread;
    int error = go_on(&observer, &saving, &has_thread);
    if (error == 0)
        observe(&observer);
    if (has_thread)
        pthread_join(saving, NULL);
    *ret_started = observer.started;
    finish(&observer);
    return error;
}
