/* All mounts of a run, as one. */
#include "run_mounts.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base.h"
#include "command.h"
#include "mounts.h"
#include "path.h"
#include "run_daemon.h"
#include "wide_count.h"

#define ANSWER_MS 2000
#define SETTLE_STEP_NS 1000000
#define SETTLE_MS 200
#define SETTLE_BUSY_MS 20  /* if all calls in flight are newer, which may go on for ever */
#define UNUSED_MS 1000     /* how long the kernel may take to end an unused mount */
#define TERMINATE_MS 10000 /* osproffs waits 2 s for calls that hang */
#define KILL_MS 1000

/* ---- Mounts outside -------------------------------------------------------------------------- */

static bool has_device(const struct run_outside *outside, dev_t device) {
    for (size_t i = 0; i < outside->count; i++)
        if (outside->devices[i] == device)
            return true;
    return false;
}

/* Reads which are mounted now. */
static int read_devices(int table_fd, struct run_outside *ret_outside) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    int error = mounts_open_at(table_fd, &table);
    *ret_outside = (struct run_outside){.table_fd = table_fd};
    while (error == 0 && mounts_next(&table, &entry)) {
        if (!mounts_is_profiled(&entry) || has_device(ret_outside, entry.device))
            continue;
        error = grow_array(&ret_outside->devices, ret_outside->count, sizeof(*ret_outside->devices));
        if (error == 0)
            ret_outside->devices[ret_outside->count++] = entry.device;
    }
    return error;
}

/* outside: zeroed */
static void open_outside(struct run_outside *outside) {
    CLEANUP_FD int table_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    if (table_fd >= 0 && read_devices(table_fd, outside) == 0 && outside->count > 0) {
        steal_fd(&table_fd);
        return;
    }
    free(outside->devices);
    *outside = (struct run_outside){.count = 0};
}

static void finish_outside(struct run_outside *outside) {
    if (outside->count > 0)
        close_fd(&outside->table_fd);
    free(outside->devices);
    *outside = (struct run_outside){.count = 0};
}

/* To look up what is below a mount that hangs would hang. */
static bool may_hang(const char *path) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    bool found = mounts_open(&table) < 0;
    while (!found && mounts_next(&table, &entry)) {
        const char *below = path_below(path, entry.path);
        found = below && below[0] && mounts_may_hang(&entry);
    }
    return found;
}

/* Unmounts copies that can be reached: mounts over them keep the rest in use. The number of a device that is gone everywhere
 * may be that of another file system by now. */
static void unmount(const struct run_mounts *own, dev_t device) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    mounts_open(&table);
    while (mounts_next(&table, &entry)) {
        dev_t there;
        bool is_of_run = false; /* a mount of the run is at the path, above it or below it */
        for (size_t i = 0; i < own->count; i++)
            is_of_run |= path_below(entry.path, own->daemons[i].path) || path_below(own->daemons[i].path, entry.path);
        if (entry.device == device && mounts_is_profiled(&entry) && !is_of_run && !may_hang(entry.path) &&
            mounts_device_at(entry.path, &there) == 0 && there == device)
            umount2(entry.path, MNT_DETACH | UMOUNT_NOFOLLOW);
    }
}

void run_mounts_wait(struct run_mounts *mounts, int fd, int timeout_ms) {
    struct run_outside *outside = &mounts->outside;
    struct pollfd events[] = {{.fd = fd, .events = POLLIN},
                              {.fd = outside->count > 0 ? outside->table_fd : -1, .events = POLLPRI}};
    struct run_outside now;
    size_t kept = 0;
    if (poll(events, ARRAY_SIZE(events), timeout_ms) <= 0 || !events[1].revents)
        return;
    if (read_devices(outside->table_fd, &now) == 0) {
        for (size_t i = 0; i < outside->count; i++) {
            if (has_device(&now, outside->devices[i]))
                outside->devices[kept++] = outside->devices[i];
            else
                unmount(mounts, outside->devices[i]);
        }
        if (kept == 0)
            finish_outside(outside);
        outside->count = kept;
    }
    free(now.devices);
}

/* ---- Opening ------------------------------------------------------------------------------------ */

/* A directory comes before those within it. */
static int compare_paths(const void *a, const void *b) {
    const struct run_daemon *const *left = a;
    const struct run_daemon *const *right = b;
    return strcmp((*left)->path, (*right)->path);
}

