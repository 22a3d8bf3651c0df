/* bpftrace does not say when it has attached all probes: its BEGIN runs before that. But it starts the command of its
 * option -c after that. So this command is a cat(1) between two pipes: a word put into it comes out when bpftrace is
 * ready. cat(1) ends with osprof, by the end of its input, and bpftrace with it, if the kernel has not killed it
 * yet. */
#include "bpftrace.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base.h"
#include "command.h"
#include "executable.h"

#define SCRIPT_FD 3 /* in the child */
#define OUTPUT_FD 4
#define READY "ready\n"
#define START_MS 120000
#define MESSAGES_SIZE 4096
#define OUTPUT_SIZE_MAX_BYTES (16 << 20)
#define KEYS_MAX "16384" /* requests in flight, for each map */

/* ---- Environment -------------------------------------------------------------------------------- */

int bpftrace_find(struct bpftrace_place *ret_place) {
    *ret_place = (struct bpftrace_place){.namespace_fd = -1, .root_fd = -1};
    const char *program = executable_find("bpftrace", ret_place->program, sizeof(ret_place->program));
    const char *cat = executable_find("cat", ret_place->cat, sizeof(ret_place->cat));
    if (!program || !cat)
        return -ENOENT;
    ret_place->namespace_fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    ret_place->root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return ret_place->namespace_fd < 0 || ret_place->root_fd < 0 ? negative_errno() : 0;
}

void bpftrace_place_finish(struct bpftrace_place *place) {
    close_fd(&place->namespace_fd);
    close_fd(&place->root_fd);
}

/* The root of a mount namespace is not that of a process in a chroot. */
static int enter_place(const struct bpftrace_place *place) {
    if (setns(place->namespace_fd, CLONE_NEWNS) < 0 || fchdir(place->root_fd) < 0 || chroot(".") < 0)
        return negative_errno();
    return 0;
}

/* ---- Tracepoints -------------------------------------------------------------------------------- */

/* name: below "events", "" for that itself */
static bool has_tracepoint(const char *name) {
    static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/events/%s", places[i], name);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* If nobody has mounted tracefs, it is mounted for bpftrace alone. */
static int provide_tracepoints(void) {
    if (has_tracepoint(""))
        return 0;
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL) < 0)
        return negative_errno();
    return 0;
}

/* ---- Starting ----------------------------------------------------------------------------------- */

void bpftrace_init(struct bpftrace *ret_bpftrace, const struct bpftrace_place *place,
                   const struct bpftrace_task *task) {
    *ret_bpftrace = (struct bpftrace){
        .place = place, .task = task, .hold_fd = -1, .ready_fd = -1, .output_fd = -1, .messages_fd = -1};
}

/* The child's files 0 to 4. */
struct child_files {
    int input_fd;
    int ready_fd;
    int messages_fd;
    int script_fd;
    int output_fd;
};

static void child_files_finish(struct child_files *files, bool has_pipe) {
    close_fd(&files->input_fd);
    close_fd(&files->ready_fd);
    close_fd(&files->script_fd);
    if (has_pipe)
        close_fd(&files->output_fd);
}

/* The child gets no other open file. */
static int arrange_fds(const struct child_files *files) {
    int fds[] = {files->input_fd, files->ready_fd, files->messages_fd, files->script_fd, files->output_fd};
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
        fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, (int)ARRAY_SIZE(fds));
        if (fds[i] < 0)
            return negative_errno();
    }
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        if (dup2(fds[i], (int)i) < 0)
            return negative_errno();
    return 0;
}

static void exec_bpftrace(const struct bpftrace *bpftrace) {
    const struct bpftrace_place *place = bpftrace->place;
    const struct bpftrace_task *task = bpftrace->task;
    char script[32];
    char output[32];
    snprintf(script, sizeof(script), "/proc/self/fd/%d", SCRIPT_FD);
    snprintf(output, sizeof(output), "/proc/self/fd/%d", OUTPUT_FD);
    const char *arguments[10 + BPFTRACE_ARGUMENTS_MAX] = {place->program, "-q", "-f",       "json", "-o",
                                                          output,         "-c", place->cat, script};
    for (size_t i = 0; i < task->argument_count; i++)
        arguments[9 + i] = task->arguments[i];
    setenv("BPFTRACE_MAP_KEYS_MAX", KEYS_MAX, 1); /* the name before bpftrace 0.20 */
    setenv("BPFTRACE_MAX_MAP_KEYS", KEYS_MAX, 1);
    close_range(OUTPUT_FD + 1, ~0U, 0); /* before Linux 5.9 open files stay open */
    execv(place->program, (char **)(uintptr_t)arguments);
    dprintf(STDERR_FILENO, "cannot run %s: %s\n", place->program, strerror(errno));
}

