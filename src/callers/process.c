/* /proc/N/status names a thread's process, and the first thread of that process has its name and start (proc(5)). */
#include "process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "aggstats/caller_groups.h"
#include "base.h"
#include "proc.h"

#define START_FIELD 22

bool process_identify(void *context, uint32_t thread, struct aggstats_identity *ret_identity) {
    struct aggstats_identity identity = {0};
    struct proc_stat stat;
    (void)context;
    if (!proc_status_number(thread, "Tgid", 10, &identity.id) || !proc_stat_read(identity.id, &stat))
        return false;
    const char *start = proc_stat_field(&stat, START_FIELD);
    if (!start)
        return false;
    identity.instance = strtoull(start, NULL, 10);
    snprintf(identity.name, sizeof(identity.name), "%s", stat.name);
    *ret_identity = identity;
    return true;
}

/* ---- At the first call --------------------------------------------------------------------------
 *
 * Reading /proc/N/status and stat takes a reference to the process's memory. A thread that drops the last reference
 * closes the process's files and waits for its asynchronous I/O, which may be the very call that we serve. /proc/N/comm
 * and the list /proc/N/task take only locks with which nobody sleeps. */

#define ENTRIES_BYTES 88 /* "." and "..", 24 each, and one thread, up to 32; more would cost more */

/* The first number in a directory of /proc; 0: there is none. */
static uint64_t first_number(int directory_fd) {
    char entries[ENTRIES_BYTES];
    uint16_t entry_bytes;
    long length = syscall(SYS_getdents64, directory_fd, entries, sizeof(entries));
    for (long at = 0; at < length; at += entry_bytes) {
        const char *name = entries + at + offsetof(struct dirent64, d_name);
        memcpy(&entry_bytes, entries + at + offsetof(struct dirent64, d_reclen), sizeof(entry_bytes));
        if (name[0] != '.')
            return strtoull(name, NULL, 10);
    }
    return 0;
}

/* The list of threads begins with the first one, which has the process's number. */
bool process_identify_first(void *context, uint32_t thread, struct aggstats_identity *ret_identity) {
    char path[32];
    struct aggstats_identity identity = {0};
    (void)context;
    snprintf(path, sizeof(path), "/proc/%u/task", thread);
    CLEANUP_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    identity.id = fd < 0 ? 0 : first_number(fd);
    if (identity.id == 0)
        return false;
    proc_name_read(identity.id, identity.name, sizeof(identity.name));
    *ret_identity = identity;
    return true;
}