int run_mounts_open(struct run_mounts *ret_mounts, const struct run_options *options, bool wants_groups) {
    struct run_mounts *mounts = ret_mounts;
    const struct option_list *directories = &options->directories;
    *mounts = (struct run_mounts){.options.live_dir_fd = -1};
    mounts->daemons = calloc(directories->count, sizeof(*mounts->daemons));
    mounts->by_depth = calloc(directories->count, sizeof(struct run_daemon *));
    if (!mounts->daemons || !mounts->by_depth) {
        complain("no memory");
        return -ENOMEM;
    }
    open_outside(&mounts->outside);
    int error = run_osproffs_init(&mounts->options, options->osproffs_options, options->osproffs_labels,
                                  wants_groups && options->recorded.has_groups_unasked);
    for (; mounts->count < directories->count && error == 0; mounts->count++) {
        mounts->by_depth[mounts->count] = &mounts->daemons[mounts->count];
        error = run_daemon_open(&mounts->daemons[mounts->count], directories->texts[mounts->count]);
    }
    if (error)
        return error;
    qsort(mounts->by_depth, mounts->count, sizeof(struct run_daemon *), compare_paths);
    for (size_t i = 1; i < mounts->count; i++) {
        const struct run_daemon *one = mounts->by_depth[i - 1];
        const struct run_daemon *other = mounts->by_depth[i];
        if (strcmp(one->path, other->path) != 0)
            continue;
        complain("cannot profile %s twice: %s and %s are the same directory", one->path, one->name, other->name);
        return -EINVAL;
    }
    return 0;
}

void run_mounts_finish(struct run_mounts *mounts) {
    for (size_t i = 0; i < mounts->count; i++)
        run_daemon_finish(&mounts->daemons[i]);
    finish_outside(&mounts->outside);
    free(mounts->daemons);
    free(mounts->by_depth);
    run_osproffs_finish(&mounts->options);
}

void run_mounts_note_files(struct run_mounts *mounts) {
    for (int fd = 0; fd < RUN_FILES; fd++) {
        char path[PATH_MAX];
        struct stat attr;
        mounts->positions[fd] = -1;
        if (path_of_open(fd, path) < 0 || fstat(fd, &attr) < 0 || !S_ISREG(attr.st_mode))
            continue;
        for (size_t i = 0; i < mounts->count; i++)
            if (path_below(path, mounts->daemons[i].path))
                mounts->positions[fd] = lseek(fd, 0, SEEK_CUR);
    }
}

void run_mounts_tell_files(const struct run_mounts *mounts) {
    static const char *const names[RUN_FILES] = {"input", "output"};
    for (int fd = 0; fd < RUN_FILES; fd++)
        if (mounts->positions[fd] >= 0 && lseek(fd, 0, SEEK_CUR) != mounts->positions[fd])
            complain(
                "note: the file that is standard %s was opened before its directory was profiled, and what was done "
                "with it is not in the profile; it is if the command opens it, as in sh -c 'sort <in >out'",
                names[fd]);
}

/* ---- Starting ----------------------------------------------------------------------------------- */

void run_mounts_renew(struct run_mounts *mounts) {
    for (size_t i = 0; i < mounts->count; i++)
        run_daemon_renew(&mounts->daemons[i]);
    mounts->are_ending = false;
}

int run_mounts_enter(struct run_mounts *mounts) {
    int error = 0;
    for (size_t i = 0; i < mounts->count && error == 0; i++)
        error = run_daemon_reopen(&mounts->daemons[i]);
    return error;
}

int run_mounts_start(struct run_mounts *mounts, const struct signals *signals, int *ret_signal) {
    int error = 0;
    for (size_t i = 0; i < mounts->count && error == 0; i++)
        error = run_daemon_start(mounts->by_depth[i], &mounts->options, signals, ret_signal);
    if (error)
        return error;
    /* The current directory is still the one below the mounts. A directory outside all mounts stays as it is. */
    CLEANUP_FREE char *path = getcwd(NULL, 0);
    bool is_covered = false;
    for (size_t i = 0; i < mounts->count && path; i++)
        is_covered |= path_below(path, mounts->daemons[i].path) != NULL;
    if (!is_covered || chdir(path) == 0)
        return 0;
    error = negative_errno();
    complain("cannot enter the current directory %s through its mount: %s", path, strerror(-error));
    return error;
}

/* ---- Counting ----------------------------------------------------------------------------------- */

struct counted {
    wide_count calls;   /* over all mounts with a live file */
    bool has_in_flight; /* calls */
    bool has_older;     /* some of them began before a moment */
};

static int64_t now_ms(void) {
    return read_clock_ns(CLOCK_MONOTONIC) / NS_PER_MS;
}

/* begin_ms: the moment */
static struct counted look_at_counted(const struct run_mounts *mounts, int64_t begin_ms) {
    struct counted counted = {.calls = 0};
    for (size_t i = 0; i < mounts->count; i++) {
        struct input input;
        const struct aggstats_profile *profile = &input.profile;
        if (run_daemon_read_live(&mounts->daemons[i], &input) < 0)
            continue;
        const double begin_age_ms = (double)(now_ms() - begin_ms);
        for (size_t op = 0; op < profile->op_count; op++)
            counted.calls += profile->ops[op].calls;
        for (size_t call = 0; call < profile->in_flight_count; call++) {
            counted.has_in_flight = true;
            counted.has_older |= 1e3 * (double)profile->in_flight[call].latency_cycles >=
                                 begin_age_ms * (double)profile->clock.frequency_hz;
        }
        input_finish(&input);
    }
    return counted;
}

/* Asks all of them, in a child process, since a thread that waits for an answer cannot be woken otherwise. Without an
 * answer the child stays until the mount has ended. Our own requests are in no profile: traces recognise them by the
 * thread's name. Returns whether all have answered. */
