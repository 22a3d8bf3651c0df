/* Entering a private mount namespace, and what may forbid it. */
#include "namespace.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base.h"
#include "command.h"

/* ---- Reasons why it may be forbidden ------------------------------------------------------------ */

/* The number in a file; -1 if there is none. */
static long read_number(const char *path) {
    char text[32];
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (size <= 0)
        return -1;
    text[size] = '\0';
    return strtol(text, NULL, 10);
}

#define SWITCH_DEBIAN "/proc/sys/kernel/unprivileged_userns_clone"
#define SWITCH_APPARMOR "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
#define SWITCH_COUNT "/proc/sys/user/max_user_namespaces"

static int complain_refused(int error) {
    static const char advice[] = "run as root, or mount with osproffs(1)";
    if (read_number(SWITCH_COUNT) == 0)
        complain("cannot make a user namespace: %s is 0 here; let root raise it, %s", SWITCH_COUNT, advice);
    else if (read_number(SWITCH_DEBIAN) == 0)
        complain("cannot make a user namespace: %s is 0 here; let root set it to 1, %s", SWITCH_DEBIAN, advice);
    else if (read_number(SWITCH_APPARMOR) > 0)
        complain("cannot make a user namespace: AppArmor forbids it (%s is 1); let root set it to 0 or give osprof a "
                 "profile, %s",
                 SWITCH_APPARMOR, advice);
    else if (error == -ENOSPC)
        complain("cannot make a user namespace: there are as many as /proc/sys/user allows; let root raise "
                 "max_user_namespaces and max_mnt_namespaces there, %s",
                 advice);
    else
        complain("cannot make a user namespace: %s; a container or a chroot may forbid it; %s", strerror(-error),
                 advice);
    return error;
}

/* ---- Entering ----------------------------------------------------------------------------------- */

static int write_text(const char *path, const char *text) {
    CLEANUP_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd < 0 ? negative_errno() : write_all(fd, text, strlen(text));
}

/* The kernel requires an ordinary user to give up setting groups before mapping one. */
static int map_ids(uid_t uid, gid_t gid) {
    char uid_map[64];
    char gid_map[64];
    snprintf(uid_map, sizeof(uid_map), "%u %u 1\n", (unsigned)uid, (unsigned)uid);
    snprintf(gid_map, sizeof(gid_map), "%u %u 1\n", (unsigned)gid, (unsigned)gid);
    int error = write_text("/proc/self/setgroups", "deny");
    if (error == 0 || error == -ENOENT)
        error = write_text("/proc/self/uid_map", uid_map);
    return error ? error : write_text("/proc/self/gid_map", gid_map);
}

int namespace_enter(struct namespace *ret_namespace) {
    struct namespace space = {.has_user = false};
    const uid_t uid = geteuid();
    const gid_t gid = getegid();
    for (unsigned cap = 0; cap <= CAP_LAST_CAP; cap++)
        if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
            space.bounding_caps |= UINT64_C(1) << cap;
    int error = unshare(CLONE_NEWNS) < 0 ? negative_errno() : 0;
    if (error == -EPERM) {
        space.has_user = true;
        error = unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ? negative_errno() : map_ids(uid, gid);
    }
    /* Unmounting outside must have an effect here too, or the file system would stay in use until the command ends; where
     * mounts outside are private, run_mounts_wait() helps. */
    if (error == 0 && mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        error = negative_errno();
    if (error && space.has_user)
        return complain_refused(error);
    if (error) {
        complain("cannot make a mount namespace: %s%s", strerror(-error),
                 error == -EINVAL ? "; in a chroot, / must be a mount point: mount --bind DIR DIR before" : "");
        return error;
    }
    *ret_namespace = space;
    return 0;
}

/* ---- Children ----------------------------------------------------------------------------------- */

int namespace_let_mount(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, data) < 0)
        return negative_errno();
    data[CAP_TO_INDEX(CAP_SYS_ADMIN)].inheritable |= CAP_TO_MASK(CAP_SYS_ADMIN);
    if (syscall(SYS_capset, &header, data) < 0 || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0) < 0)
        return negative_errno();
    return 0;
}

void namespace_restrict(const struct namespace *space) {
    for (unsigned cap = 0; space->has_user && cap <= CAP_LAST_CAP; cap++)
        if (!(space->bounding_caps & UINT64_C(1) << cap))
            prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}
