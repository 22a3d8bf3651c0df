#include "attach_processes.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"
#include "command.h"
#include "proc.h"

#define FIRST_PID_NAMESPACE 0xeffffffcU /* PROC_PID_INIT_INO: the inode of the one that all others are below */

/* Each once. Returns false if there is no room */
static bool add_process(struct attach_processes *processes, uint32_t number) {
    for (unsigned i = 0; i < processes->count; i++)
        if (processes->numbers[i] == number)
            return true;
    if (processes->count == ATTACH_PROCESSES_MAX)
        return false;
    processes->numbers[processes->count++] = number;
    return true;
}

const char *attach_processes_parse(const char *text, struct attach_processes *ret_processes) {
    CLEANUP_FREE char *copy = strdup(text);
    char *rest = copy;
    ret_processes->count = 0;
    for (const char *word; (word = strsep(&rest, ","));) {
        char *end;
        errno = 0;
        const unsigned long number = strtoul(word, &end, 10);
        if (word[0] < '0' || word[0] > '9' || *end || errno != 0 || number == 0 || number > INT32_MAX)
            return "must be numbers of processes, such as 4711,4712";
        if (!add_process(ret_processes, (uint32_t)number))
            return "has more than 4096 processes";
    }
    return NULL;
}

static int open_process(uint32_t number) {
    return (int)syscall(SYS_pidfd_open, number, 0);
}

static int check_process(uint32_t number) {
    uint64_t process;
    if (number == (uint32_t)getpid()) {
        complain("cannot watch process %u: it is osprof itself, whose calls are not counted", number);
        return -EINVAL;
    }
    CLEANUP_FD int fd = open_process(number);
    if (fd >= 0)
        return 0;
    int error = negative_errno();
    if (proc_status_number(number, "Tgid", 10, &process) && process != number)
        complain("cannot watch process %u: it is a thread of process %u", number, (unsigned)process);
    else if (error == -ESRCH)
        complain("cannot watch process %u: there is none of that number", number);
    else
        complain("cannot watch process %u: %s", number, strerror(-error));
    return error;
}

int attach_processes_check(const struct attach_processes *processes) {
    struct stat st;
    if (processes->count > 0 && stat("/proc/self/ns/pid", &st) == 0 && st.st_ino != FIRST_PID_NAMESPACE) {
        complain("cannot watch single processes from within a PID namespace: osprof must run outside of it");
        return -EXDEV;
    }
    for (unsigned i = 0; i < processes->count; i++) {
        int error = check_process(processes->numbers[i]);
        if (error)
            return error;
    }
    return 0;
}

void attach_processes_describe(const struct attach_processes *processes, char ret_words[ATTACH_NAME_SIZE]) {
    char name[16] = "";
    if (processes->count == 1) {
        proc_name_read(processes->numbers[0], name, sizeof(name)); /* there is none if it has just ended */
        snprintf(ret_words, ATTACH_NAME_SIZE, "process %u%s%s%s", processes->numbers[0], name[0] ? " (" : "", name,
                 name[0] ? ")" : "");
        return;
    }
    int length = snprintf(ret_words, ATTACH_NAME_SIZE, "processes ");
    for (unsigned i = 0; i < processes->count && length < ATTACH_NAME_SIZE - 16; i++)
        length += snprintf(ret_words + length, (size_t)(ATTACH_NAME_SIZE - length), "%u%s", processes->numbers[i],
                           i + 1 == processes->count              ? ""
                           : length + 12 >= ATTACH_NAME_SIZE - 16 ? ", ..."
                                                                  : ", ");
}

static bool has_ended(int fd) {
    struct pollfd event = {.fd = fd, .events = POLLIN};
    return poll(&event, 1, 0) > 0;
}

/* One that ends meanwhile is forgotten by the later one of the kernel's program and this. */
static int watch_process(uint32_t number, struct collector *collector) {
    CLEANUP_FD int fd = open_process(number);
    if (fd < 0)
        return 0;
    int error = collector_watch_process(collector, number);
    if (error == 0 && has_ended(fd))
        collector_unwatch_process(collector, number);
    return error;
}

int attach_processes_watch(const struct attach_processes *processes, struct collector *collector) {
    int error = 0;
    for (unsigned i = 0; i < processes->count && error == 0; i++)
        error = watch_process(processes->numbers[i], collector);
    return error;
}

int attach_processes_read_mounts(const struct attach_processes *processes, struct attach_mounts *ret_mounts) {
    struct attach_mounts mounts = {.mounts = NULL};
    int error = attach_mounts_add(&mounts, 0);
    for (unsigned i = 0; i < processes->count && error == 0; i++)
        error = attach_mounts_add(&mounts, (pid_t)processes->numbers[i]);
    if (error)
        attach_mounts_finish(&mounts);
    else
        *ret_mounts = mounts;
    return error;
}
