/* What a caller may do beyond its ids: supplementary groups and capabilities, as /proc shows them for its thread.
 *
 * A thread of the kernel may act for another user (a server of NFS, an overlay): its own groups and capabilities are
 * not those of the request. So they count only if the thread's own file-system user is the one in the request. */
#include <string.h>
#include <sys/syscall.h>

#include "pass_private.h"

#define IO_WORKER "iou-" /* names of io_uring(7) threads begin with this */

/* The status of a thread: a few KB, or much more with many groups. */
static char *read_status(const struct pass *pass, pid_t pid) {
    char path[32];
    snprintf(path, sizeof(path), "%d/status", pid);
    CLEANUP_FD int fd = openat(pass->proc_fd, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    size_t size_bytes = 0;
    size_t room_bytes = 4096;
    CLEANUP_FREE char *text = NULL;
    for (;;) {
        char *grown = realloc(text, room_bytes + 1);
        if (!grown)
            return NULL;
        text = grown;
        ssize_t read_bytes = read(fd, text + size_bytes, room_bytes - size_bytes);
        if (read_bytes < 0)
            return NULL;
        size_bytes += (size_t)read_bytes;
        if (read_bytes == 0)
            break;
        if (size_bytes == room_bytes)
            room_bytes *= 2;
    }
    text[size_bytes] = '\0';
    return steal_pointer(&text);
}

/* The text behind "\nName:" in a status; NULL if there is no such line. */
static const char *find_line(const char *status, const char *name) {
    const char *line = strstr(status, name);
    return line ? line + strlen(name) : NULL;
}

static uint64_t find_capabilities(const char *status, const char *name) {
    const char *line = find_line(status, name);
    return line ? strtoull(line, NULL, 16) : 0;
}

/* The next number of a line. Returns false if there is none. */
static bool next_number(const char **line, uint64_t *ret_number) {
    while (**line == ' ' || **line == '\t')
        (*line)++;
    if (**line < '0' || **line > '9')
        return false;
    char *end;
    *ret_number = strtoull(*line, &end, 10);
    *line = end;
    return true;
}

/* "Uid: REAL EFFECTIVE SAVED FILE-SYSTEM" */
static bool acts_for_itself(const char *status, uid_t uid) {
    const char *line = find_line(status, "\nUid:");
    uint64_t id = 0;
    for (int column = 0; line && column < 4; column++) {
        if (!next_number(&line, &id))
            return false;
    }
    return line && id == uid;
}

static int copy_groups(const char *line, struct caller_rights *rights) {
    size_t room = strcspn(line, "\n") / 2 + 1; /* each takes a digit and a blank at least */
    rights->groups = malloc(room * sizeof(*rights->groups));
    if (!rights->groups)
        return -ENOMEM;
    uint64_t gid;
    while (rights->group_count < room && next_number(&line, &gid))
        rights->groups[rights->group_count++] = (gid_t)gid;
    return 0;
}

bool caller_is_in_our_namespace(const struct pass *pass, pid_t pid) {
    char path[32];
    struct stat attr;
    snprintf(path, sizeof(path), "%d/ns/user", pid);
    if (pass->user_namespace.st_ino == 0)
        return true; /* this kernel has only one */
    return fstatat(pass->proc_fd, path, &attr, 0) == 0 && attr.st_ino == pass->user_namespace.st_ino &&
           attr.st_dev == pass->user_namespace.st_dev;
}

/* Capabilities are over all files only in the daemon's own user namespace. (The kernel checks what root of another
 * namespace may do with a file, but with attributes that may be a second old.) */
static uint64_t read_capabilities(const struct pass *pass, const char *status, pid_t pid) {
    uint64_t capabilities = find_capabilities(status, "\nCapEff:");
    return capabilities != 0 && caller_is_in_our_namespace(pass, pid) ? capabilities : 0;
}

/* An io_uring(7) thread keeps the rights that its process had at its start: the rights the process has now count. */
static pid_t find_process_of_worker(const char *status) {
    const char *line =
        strncmp(status, "Name:\t" IO_WORKER, strlen("Name:\t" IO_WORKER)) == 0 ? find_line(status, "\nTgid:") : NULL;
    uint64_t pid = 0;
    return line && next_number(&line, &pid) ? (pid_t)pid : 0;
}

static char *read_status_of_caller(const struct pass *pass, pid_t pid) {
    CLEANUP_FREE char *status = pid > 0 ? read_status(pass, pid) : NULL;
    pid_t process = status ? find_process_of_worker(status) : 0;
    return process > 0 && process != pid ? read_status(pass, process) : steal_pointer(&status);
}

bool caller_is_io_worker(const struct pass *pass, pid_t pid) {
    char path[32];
    char name[32];
    snprintf(path, sizeof(path), "%d/comm", pid);
    return read_beginning(pass->proc_fd, path, name, sizeof(name)) && strncmp(name, IO_WORKER, strlen(IO_WORKER)) == 0;
}

int caller_read_rights(const struct pass *pass, const struct fs_caller *caller, struct caller_rights *ret_rights) {
    CLEANUP_FREE char *status = read_status_of_caller(pass, caller->pid);
    CLEANUP_RIGHTS struct caller_rights rights = CALLER_WITHOUT_RIGHTS;
    int err = 0;
    if (status && acts_for_itself(status, caller->uid)) {
        const char *groups = find_line(status, "\nGroups:");
        err = groups ? copy_groups(groups, &rights) : 0;
        rights.capabilities = read_capabilities(pass, status, caller->pid);
    } else if (caller->uid == 0 && status) {
        rights.capabilities = find_capabilities(status, "\nCapBnd:"); /* the kernel as root for some user */
    } else if (caller->uid == 0 && caller->pid <= 0) {
        rights.capabilities = UINT64_MAX; /* root, in a namespace not visible from here */
    }
    if (caller->lacks_fsetid)
        rights.capabilities &= ~CAPABILITY_BIT(CAP_FSETID);
    if (err == 0) {
        *ret_rights = rights;
        rights = CALLER_WITHOUT_RIGHTS;
    }
    return err;
}

void caller_free_rights(struct caller_rights *rights) {
    free(rights->groups);
}

bool capability_sets_get(pid_t pid, struct capability_sets *ret_sets) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = pid};
    return syscall(SYS_capget, &header, ret_sets->data) == 0;
}

uint64_t capability_sets_effective(const struct capability_sets *sets) {
    return (uint64_t)sets->data[1].effective << 32 | sets->data[0].effective;
}

bool caller_has_capabilities(const struct fs_caller *caller, uint64_t wanted) {
    struct capability_sets sets;
    if (caller->pid <= 0)
        return true; /* in a namespace not visible from here: root there is root */
    if (!capability_sets_get(caller->pid, &sets))
        return errno != ESRCH;
    return (capability_sets_effective(&sets) & wanted) == wanted;
}

bool caller_is_capable(const struct pass *pass, const struct fs_caller *caller, int capability) {
    CLEANUP_RIGHTS struct caller_rights rights = CALLER_WITHOUT_RIGHTS;
    if (!caller_has_capabilities(caller, CAPABILITY_BIT(capability)))
        return false;
    if (caller->uid == 0)
        return caller->pid <= 0 || caller_is_in_our_namespace(pass, caller->pid);
    return caller_read_rights(pass, caller, &rights) == 0 && rights.capabilities & CAPABILITY_BIT(capability);
}
