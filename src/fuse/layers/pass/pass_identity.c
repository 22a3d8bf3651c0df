/* Acting as the caller: the effective user and group, supplementary groups, capabilities and umask of this one thread.
 *
 * Who checks permissions. With default_permissions (always on with allow_other, unless told otherwise) the kernel has
 * checked before it sends a request. Ops that make, remove or rename names still act as the caller: what is made must
 * belong to the caller at once, and sticky and set-group-id directories depend on the caller. setattr, open and most
 * xattr ops act as the daemon: the kernel itself sends a setattr on behalf of a writer who does not own the file, to
 * take its set-id bits away. With no_default_permissions every op that names a file acts as the caller.
 *
 * This changes the effective user, not only the file-system user: the kernel then takes all effective capabilities away
 * by itself, and nothing in the lower file system can mistake the thread for root. With root's uid the kernel gives the
 * capabilities back. If the caller is in the daemon's user namespace, the caller's capabilities are raised again.
 * Groups and capabilities are taken from the calling thread. Root with all capabilities costs one
 * system call.
 *
 * glibc's wrappers would change every thread of the process, so the system calls are made raw. Real and saved user stay
 * root: so the thread can come back, and nobody else may send it signals or trace it. */
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>

#include "pass_private.h"

/* ---- What callers may do beyond their ids ----
 *
 * Supplementary groups and capabilities, as /proc shows them for the caller's thread.
 *
 * A thread of the kernel may act for another user (a server of NFS, an overlay): its own groups and capabilities are
 * not those of the request. So they count only if the thread's own file-system user is the one in the request. */

#define CAPABILITY_BIT(capability) (UINT64_C(1) << (capability))