static bool ask_all(const struct run_mounts *mounts, void (*ask)(const struct run_daemon *daemon)) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_NAME, RUN_ASKING_NAME);
        for (size_t i = 0; i < mounts->count; i++)
            ask(&mounts->daemons[i]);
        _exit(0);
    }
    close(ends[1]);
    struct pollfd answered = {.fd = ends[0], .events = POLLIN}; /* its end is closed when the child ends */
    bool is_answered = pid > 0 && poll(&answered, 1, ANSWER_MS) == 1;
    close(ends[0]);
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, is_answered ? 0 : WNOHANG);
    }
    return is_answered;
}

void run_mounts_settle(struct run_mounts *mounts) {
    const struct timespec step = {.tv_nsec = SETTLE_STEP_NS};
    const int64_t begin_ms = now_ms();
    wide_count calls_before = WIDE_COUNT_MAX;
    while (ask_all(mounts, run_daemon_wait_for_answer)) {
        const struct counted counted = look_at_counted(mounts, begin_ms);
        const bool is_quiet = !counted.has_in_flight && counted.calls == calls_before;
        if (is_quiet || now_ms() - begin_ms >= (counted.has_older ? SETTLE_MS : SETTLE_BUSY_MS))
            return;
        calls_before = counted.calls;
        nanosleep(&step, NULL);
    }
}

static void stop_counting(const struct run_daemon *daemon) {
    run_daemon_command(daemon, "pause\n"); /* if the daemon has ended, so has its counting */
}

void run_mounts_stop(struct run_mounts *mounts) {
    run_mounts_settle(mounts);
    ask_all(mounts, stop_counting);
}

int run_mounts_reset(struct run_mounts *mounts) {
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    for (size_t i = 0; i < mounts->count; i++) {
        struct run_daemon *daemon = &mounts->daemons[i];
        prctl(PR_SET_NAME, RUN_ASKING_NAME);
        int error = run_daemon_command(daemon, "reset\n");
        prctl(PR_SET_NAME, name);
        if (error == 0)
            continue;
        complain("cannot start the profile of %s afresh: %s%s", daemon->name, strerror(-error),
                 error == -EROFS ? "; leave out --mount-option ro" : "");
        return error;
    }
    return 0;
}

/* ---- The end ------------------------------------------------------------------------------------ */

void run_mounts_notice_ends(struct run_mounts *mounts) {
    for (size_t i = 0; i < mounts->count; i++) {
        const struct run_daemon *daemon = &mounts->daemons[i];
        if (!run_daemon_reap(&mounts->daemons[i]) || mounts->are_ending)
            continue;
        if (WIFSIGNALED(daemon->wait_status))
            complain("osproffs was killed by signal %d (%s): nothing in %s can be reached from here on",
                     WTERMSIG(daemon->wait_status), strsignal(WTERMSIG(daemon->wait_status)), daemon->name);
        else
            complain("osproffs has ended: what goes on in %s is not in the profile from here on", daemon->name);
    }
}

static bool runs(const struct run_daemon *daemon) {
    return daemon->pid != 0 && !daemon->has_ended;
}

static bool any_runs(const struct run_mounts *mounts) {
    bool found = false;
    for (size_t i = 0; i < mounts->count; i++)
        found = found || runs(&mounts->daemons[i]);
    return found;
}

static bool wait_for_all(struct run_mounts *mounts, const struct signals *signals, int timeout_ms, int *ending_signal) {
    struct signalfd_siginfo info;
    int64_t end_ms = now_ms() + timeout_ms;
    run_mounts_notice_ends(mounts);
    for (int64_t left_ms = timeout_ms; any_runs(mounts) && left_ms > 0; left_ms = end_ms - now_ms()) {
        int signal = signals_take(signals, (int)left_ms, &info);
        if (*ending_signal == 0 && signals_ends(signal))
            *ending_signal = signal;
        run_mounts_notice_ends(mounts);
    }
    return !any_runs(mounts);
}

static void signal_all(const struct run_mounts *mounts, int signal) {
    for (size_t i = 0; i < mounts->count; i++)
        if (runs(&mounts->daemons[i]))
            kill(mounts->daemons[i].pid, signal);
}

int run_mounts_end(struct run_mounts *mounts, const struct signals *signals) {
    int signal = 0;
    mounts->are_ending = true;
    if (chdir("/") < 0)
        complain("cannot leave the current directory: %s", strerror(errno));
    for (size_t i = mounts->count; i-- > 0;)
        run_daemon_detach(mounts->by_depth[i]);
    if (wait_for_all(mounts, signals, UNUSED_MS, &signal))
        return signal;
    for (size_t i = 0; i < mounts->count; i++)
        if (runs(&mounts->daemons[i]) && mounts->daemons[i].was_mounted)
            complain("%s is still used by processes that the command has left behind: their open files there fail from "
                     "here on, and are not in the profile",
                     mounts->daemons[i].name);
    signal_all(mounts, SIGTERM);
    if (wait_for_all(mounts, signals, TERMINATE_MS, &signal))
        return signal;
    signal_all(mounts, SIGKILL);
    wait_for_all(mounts, signals, KILL_MS, &signal);
    return signal;
}
