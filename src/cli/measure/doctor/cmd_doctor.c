/* osprof doctor: which layers can be profiled on this machine, by this user. Each is tried, for a moment. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"
#include "collector.h"
#include "command.h"
#include "locks.h"
#include "mounts.h"
#include "option_table.h"
#include "preload_library.h"
#include "proc.h"
#include "waits.h"

#define WHY_SIZE COLLECTOR_WHY_SIZE

/* A row of what is tried: a way to look, or a need of such a way. */
struct way {
    const char *name;
    const char *what; /* it has, or allows; and how */
    /* ret_why: filled if it does not work: why, and what would help */
    bool (*try)(const struct way *way, char ret_why[WHY_SIZE]);
    const char *library; /* NULL: none */
    int capability;
    enum collector_countable countable;
    const char *since;                   /* which kernels have the tracepoint of that */
    int (*load)(char ret_why[WHY_SIZE]); /* programs into the kernel, for a moment */
};

/* ---- Trying ------------------------------------------------------------------------------------- */

static bool try_library(const struct way *way, char ret_why[WHY_SIZE]) {
    CLEANUP_FREE char *path = NULL;
    complain_mute(true);
    int error = preload_library_find(way->library, &path);
    complain_mute(false);
    if (error)
        snprintf(ret_why, WHY_SIZE, "%s is missing; OSPROF_LIBRARIES names the directory where it is", way->library);
    return error == 0;
}

/* In a child: its namespaces end with the process. */
static int enter_namespace(void) {
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) < 0 ? errno : 0);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child < 0 ? negative_errno() : WIFEXITED(status) ? -WEXITSTATUS(status) : -EAGAIN;
}

static bool try_mounting(const struct way *way, char ret_why[WHY_SIZE]) {
    CLEANUP_FD int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    const int open_error = fd < 0 ? negative_errno() : 0;
    const int error = open_error ? open_error : enter_namespace();
    (void)way;
    if (open_error == -EACCES)
        snprintf(ret_why, WHY_SIZE, "/dev/fuse is not for this user; as root, chmod 666 /dev/fuse");
    else if (open_error)
        snprintf(ret_why, WHY_SIZE, "/dev/fuse: %s; as root, modprobe fuse; a container must be given it",
                 strerror(-open_error));
    else if (error)
        snprintf(ret_why, WHY_SIZE, "no mount namespace: %s; osproffs(1) mounts without one", strerror(-error));
    return error == 0;
}

static int load_calls(char ret_why[WHY_SIZE]) {
    struct collector *collector = NULL;
    const int error = collector_start_calls(&(struct system_calls){0}, &collector, ret_why);
    collector_finish(collector);
    return error;
}

static int load_fuse(char ret_why[WHY_SIZE]) {
    struct collector *collector = NULL;
    const int error = collector_start_fuse(&(struct fuse_requests){0}, &collector, ret_why);
    collector_finish(collector);
    return error;
}

static int load_disks(char ret_why[WHY_SIZE]) {
    struct collector *collector = NULL;
    const int error = collector_start_disks(&(struct disk_requests){0}, &collector, ret_why);
    collector_finish(collector);
    return error;
}

static int load_waits(char ret_why[WHY_SIZE]) {
    struct waits *waits = NULL;
    const int error = waits_start(&(struct process_numbers){.count = 0}, &waits, ret_why);
    waits_finish(waits);
    return error;
}

static int load_locks(char ret_why[WHY_SIZE]) {
    struct locks *locks = NULL;
    const int error = locks_start(NULL, &locks, ret_why);
    locks_finish(locks);
    return error;
}

static bool try_programs(const struct way *way, char ret_why[WHY_SIZE]) {
    return collector_check(ret_why) == 0 && way->load(ret_why) == 0;
}

static bool try_stacks(const struct way *way, char ret_why[WHY_SIZE]) {
    char text[64];
    CLEANUP_FD int fd = open("/proc/self/stack", O_RDONLY | O_CLOEXEC);
    (void)way;
    if (fd >= 0 && read(fd, text, sizeof(text)) > 0)
        return true;
    snprintf(ret_why, WHY_SIZE, "root alone may read kernel stacks; the function in which a thread waits is there");
    return false;
}

/* clang-format off */
static const struct way ways[] = {
    {"user", "calls of programs that use the C library: osprof run -- COMMAND", try_library, "libosprof_posix.so"},
    {"syscall", "calls of all programs on a file system in use: osprof attach DIR", try_programs,
     .load = load_calls},
    {"fuse", "requests to FUSE daemons: osprof run --layers fuse, osprof fuse --attach MNT", try_programs,
     .load = load_fuse},
    {"daemon", "the same, inside of the daemon: osprof fuse -- DAEMON", try_library, "libosprof_fuse.so"},
    {"fs", "what a file system takes alone: osprof run --layers fs -d DIR, osproffs", try_mounting},
    {"block", "requests to disks: osprof run --layers block", try_programs, .load = load_disks},
    {"causes", "what slow calls wait for, by kernel stacks: osproffs -o slow=10ms, osprof why", try_stacks},
    {"waits", "what all threads wait for: osprof why -a, osprof top -a, osprof serve --why", try_programs,
     .load = load_waits},
    {"locks", "which locks of the kernel they fight for: osprof why -a --locks", try_programs, .load = load_locks},
};
/* clang-format on */

