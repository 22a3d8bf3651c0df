/* Read from /proc: status, and the links to namespaces and to the root directory. */
#include "process_rights.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"

#define IO_WORKER "iou-" /* names of io_uring(7) threads begin with this */

struct status {
    bool is_io_worker;
    pid_t process;
    uid_t acts_as; /* the file-system uid */
    uint64_t capabilities;
};

/* Returns false if the thread is gone, or hidden from us. */
static bool read_status(pid_t thread, struct status *ret_status) {
    char path[32];
    snprintf(path, sizeof(path), "/proc/%d/status", thread);
    CLEANUP_STREAM FILE *stream = fopen(path, "re");
    CLEANUP_FREE char *line = NULL;
    size_t size_bytes = 0;
    struct status status = {.acts_as = (uid_t)-1};
    while (stream && getline(&line, &size_bytes, stream) >= 0) {
        if (strncmp(line, "Name:\t" IO_WORKER, strlen("Name:\t" IO_WORKER)) == 0)
            status.is_io_worker = true;
        else if (strncmp(line, "Tgid:", 5) == 0)
            status.process = (pid_t)strtol(line + 5, NULL, 10);
        else if (strncmp(line, "CapEff:", 7) == 0)
            status.capabilities = strtoull(line + 7, NULL, 16);
        else if (strncmp(line, "Uid:", 4) == 0) { /* real, effective, saved, file-system uid */
            char *end = line + 4;
            for (unsigned i = 0; i < 4; i++)
                status.acts_as = (uid_t)strtoul(end, &end, 10);
        }
    }
    *ret_status = status;
    return status.process > 0;
}

/* True if a link below /proc/PID leads to the same object, by the same mount, for this process and for the thread. */
static bool has_same(pid_t thread, const char *name) {
    const unsigned wanted = STATX_INO | STATX_MNT_ID;
    char own_path[32], path[32];
    struct statx own, other;
    snprintf(own_path, sizeof(own_path), "/proc/self/%s", name);
    snprintf(path, sizeof(path), "/proc/%d/%s", thread, name);
    return statx(AT_FDCWD, own_path, AT_STATX_DONT_SYNC, wanted, &own) == 0 &&
           statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, wanted, &other) == 0 && own.stx_ino == other.stx_ino &&
           own.stx_dev_major == other.stx_dev_major && own.stx_dev_minor == other.stx_dev_minor &&
           own.stx_mnt_id == other.stx_mnt_id;
}

bool process_is_admin(pid_t thread, uid_t uid) {
    struct status status;
    if (thread <= 0 || !read_status(thread, &status))
        return false;
    /* an io_uring(7) thread keeps the rights that its process had at its start: the rights the process has now count */
    if (status.is_io_worker && status.process != thread && !read_status(status.process, &status))
        return false;
    return status.acts_as == uid && status.capabilities & UINT64_C(1) << CAP_SYS_ADMIN && has_same(thread, "ns/user");
}

bool process_has_our_paths(pid_t thread) {
    return thread > 0 && has_same(thread, "ns/mnt") && has_same(thread, "root");
}

/* The line holds the numbers of this process in the PID namespace of /proc, and in each below it down to its own. */
bool process_numbers_are_ours(void) {
    CLEANUP_STREAM FILE *stream = fopen("/proc/self/status", "re");
    CLEANUP_FREE char *line = NULL;
    size_t size_bytes = 0;
    while (stream && getline(&line, &size_bytes, stream) >= 0) {
        char *second;
        char *end;
        if (strncmp(line, "NSpid:", 6) != 0)
            continue;
        (void)strtol(line + 6, &second, 10);
        (void)strtol(second, &end, 10);
        if (end != second)
            return false;
    }
    return stream != NULL;
}
