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
 * Groups and capabilities are taken from the calling thread (pass_caller.c). Root with all capabilities costs one
 * system call.
 *
 * glibc's wrappers would change every thread of the process, so the system calls are made raw. Real and saved user stay
 * root: so the thread can come back, and nobody else may send it signals or trace it. */
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>

#include "pass_private.h"

#define UNCHANGED (-1)

static bool set_effective_uid(uid_t uid) {
    return syscall(SYS_setresuid, UNCHANGED, uid, UNCHANGED) == 0;
}

static bool set_effective_gid(gid_t gid) {
    return syscall(SYS_setresgid, UNCHANGED, gid, UNCHANGED) == 0;
}

/* ---- Capabilities ---- */

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

/* Makes the wanted capabilities effective, as far as the daemon has them, and no others. */
static void take_capabilities(uint64_t wanted) {
    struct capability_sets sets = *own_capabilities();
    sets.data[0].effective &= (uint32_t)wanted;
    sets.data[1].effective &= (uint32_t)(wanted >> 32);
    if (!set_capabilities(&sets))
        abort(); /* cannot fail: all of them are permitted */
}

/* ---- Entering ---- */

static int enter_group(gid_t gid, struct identity *identity) {
    identity->has_gid = true;
    return set_effective_gid(gid) ? 0 : -EPERM;
}

/* Called last, since the steps before need capabilities. */
static int enter_user(uid_t uid, uint64_t capabilities, struct identity *identity) {
    own_capabilities(); /* must be read before */
    if (uid != 0) {
        identity->has_uid = true;
        if (!set_effective_uid(uid))
            return -EPERM;
    }
    if (uid == 0 || (capabilities & own_effective()) != 0) {
        identity->has_capabilities = true;
        take_capabilities(capabilities);
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

/* True for root with all capabilities of the daemon. (Root of another user namespace has them only there. Telling the
 * two apart takes longer, and matters only where nobody else has checked.) */
static bool is_full_root(const struct pass *pass, const struct fs_caller *caller, bool is_checked) {
    return caller->uid == 0 && !caller->lacks_fsetid && caller_has_capabilities(caller, own_effective()) &&
           (is_checked || caller->pid <= 0 ||
            (caller_is_in_our_namespace(pass, caller->pid) && !caller_is_io_worker(pass, caller->pid)));
}

static int enter(const struct pass *pass, const struct fs_caller *caller, bool is_checked,
                 struct identity *ret_identity) {
    if (!pass->privileged)
        return 0;
    if (!is_full_root(pass, caller, is_checked))
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