struct capability_sets {
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

/* Rights of a caller beyond its ids. */
struct caller_rights {
    uint64_t capabilities; /* effective ones, as CAPABILITY_BIT()s */
    size_t group_count;
    gid_t *groups;
};

static void caller_free_rights(struct caller_rights *rights) {
    free(rights->groups);
}

/* On a local variable. */
#define CLEANUP_RIGHTS __attribute__((cleanup(caller_free_rights)))
#define CALLER_WITHOUT_RIGHTS ((struct caller_rights){.groups = NULL})

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

static bool caller_is_in_our_namespace(const struct pass *pass, pid_t pid) {
    char path[32];
    struct stat attr;
    snprintf(path, sizeof(path), "%d/ns/user", pid);
    if (pass->user_namespace.st_ino == 0)
        return true; /* this kernel has only one */
    return fstatat(pass->proc_fd, path, &attr, 0) == 0 && attr.st_ino == pass->user_namespace.st_ino &&
           attr.st_dev == pass->user_namespace.st_dev;
}

/* An io_uring(7) thread keeps the rights that its process had at its start: the rights the process has now count. */
static char *read_status_of_caller(const struct pass *pass, pid_t pid) {
    CLEANUP_FREE char *status = pid > 0 ? read_status(pass, pid) : NULL;
    uint64_t number = 0;
    if (status && strncmp(status, "Name:\t" IO_WORKER, strlen("Name:\t" IO_WORKER)) == 0) {
        const char *line = find_line(status, "\nTgid:");
        if (line)
            (void)next_number(&line, &number);
    }
    pid_t process = (pid_t)number;
    return process > 0 && process != pid ? read_status(pass, process) : steal_pointer(&status);
}

/* True for a thread of io_uring(7), or another with such a name. */
static bool caller_is_io_worker(const struct pass *pass, pid_t pid) {
    char path[32];
    char name[32];
    snprintf(path, sizeof(path), "%d/comm", pid);
    return read_beginning(pass->proc_fd, path, name, sizeof(name)) && strncmp(name, IO_WORKER, strlen(IO_WORKER)) == 0;
}

/* The rights of the caller's thread. A caller that has ended has none; root of a PID namespace that is not visible from
 * here has all capabilities.
 * Errors:  -ENOMEM
 * Owner:   the caller frees them with caller_free_rights() */
static int caller_read_rights(const struct pass *pass, const struct fs_caller *caller,
                              struct caller_rights *ret_rights) {
    CLEANUP_FREE char *status = read_status_of_caller(pass, caller->pid);
    CLEANUP_RIGHTS struct caller_rights rights = CALLER_WITHOUT_RIGHTS;
    int err = 0;
    if (status && acts_for_itself(status, caller->uid)) {
        const char *groups = find_line(status, "\nGroups:");
        err = groups ? copy_groups(groups, &rights) : 0;
        /* Capabilities are over all files only in the daemon's own user namespace. (The kernel checks what root of
         * another namespace may do with a file, but with attributes that may be a second old.) */
        rights.capabilities = find_capabilities(status, "\nCapEff:");
        if (rights.capabilities != 0 && !caller_is_in_our_namespace(pass, caller->pid))
            rights.capabilities = 0;
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

/* The sets of a thread; 0: this one. Returns false, with errno, if they cannot be read. */
static bool capability_sets_get(pid_t pid, struct capability_sets *ret_sets) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = pid};
    return syscall(SYS_capget, &header, ret_sets->data) == 0;
}

static uint64_t capability_sets_effective(const struct capability_sets *sets) {
    return (uint64_t)sets->data[1].effective << 32 | sets->data[0].effective;
}

/* True if the caller's thread has all those capabilities, in whatever user namespace it is. */
static bool caller_has_capabilities(const struct fs_caller *caller, uint64_t wanted) {
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

/* ---- Identities ---- */

#define UNCHANGED (-1)

static bool set_effective_uid(uid_t uid) {
    return syscall(SYS_setresuid, UNCHANGED, uid, UNCHANGED) == 0;
}

static bool set_effective_gid(gid_t gid) {
    return syscall(SYS_setresgid, UNCHANGED, gid, UNCHANGED) == 0;
}

static bool set_capabilities(const struct capability_sets *sets) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    return syscall(SYS_capset, &header, sets->data) == 0;
}

/* The capability sets at the start of this thread, restored after each identity. */
static const struct capability_sets *own_capabilities(void) {
    static _Thread_local struct capability_sets own;
    static _Thread_local bool known;
    if (!known && !capability_sets_get(0, &own))
        abort();
    known = true;
    return &own;
}

static uint64_t own_effective(void) {
    return capability_sets_effective(own_capabilities());
}

/* Returning to root as the effective user raises all permitted capabilities. */
static bool permitted_is_effective(void) {
    const struct capability_sets *own = own_capabilities();
    return own->data[0].permitted == own->data[0].effective && own->data[1].permitted == own->data[1].effective;
}

/* ---- Entering ---- */

static int enter_group(gid_t gid, struct identity *identity) {
    identity->has_gid = true;
    return set_effective_gid(gid) ? 0 : -EPERM;
}

/* Called last, since the steps before need capabilities. Only capabilities of both the caller and the daemon become
 * effective. */
static int enter_user(uid_t uid, uint64_t capabilities, struct identity *identity) {
    const struct capability_sets *own = own_capabilities(); /* must be read before */
    if (uid != 0) {
        identity->has_uid = true;
        if (!set_effective_uid(uid))
            return -EPERM;
    }
    if (uid == 0 || (capabilities & own_effective()) != 0) {
        struct capability_sets sets = *own;
        identity->has_capabilities = true;
        sets.data[0].effective &= (uint32_t)capabilities;
        sets.data[1].effective &= (uint32_t)(capabilities >> 32);
        if (!set_capabilities(&sets))
            abort(); /* cannot fail: all of them are permitted */
    }
    return 0;
}

static int enter_with_rights(const struct pass *pass, const struct fs_caller *caller, struct identity *identity) {
    CLEANUP_RIGHTS struct caller_rights rights = CALLER_WITHOUT_RIGHTS;
    int err = caller_read_rights(pass, caller, &rights);
    if (err < 0)
        return err;
    *identity = (struct identity){.pass = pass, .has_groups = true};
    if (syscall(SYS_setgroups, rights.group_count, rights.groups) < 0)
        return -EPERM; /* if this user namespace forbids it */
    err = enter_group(caller->gid, identity);
    return err < 0 ? err : enter_user(caller->uid, rights.capabilities, identity);
}

static int enter(const struct pass *pass, const struct fs_caller *caller, bool is_checked,
                 struct identity *ret_identity) {
    if (!pass->privileged)
        return 0;
    /* Root with all capabilities of the daemon. (Root of another user namespace has them only there. Telling the two
     * apart takes longer, and matters only where nobody else has checked.) */
    bool is_full_root = caller->uid == 0 && !caller->lacks_fsetid && caller_has_capabilities(caller, own_effective()) &&
                        (is_checked || caller->pid <= 0 ||
                         (caller_is_in_our_namespace(pass, caller->pid) && !caller_is_io_worker(pass, caller->pid)));
    if (!is_full_root)
        return enter_with_rights(pass, caller, ret_identity);
    if (caller->gid == pass->own_gid)
        return 0;
    *ret_identity = (struct identity){.pass = pass};
    return enter_group(caller->gid, ret_identity);
}

int identity_enter(const struct pass *pass, const struct fs_caller *caller, struct identity *ret_identity) {
    return enter(pass, caller, !pass->check_as_caller, ret_identity);
}

int identity_enter_unchecked(const struct pass *pass, const struct fs_caller *caller, struct identity *ret_identity) {
    return enter(pass, caller, false, ret_identity);
}

int identity_enter_to_check(const struct pass *pass, const struct fs_caller *caller, struct identity *ret_identity) {
    return pass->check_as_caller ? identity_enter_unchecked(pass, caller, ret_identity) : 0;
}

static int enter_as_user(const struct pass *pass, uid_t uid, uint64_t capabilities, struct identity *ret_identity) {
    if (!pass->privileged || uid == 0)
        return 0;
    *ret_identity = (struct identity){.pass = pass};
    return enter_user(uid, capabilities, ret_identity);
}

/* The kernel writes pages back without taking set-id bits away. */
int identity_enter_to_write_back(const struct pass *pass, uid_t uid, struct identity *ret_identity) {
    return enter_as_user(pass, uid, CAPABILITY_BIT(CAP_FSETID), ret_identity);
}

/* Groups and capabilities matter only for a caller who keeps the set-id bits of a file. */
int identity_enter_to_write(const struct pass *pass, const struct fs_caller *caller, int fd,
                            struct identity *ret_identity) {
    struct stat attr;
    if (!pass->privileged || (caller->uid == 0 && !caller->lacks_fsetid))
        return 0;
    if (fstat(fd, &attr) < 0)
        return negative_errno();
    if (attr.st_mode & (S_ISUID | S_ISGID))
        return enter_with_rights(pass, caller, ret_identity);
    return enter_as_user(pass, caller->uid, 0, ret_identity);
}

int identity_enter_to_write_untold(const struct pass *pass, const struct fs_caller *caller, int fd,
                                   struct identity *ret_identity) {
    struct fs_caller writer = *caller;
    writer.lacks_fsetid |= caller->uid == 0 && !caller_is_capable(pass, caller, CAP_FSETID);
    return identity_enter_to_write(pass, &writer, fd, ret_identity);
}

/* ---- Leaving ---- */

/* In an order in which each step permits the next. */
void identity_leave(struct identity *identity) {
    const struct pass *pass = identity->pass;
    if (!pass)
        return;
    int saved_errno = errno;
    if (identity->has_uid && !set_effective_uid(0))
        abort();
    if ((identity->has_capabilities || (identity->has_uid && !permitted_is_effective())) &&
        !set_capabilities(own_capabilities()))
        abort();
    if (identity->has_gid && !set_effective_gid(pass->own_gid))
        abort();
    if (identity->has_groups && syscall(SYS_setgroups, 0, NULL) < 0)
        abort();
    errno = saved_errno;
}

/* Runs in a thread that may end with another identity. */
static void *try_identity(void *ret_possible) {
    const uid_t somebody = 1; /* every namespace with more than root has this one */
    struct capability_sets sets;
    *(bool *)ret_possible = syscall(SYS_setgroups, 0, NULL) == 0 && set_effective_uid(somebody) &&
                            capability_sets_get(0, &sets) && capability_sets_effective(&sets) == 0 &&
                            set_effective_uid(0);
    return NULL;
}

/* This is tried, because a container may forbid it in many ways, and with a certain security bit every user keeps
 * capabilities. Another thread tries it, because a thread that changes its user no longer gets a signal when its parent
 * dies (prctl(2)). */
bool identity_can_change(void) {
    pthread_t thread;
    bool is_possible = false;
    return geteuid() == 0 && pthread_create(&thread, NULL, try_identity, &is_possible) == 0 &&
           pthread_join(thread, NULL) == 0 && is_possible;
}

mode_t identity_umask(const struct fs_caller *caller, mode_t mode) {
    static _Thread_local bool has_own_umask; /* set once this thread's umask is not shared with others */
    static _Thread_local mode_t umask_now;
    if (!has_own_umask) {
        if (unshare(CLONE_FS) < 0)
            return mode & ~caller->umask; /* forbidden here: correct except with default ACLs, which ignore it */
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
