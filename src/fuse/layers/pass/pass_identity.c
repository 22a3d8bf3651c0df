/* Acting as the caller: fsuid, fsgid, supplementary groups and umask of this one thread.
 *
 * glibc's wrappers would change every thread of the process, so the system calls are made raw. A caller with
 * uid 0 needs no groups: its privileges do not come from them. */
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>

#include "pass_private.h"

#define GROUPS_MAX 65536 /* NGROUPS_MAX of Linux */

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

/* The caller's supplementary groups, as the kernel lists them. Unknown callers have none. */
static size_t read_groups(const struct pass *pass, pid_t pid, gid_t *groups, size_t room) {
    CLEANUP_FREE char *status = pid > 0 ? read_status(pass, pid) : NULL;
    const char *rest = status ? strstr(status, "\nGroups:") : NULL;
    size_t count = 0;
    if (!rest)
        return 0;
    rest += strlen("\nGroups:");
    while (count < room) {
        while (*rest == ' ' || *rest == '\t')
            rest++;
        if (*rest < '0' || *rest > '9')
            break;
        char *end;
        groups[count++] = (gid_t)strtoul(rest, &end, 10);
        rest = end;
    }
    return count;
}

/* setfsuid(2) tells no error; asking for the impossible id tells what is in force. */
static bool set_fsuid(uid_t uid) {
    syscall(SYS_setfsuid, uid);
    return (uid_t)syscall(SYS_setfsuid, (uid_t)-1) == uid;
}

static bool set_fsgid(gid_t gid) {
    syscall(SYS_setfsgid, gid);
    return (gid_t)syscall(SYS_setfsgid, (gid_t)-1) == gid;
}

/* False where this user namespace may not set groups. */
static bool take_groups(const struct pass *pass, pid_t pid) {
    gid_t few[256];
    gid_t *groups = few;
    CLEANUP_FREE gid_t *many = NULL;
    size_t count = read_groups(pass, pid, few, ARRAY_SIZE(few));
    if (count == ARRAY_SIZE(few) && (many = malloc(GROUPS_MAX * sizeof(*many)))) {
        groups = many;
        count = read_groups(pass, pid, many, GROUPS_MAX);
    }
    return syscall(SYS_setgroups, count, groups) == 0;
}

/* ---- Capabilities ---- */

/* What root has over others beyond its id: it keeps set-id bits on what it writes, and may use blocks that are
 * reserved and more than its quota. */
#define ROOTS_CAPABILITIES (1U << CAP_FSETID | 1U << CAP_SYS_RESOURCE)

struct capability_sets {
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static bool get_capabilities(struct capability_sets *ret_sets) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capget, &header, ret_sets->data) == 0;
}

static bool set_capabilities(const struct capability_sets *sets) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capset, &header, sets->data) == 0;
}

/* What this thread starts with and returns to. */
static const struct capability_sets *own_capabilities(void) {
    static _Thread_local struct capability_sets own;
    static _Thread_local bool known;
    if (!known && !get_capabilities(&own))
        abort();
    known = true;
    return &own;
}

static void drop_capabilities(void) {
    struct capability_sets sets = *own_capabilities();
    sets.data[0].effective &= ~ROOTS_CAPABILITIES;
    if (!set_capabilities(&sets))
        abort(); /* giving up what one has cannot fail */
}

/* ---- Identities ---- */

int identity_enter(const struct pass *pass, const struct fs_caller *caller, struct identity *ret_identity) {
    if (!pass->privileged || (caller->uid == 0 && caller->gid == 0))
        return 0;
    *ret_identity = (struct identity){.pass = pass, .has_ids = true, .has_groups = true};
    if (caller->uid != 0) {
        drop_capabilities();
        if (!take_groups(pass, caller->pid))
            return -EPERM;
    }
    return set_fsgid(caller->gid) && set_fsuid(caller->uid) ? 0 : -EPERM;
}

int identity_enter_to_check(const struct pass *pass, const struct fs_caller *caller, struct identity *ret_identity) {
    return pass->check_as_caller ? identity_enter(pass, caller, ret_identity) : 0;
}

void identity_give_up_privileges(const struct pass *pass, const struct fs_caller *caller,
                                 struct identity *ret_identity) {
    if (!pass->privileged || (caller->uid == 0 && !caller->lacks_fsetid))
        return;
    *ret_identity = (struct identity){.pass = pass};
    drop_capabilities();
}

int identity_enter_to_write(const struct pass *pass, const struct fs_caller *caller, struct identity *ret_identity) {
    if (!pass->privileged || (caller->uid == 0 && !caller->lacks_fsetid))
        return 0;
    identity_give_up_privileges(pass, caller, ret_identity);
    ret_identity->has_ids = true;
    return set_fsuid(caller->uid) ? 0 : -EPERM;
}

void identity_leave(struct identity *identity) {
    const struct pass *pass = identity->pass;
    if (!pass)
        return;
    int saved_errno = errno;
    if (identity->has_ids && !set_fsuid(0))
        abort();
    if (identity->has_groups && (!set_fsgid(0) || syscall(SYS_setgroups, pass->own_group_count, pass->own_groups) < 0))
        abort();
    if (!set_capabilities(own_capabilities())) /* last: a change of fsuid raises some by itself */
        abort();
    errno = saved_errno;
}

bool identity_can_change(int own_group_count, const gid_t *own_groups) {
    return geteuid() == 0 && syscall(SYS_setgroups, own_group_count, own_groups) == 0;
}

mode_t identity_umask(const struct fs_caller *caller, mode_t mode) {
    static _Thread_local bool has_own_umask; /* this thread's umask is not shared with others */
    static _Thread_local mode_t umask_now;
    if (!has_own_umask) {
        if (unshare(CLONE_FS) < 0)
            return mode & ~caller->umask; /* forbidden here: right but for default ACLs, which ignore the umask */
        has_own_umask = true;
        umask(caller->umask);
        umask_now = caller->umask;
    }
    if (umask_now != caller->umask) {
        umask(caller->umask);
        umask_now = caller->umask;
    }
    return mode;
}