static bool try_types(const struct way *way, char ret_why[WHY_SIZE]) {
    (void)way;
    return collector_check_types(ret_why) == 0;
}

static bool try_capability(const struct way *way, char ret_why[WHY_SIZE]) {
    uint64_t has = 0;
    proc_status_number((uint64_t)getpid(), "CapEff", 16, &has);
    const bool is_there = has & (UINT64_C(1) << way->capability | UINT64_C(1) << CAP_SYS_ADMIN);
    if (is_there && !collector_is_in_user_namespace())
        return true;
    snprintf(ret_why, WHY_SIZE, "%s",
             is_there ? "it has no effect in a user namespace, such as a container's; start osprof outside"
                      : "this user lacks it; sudo, or setcap cap_bpf,cap_perfmon+ep for a copy of osprof");
    return false;
}

static bool try_lockdown(const struct way *way, char ret_why[WHY_SIZE]) {
    (void)way;
    if (!collector_is_locked_down())
        return true;
    snprintf(ret_why, WHY_SIZE, "%s is confidentiality; lockdown=integrity at boot lets it", COLLECTOR_LOCKDOWN);
    return false;
}

static bool try_cgroup(const struct way *way, char ret_why[WHY_SIZE]) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    (void)way;
    mounts_open(&table);
    if (mounts_of_type(&table, "cgroup2", &entry))
        return true;
    const bool has_older = mounts_of_type(&table, "cgroup", &entry);
    snprintf(ret_why, WHY_SIZE, "%s",
             has_older ? "they are of version 1 here; systemd.unified_cgroup_hierarchy=1 at boot makes that 2"
                       : "none are mounted; as root, mount -t cgroup2 none /sys/fs/cgroup");
    return false;
}

static bool try_counting(const struct way *way, char ret_why[WHY_SIZE]) {
    if (!try_types(way, ret_why) || collector_check(ret_why) == -ENOTSUP)
        return false;
    if (collector_counts(way->countable))
        return true;
    snprintf(ret_why, WHY_SIZE, "this kernel lacks a tracepoint that is there %s", way->since);
    return false;
}

/* clang-format off */
/* The needs of osprof attach, and further reports of the kernel. */
static const struct way attach_needs[] = {
    {"btf", "the kernel tells its types", try_types},
    {"bpf", "the capability CAP_BPF: to load programs into the kernel", try_capability, .capability = CAP_BPF},
    {"perfmon", "the capability CAP_PERFMON: to let them read its memory", try_capability, .capability = CAP_PERFMON},
    {"lockdown", "the kernel lets programs read its memory", try_lockdown},
    {"cgroup", "control groups of version 2: osprof attach --cgroup", try_cgroup},
    {"io_uring", "the kernel reports requests of io_uring", try_counting, .countable = COLLECTOR_RINGS,
     .since = "since Linux 5.18, with CONFIG_IO_URING"},
    {"faults", "the kernel reports page faults of mapped files", try_counting, .countable = COLLECTOR_FAULTS,
     .since = "since Linux 6.12"},
};
/* clang-format on */

/* ---- The table ---------------------------------------------------------------------------------- */

/* Returns whether all work. */
static bool try_all(const struct way *rows, size_t count) {
    bool all_work = true;
    for (size_t i = 0; i < count; i++) {
        char why[WHY_SIZE] = "";
        const bool works = rows[i].try(&rows[i], why);
        printf("%-9s%-5s%s\n", rows[i].name, works ? "yes" : "no", rows[i].what);
        if (!works)
            printf("%14s%s\n", "", why);
        all_work = all_work && works;
    }
    return all_work;
}

static enum status run_doctor(const struct command *command, int argc, char **argv) {
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, NULL, &arguments, &status))
        return status;
    const bool are_ways = try_all(ways, ARRAY_SIZE(ways));
    puts("\nWhat osprof attach needs, and what else the kernel reports to it:");
    return try_all(attach_needs, ARRAY_SIZE(attach_needs)) && are_ways ? STATUS_OK : STATUS_NOT_SO;
}

static const struct option_row rows[] = {{.kind = OPTION_END}};

const struct command command_doctor = {
    .name = "doctor",
    .summary = "tells which layers can be profiled here, and what hinders the rest",
    .help = "Tries each way of looking for a moment, as this user, and prints whether it works here; if not, why, and "
            "what would help.",
    .notes = "Exit status: 0 if all work, 1 if some do not.",
    .options = rows,
    .run = run_doctor,
};