/* In a session of its own: what is typed at a terminal is for the command. */
static _Noreturn void become_bpftrace(const struct bpftrace *bpftrace, const struct child_files *files,
                                      const struct signals *signals, pid_t parent) {
    const struct bpftrace_task *task = bpftrace->task;
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    signals_restore(signals);
    sigaction(SIGINT, &by_default, NULL);
    int error = enter_place(bpftrace->place);
    if (error == 0)
        error = provide_tracepoints();
    int fds_error = arrange_fds(files); /* from here on only those files are open */
    if (fds_error)
        _exit(1);
    if (error)
        dprintf(STDERR_FILENO, "tracepoints cannot be reached: %s\n", strerror(-error));
    else if (!has_tracepoint(task->tracepoint))
        dprintf(STDERR_FILENO, "this kernel has no tracepoint %s; there is one %s\n", task->tracepoint, task->since);
    else
        exec_bpftrace(bpftrace);
    _exit(1);
}

static int make_pipe(int *ret_read_fd, int *ret_write_fd) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return negative_errno();
    *ret_read_fd = ends[0];
    *ret_write_fd = ends[1];
    return 0;
}

static int make_output(struct bpftrace *bpftrace, struct child_files *files) {
    if (!bpftrace->task->live_probe) {
        bpftrace->output_fd = files->output_fd = memfd_create("bpftrace.json", MFD_CLOEXEC);
        return bpftrace->output_fd < 0 ? negative_errno() : 0;
    }
    int error = make_pipe(&bpftrace->output_fd, &files->output_fd);
    if (error == 0 && fcntl(bpftrace->output_fd, F_SETFL, O_NONBLOCK) < 0)
        error = negative_errno();
    return error;
}

static int make_files(struct bpftrace *bpftrace, struct child_files *files) {
    const struct bpftrace_task *task = bpftrace->task;
    files->script_fd = memfd_create("script.bt", MFD_CLOEXEC);
    bpftrace->messages_fd = files->messages_fd = memfd_create("bpftrace.log", MFD_CLOEXEC);
    if (files->script_fd < 0 || files->messages_fd < 0)
        return negative_errno();
    int error = make_output(bpftrace, files);
    if (error == 0)
        error = make_pipe(&files->input_fd, &bpftrace->hold_fd);
    if (error == 0)
        error = make_pipe(&bpftrace->ready_fd, &files->ready_fd);
    if (error == 0)
        error = write_all(files->script_fd, task->script, strlen(task->script));
    if (error == 0 && task->live_probe)
        error = write_all(files->script_fd, task->live_probe, strlen(task->live_probe));
    return error ? error : write_all(bpftrace->hold_fd, READY, strlen(READY));
}

static int complain_not_profiled(const struct bpftrace *bpftrace, const char *why) {
    complain("the layer %s is not profiled: %s", bpftrace->task->layer, why);
    return -ECHILD;
}

int bpftrace_start(struct bpftrace *bpftrace, const struct signals *signals) {
    struct child_files files = {.input_fd = -1, .ready_fd = -1, .script_fd = -1, .output_fd = -1};
    pid_t parent = getpid();
    int error = make_files(bpftrace, &files);
    pid_t pid = error ? -1 : fork();
    if (pid == 0)
        become_bpftrace(bpftrace, &files, signals, parent);
    if (error == 0 && pid < 0)
        error = negative_errno();
    child_files_finish(&files, bpftrace->task->live_probe != NULL);
    if (error)
        return complain_not_profiled(bpftrace, strerror(-error));
    bpftrace->pid = pid;
    return 0;
}

/* ---- Its end ------------------------------------------------------------------------------------ */

static void kill_it(struct bpftrace *bpftrace) {
    if (bpftrace->pid == 0)
        return;
    kill(bpftrace->pid, SIGKILL);
    waitpid(bpftrace->pid, NULL, 0);
    bpftrace->pid = 0;
}

