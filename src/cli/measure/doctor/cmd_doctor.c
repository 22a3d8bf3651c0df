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
#include "calibrate.h"
#include "collector.h"
#include "command.h"
#include "json_writer.h"
#include "locks.h"
#include "mounts.h"
#include "option_table.h"
#include "preload_library.h"
#include "proc.h"
#include "screen.h"
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
    {"fuse", "requests to FUSE daemons: osprof run --layers fuse, osprof attach --layers fuse", try_programs,
     .load = load_fuse},
    {"daemon", "the same, inside of the daemon: osprof fuse -- DAEMON", try_library, "libosprof_fuse.so"},
    {"fs", "what a file system takes alone: osprof run --layers fs -d DIR, osproffs", try_mounting},
    {"block", "requests to disks: osprof run --layers block", try_programs, .load = load_disks},
    {"causes", "what slow calls wait for, by kernel stacks: osproffs -o slow=10ms, osprof why", try_stacks},
    {"waits", "what all threads wait for: osprof why -a, osprof top -a, osprof serve --why", try_programs,
     .load = load_waits},
    {"locks", "contention of locks in the kernel: osprof why -a --locks", try_programs, .load = load_locks},
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

static void write_way(struct json_writer *writer, const struct way *way, bool works, const char *why) {
    json_begin(writer, NULL, '{');
    json_text(writer, "name", way->name);
    json_bool(writer, "works", works);
    json_text(writer, "what", way->what);
    if (!works)
        json_text(writer, "why", why);
    json_end(writer, '}');
}

/* writer: of an array; NULL: for people. Returns whether all work. */
static bool try_all(const struct way *rows, size_t count, struct json_writer *writer) {
    const struct screen screen = screen_of_stdout();
    bool all_work = true;
    for (size_t i = 0; i < count; i++) {
        char why[WHY_SIZE] = "";
        const bool works = rows[i].try(&rows[i], why);
        all_work = all_work && works;
        if (writer) {
            write_way(writer, &rows[i], works, why);
            continue;
        }
        const int column = printf("%-9s%-5s", rows[i].name, works ? "yes" : "no");
        screen_print_wrapped(&screen, INK_PLAIN, column, column, rows[i].what);
        if (!works) {
            printf("%*s", column, "");
            screen_print_wrapped(&screen, INK_WARNING, column, column, why);
        }
    }
    return all_work;
}

static enum status diagnose(void) {
    const bool are_ways = try_all(ways, ARRAY_SIZE(ways), NULL);
    const struct screen screen = screen_of_stdout();
    putchar('\n');
    screen_print_wrapped(&screen, INK_PLAIN, 0, 0, "What osprof attach needs, and what else the kernel reports to it:");
    return try_all(attach_needs, ARRAY_SIZE(attach_needs), NULL) && are_ways ? STATUS_OK : STATUS_NOT_SO;
}

/* After docs/lists.schema.json. */
static enum status diagnose_json(void) {
    struct json_writer writer = {.stream = stdout};
    json_begin(&writer, NULL, '{');
    json_count(&writer, "version", 1);
    json_begin(&writer, "ways", '[');
    const bool are_ways = try_all(ways, ARRAY_SIZE(ways), &writer);
    json_end(&writer, ']');
    json_begin(&writer, "needs_of_attach", '[');
    const bool are_needs = try_all(attach_needs, ARRAY_SIZE(attach_needs), &writer);
    json_end(&writer, ']');
    json_end(&writer, '}');
    return are_ways && are_needs ? STATUS_OK : STATUS_NOT_SO;
}

/* ---- The command -------------------------------------------------------------------------------- */

struct doctor_options {
    bool calibrates;
    bool json;
    struct calibrate_options calibrate;
};

static const struct option_row rows[] = {
    {.name = "calibrate",
     .help =
         "instead: measure how long a system call, a context switch, the timer and the scheduler take, and for each "
         "DIR its device, read, written and flushed past the page cache; print median and quartiles, and keep them: "
         "'osprof show' then says which of them a peak may be. Takes some seconds, best without other load",
     INTO(FLAG, struct doctor_options, calibrates)},
    {.name = "json", .help = "JSON, see osprof(5)", INTO(FLAG, struct doctor_options, json)},
    {.name = "quick",
     .help = "with --calibrate: fewer samples, about a second",
     INTO(FLAG, struct doctor_options, calibrate.quick)},
    {.name = "network",
     .metavar = "HOST:PORT",
     .help = "with --calibrate: also round trips to HOST, by connecting to a TCP port that is open or refuses; may be "
             "repeated",
     INTO(TEXTS, struct doctor_options, calibrate.networks)},
    {.name = "print",
     .help = "with --calibrate: measure nothing, print what was kept",
     INTO(FLAG, struct doctor_options, calibrate.print)},
    ROW_ARGUMENTS(DIRECTORIES, "[--calibrate [DIR]...]"),
    {.kind = OPTION_END},
};

static enum status check(const struct command *command, const struct doctor_options *options,
                         const struct arguments *arguments) {
    const char *of_calibrating = options_given(arguments, "quick network print");
    if (!options->calibrates && of_calibrating)
        return usage_error(command, "--%s goes with --calibrate", of_calibrating);
    if (options->calibrates && options->json)
        return usage_error(command,
                           "--json does not go with --calibrate, which keeps its file for people and programs");
    if (!options->calibrates && arguments->rest_count > 0)
        return usage_error(command, "unexpected argument '%s'; directories go with --calibrate", arguments->rest[0]);
    if (options->calibrate.print && (options_given(arguments, "quick network") || arguments->rest_count > 0))
        return usage_error(command, "--print measures nothing: it goes with --calibrate alone");
    return STATUS_OK;
}

static enum status run_doctor(const struct command *command, int argc, char **argv) {
    struct doctor_options options = {.calibrates = false};
    struct arguments arguments;
    enum status status;
    if (options_parse(command, argc, argv, &options, &arguments, &status)) {
        options.calibrate.directories = arguments.rest;
        options.calibrate.directory_count = (size_t)arguments.rest_count;
        status = check(command, &options, &arguments);
        if (status == STATUS_OK)
            status = options.calibrates ? calibrate(&options.calibrate) : options.json ? diagnose_json() : diagnose();
    }
    option_list_finish(&options.calibrate.networks);
    return status;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = "tells what can be measured on this machine, and calibrates",
    .help =
        "Tries each way of measuring for a moment, as this user, and prints whether it works here; if not, why, and "
        "what would help. With --calibrate, it measures times by which 'osprof show' names peaks.",
    .notes = "Exit status: 0 all works; 1 some does not, or a DIR or HOST could not be measured; 2 trouble.",
    .options = rows,
    .common = COMMON_SCREEN | COMMON_QUIET,
    .run = run_doctor,
};
