/* osprof doctor: which layers can be profiled on this machine, by this user. Each is tried, for a moment. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"
#include "collector.h"
#include "command.h"
#include "option_table.h"
#include "preload_library.h"

#define WHY_SIZE COLLECTOR_WHY_SIZE

/* A way to look. */
struct way {
    const char *name; /* of the layer */
    const char *what; /* what it has, and how */
    bool (*try)(const struct way *way, char ret_why[WHY_SIZE]);
    const char *library; /* that is preloaded; NULL: none */
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

/* In a child, whose namespaces end with it. */
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

/* collector: set if there was no error */
static bool end_trying(int error, struct collector *const *collector) {
    if (error == 0)
        collector_finish(*collector);
    return error == 0;
}

static bool try_calls(const struct way *way, char ret_why[WHY_SIZE]) {
    struct collector *collector = NULL;
    int error = collector_check(ret_why);
    (void)way;
    return end_trying(error ? error : collector_start_calls(&(struct system_calls){0}, &collector, ret_why),
                      &collector);
}

static bool try_fuse(const struct way *way, char ret_why[WHY_SIZE]) {
    struct collector *collector = NULL;
    int error = collector_check(ret_why);
    (void)way;
    return end_trying(error ? error : collector_start_fuse(&(struct fuse_requests){0}, &collector, ret_why),
                      &collector);
}

static bool try_disks(const struct way *way, char ret_why[WHY_SIZE]) {
    struct collector *collector = NULL;
    int error = collector_check(ret_why);
    (void)way;
    return end_trying(error ? error : collector_start_disks(&(struct disk_requests){0}, &collector, ret_why),
                      &collector);
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

static const struct way ways[] = {
    {"user", "calls of programs that use the C library: osprof run -- COMMAND", try_library, "libosprof_posix.so"},
    {"syscall", "calls of all programs on a file system in use: osprof attach DIR", try_calls, NULL},
    {"fuse", "requests to FUSE daemons: osprof run --layers fuse, osprof fuse --attach MNT", try_fuse, NULL},
    {"daemon", "the same, inside of the daemon: osprof fuse -- DAEMON", try_library, "libosprof_fuse.so"},
    {"fs", "what a file system takes alone: osprof run --layers fs -d DIR, osproffs", try_mounting, NULL},
    {"block", "requests to disks: osprof run --layers block", try_disks, NULL},
    {"causes", "what slow calls wait for, by kernel stacks: osproffs -o slow=10ms, osprof why", try_stacks, NULL},
};

/* ---- The table ---------------------------------------------------------------------------------- */

static enum status run_doctor(const struct command *command, int argc, char **argv) {
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, NULL, &arguments, &status))
        return status;
    for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
        char why[WHY_SIZE] = "";
        const bool works = ways[i].try(&ways[i], why);
        printf("%-9s%-5s%s\n", ways[i].name, works ? "yes" : "no", ways[i].what);
        if (!works)
            printf("%14s%s\n", "", why);
        status = works ? status : STATUS_NOT_SO;
    }
    return status;
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