void bpftrace_finish(struct bpftrace *bpftrace) {
    close_fd(&bpftrace->hold_fd);
    kill_it(bpftrace);
    close_fd(&bpftrace->ready_fd);
    close_fd(&bpftrace->output_fd);
    close_fd(&bpftrace->messages_fd);
}

/* The end of a file in memory, as text. */
static void read_end(int fd, char ret_text[MESSAGES_SIZE]) {
    struct stat attr = {.st_size = 0};
    fstat(fd, &attr);
    off_t begin = attr.st_size < MESSAGES_SIZE ? 0 : attr.st_size - (MESSAGES_SIZE - 1);
    ssize_t size = pread(fd, ret_text, MESSAGES_SIZE - 1, begin);
    ret_text[size > 0 ? size : 0] = '\0';
}

/* bpftrace may print warnings, and the last line says why it ended. NULL: it has printed nothing */
static const char *last_line(char *text) {
    char *last = NULL;
    char *rest = text;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
        if (line[strspn(line, " \t\r")] != '\0')
            last = line;
    for (char *c = last; c && *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return last;
}

/* what: "is not profiled" */
static int complain_ended(const struct bpftrace *bpftrace, const char *what, int wait_status) {
    char messages[MESSAGES_SIZE];
    const char *layer = bpftrace->task->layer;
    read_end(bpftrace->messages_fd, messages);
    const char *said = last_line(messages);
    if (WIFSIGNALED(wait_status))
        complain("the layer %s %s: bpftrace was killed by signal %d (%s)", layer, what, WTERMSIG(wait_status),
                 strsignal(WTERMSIG(wait_status)));
    else if (said)
        complain("the layer %s %s: %s", layer, what, said);
    else
        complain("the layer %s %s: bpftrace ended with status %d", layer, what, WEXITSTATUS(wait_status));
    return -ECHILD;
}

/* ---- Waiting ------------------------------------------------------------------------------------ */

/* Reads the output of cat(1). Returns 1 if it is the word, 0 at the end, -EAGAIN: not yet */
static int read_ready(int fd, char text[64]) {
    size_t length = strlen(text);
    ssize_t size = length < 63 ? read(fd, text + length, 63 - length) : 0;
    if (size <= 0)
        return 0;
    text[length + (size_t)size] = '\0';
    return strstr(text, READY) ? 1 : -EAGAIN;
}

/* Returns as read_ready() does; -EINTR: a signal came; -ETIMEDOUT */
static int wait_for_ready(const struct bpftrace *bpftrace, const struct signals *signals, int *ret_signal) {
    char text[64] = "";
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + START_MS * INT64_C(1000000);
    struct pollfd events[] = {{.fd = bpftrace->ready_fd, .events = POLLIN}, {.fd = signals->fd, .events = POLLIN}};
    while (read_clock_ns(CLOCK_MONOTONIC) < end_ns) {
        struct signalfd_siginfo info;
        events[0].revents = 0;
        poll(events, ARRAY_SIZE(events), 1000);
        int signal = signals_take(signals, 0, &info);
        if (signals_ends(signal)) {
            *ret_signal = signal;
            return -EINTR;
        }
        int is_ready = events[0].revents ? read_ready(bpftrace->ready_fd, text) : -EAGAIN;
        if (is_ready != -EAGAIN)
            return is_ready;
    }
    return -ETIMEDOUT;
}

int bpftrace_wait(struct bpftrace *bpftrace, const struct signals *signals, int *ret_signal) {
    int status = 0;
    int is_ready = wait_for_ready(bpftrace, signals, ret_signal);
    if (is_ready == 1)
        return 0;
    if (is_ready == 0 && waitpid(bpftrace->pid, &status, 0) == bpftrace->pid) {
        bpftrace->pid = 0;
        return complain_ended(bpftrace, "is not profiled", status);
    }
    kill_it(bpftrace);
    return is_ready == -EINTR ? is_ready : complain_not_profiled(bpftrace, "bpftrace has not begun within two minutes");
}

/* ---- Stopping ----------------------------------------------------------------------------------- */

/* An event gets lost if it comes while the same CPU runs a program of bpftrace's. Linux counts those since 5.12. */
static uint64_t missed_of(int dir_fd, const char *name) {
    static const char key[] = "recursion_misses:";
    char text[1024];
    const char *found = read_beginning(dir_fd, name, text, sizeof(text)) ? strstr(text, key) : NULL;
    return found ? strtoull(found + strlen(key), NULL, 10) : 0;
}

static uint64_t count_missed(pid_t pid) {
    char path[32];
    uint64_t missed = 0;
    snprintf(path, sizeof(path), "/proc/%ld/fdinfo", (long)pid);
    DIR *files = opendir(path);
    for (const struct dirent *file; files && (file = readdir(files)) != NULL;)
        missed += missed_of(dirfd(files), file->d_name);
    if (files)
        closedir(files);
    return missed;
}

/* Returns false if it still runs. */
static bool wait_for_end(pid_t pid, const struct signals *signals, int *ret_status) {
    struct signalfd_siginfo info;
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + BPFTRACE_STOP_MS * INT64_C(1000000);
    while (waitpid(pid, ret_status, WNOHANG) != pid) {
        if (read_clock_ns(CLOCK_MONOTONIC) > end_ns)
            return false;
        signals_take(signals, 100, &info); /* SIGCHLD; the command has ended, so other signals do not matter */
    }
    return true;
}

static int read_output(int fd, char **ret_text, size_t *ret_size_bytes) {
    struct stat attr;
    if (fstat(fd, &attr) < 0)
        return negative_errno();
    if (attr.st_size > OUTPUT_SIZE_MAX_BYTES)
        return -EFBIG;
    CLEANUP_FREE char *text = malloc((size_t)attr.st_size + 1);
    if (!text)
        return -ENOMEM;
    ssize_t size = pread(fd, text, (size_t)attr.st_size, 0);
    if (size < 0)
        return negative_errno();
    text[size] = '\0';
    *ret_text = steal_pointer(&text);
    *ret_size_bytes = (size_t)size;
    return 0;
}

void bpftrace_begin(struct bpftrace *bpftrace) {
    bpftrace->missed = count_missed(bpftrace->pid);
}

uint64_t bpftrace_count_missed(const struct bpftrace *bpftrace) {
    const uint64_t missed = count_missed(bpftrace->pid);
    return missed > bpftrace->missed ? missed - bpftrace->missed : 0;
}

bool bpftrace_has_ended(struct bpftrace *bpftrace) {
    if (!bpftrace->has_ended && waitpid(bpftrace->pid, &bpftrace->wait_status, WNOHANG) == bpftrace->pid) {
        bpftrace->has_ended = true;
        bpftrace->pid = 0;
    }
    return bpftrace->has_ended;
}

/* bpftrace 0.17 notices a signal only while it waits for events; otherwise it notices within 0.1 s that cat(1) has
 * ended. */
void bpftrace_stop(struct bpftrace *bpftrace) {
    if (bpftrace_has_ended(bpftrace)) {
        bpftrace->missed = 0;
        close_fd(&bpftrace->hold_fd);
        return;
    }
    bpftrace->missed = bpftrace_count_missed(bpftrace);
    kill(bpftrace->pid, SIGINT);
    close_fd(&bpftrace->hold_fd);
}

int bpftrace_wait_for_end(struct bpftrace *bpftrace, const struct signals *signals, const char *what) {
    const char *layer = bpftrace->task->layer;
    int status = bpftrace->wait_status;
    if (!bpftrace->has_ended && !wait_for_end(bpftrace->pid, signals, &status)) {
        kill_it(bpftrace);
        complain("the layer %s %s: bpftrace has not ended within a minute", layer, what);
        return -ETIMEDOUT;
    }
    bpftrace->pid = 0;
    if (status != 0)
        return complain_ended(bpftrace, what, status);
    if (!bpftrace->has_ended)
        return 0;
    complain("the layer %s %s: bpftrace ended before it was to", layer, what);
    return -ECHILD;
}

int bpftrace_read(struct bpftrace *bpftrace, const struct signals *signals, char **ret_text, size_t *ret_size_bytes) {
    int error = bpftrace_wait_for_end(bpftrace, signals, "has no profile");
    if (error)
        return error;
    error = read_output(bpftrace->output_fd, ret_text, ret_size_bytes);
    if (error)
        complain("the layer %s has no profile: %s", bpftrace->task->layer, strerror(-error));
    return error;
}
