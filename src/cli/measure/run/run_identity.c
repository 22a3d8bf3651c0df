/* Rights that the command's user gets to files of osprof are entries of access control lists, in the kernel's form. */
#include "run_identity.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base.h"
#include "command.h"
#include "dir.h"

#define GROUPS_FIRST 32
#define ENTRIES_MAX 64
#define ACCESS_LIST "system.posix_acl_access"

/* ---- Becoming it -------------------------------------------------------------------------------- */

int run_identity_assume(const struct run_identity *identity) {
    const char *const variables[][2] = {
        {"HOME", identity->home}, {"USER", identity->name}, {"LOGNAME", identity->name}, {"SHELL", identity->shell}};
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (!identity->name)
        return 0;
    /* In this order, for each needs the rights that the next one takes. */
    if (setgroups((size_t)identity->group_count, identity->groups) < 0 ||
        setresgid(identity->gid, identity->gid, identity->gid) < 0 ||
        setresuid(identity->uid, identity->uid, identity->uid) < 0)
        return negative_errno();
    /* The kernel drops capabilities too, but not where root has asked it to keep them (capabilities(7), securebits). */
    if (identity->uid != 0 && syscall(SYS_capset, &header, none) < 0)
        return negative_errno();
    for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
        if (setenv(variables[i][0], variables[i][1], 1) < 0)
            return negative_errno();
    return 0;
}

/* Returns what access(2) says to that user, or why there can be none. path: NULL: only the latter */
static int ask_as(const struct run_identity *identity, const char *path, int mode) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        const int error = run_identity_assume(identity);
        _exit(error ? -error : path && access(path, mode) < 0 ? errno : 0);
    }
    if (child < 0)
        return negative_errno();
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -EAGAIN;
}

bool run_identity_may(const struct run_identity *identity, const char *path, int mode) {
    return ask_as(identity, path, mode) == 0;
}

/* ---- Finding it --------------------------------------------------------------------------------- */

/* Errors:  -ENOMEM */
static int find_groups(struct run_identity *identity) {
    int room = GROUPS_FIRST;
    int count = -1;
    while (count < 0) {
        gid_t *groups = reallocarray(identity->groups, (size_t)room, sizeof(*groups));
        if (!groups)
            return -ENOMEM;
        identity->groups = groups;
        identity->group_count = room;
        count = getgrouplist(identity->name, identity->gid, groups, &identity->group_count);
        room = identity->group_count > room ? identity->group_count : 2 * room;
    }
    return 0;
}

int run_identity_find(struct run_identity *ret_identity, const char *user) {
    struct run_identity *identity = ret_identity;
    if (geteuid() != 0) {
        complain("cannot run the command as %s: only root can", user);
        return -EPERM;
    }
    const struct passwd *found = getpwnam(user);
    if (!found && user[0] >= '0' && user[0] <= '9') {
        char *end;
        errno = 0;
        const unsigned long uid = strtoul(user, &end, 10);
        found = *end == '\0' && errno == 0 && uid < (uid_t)-1 ? getpwuid((uid_t)uid) : NULL;
    }
    if (!found) {
        complain("cannot run the command as %s: there is no such user", user);
        return -ENOENT;
    }
    identity->uid = found->pw_uid;
    identity->gid = found->pw_gid;
    identity->name = strdup(found->pw_name);
    identity->home = strdup(found->pw_dir);
    identity->shell = strdup(found->pw_shell[0] ? found->pw_shell : "/bin/sh");
    int error = identity->name && identity->home && identity->shell ? find_groups(identity) : -ENOMEM;
    if (error == 0)
        error = ask_as(identity, NULL, 0);
    if (error)
        complain("cannot run the command as %s: %s%s", user, strerror(-error),
                 error == -EPERM ? "; that takes the capabilities CAP_SETUID and CAP_SETGID" : "");
    return error;
}

void run_identity_finish(struct run_identity *identity) {
    free(identity->name);
    free(identity->home);
    free(identity->shell);
    free(identity->groups);
}

/* ---- Access control lists ----------------------------------------------------------------------- */

struct list {
    struct posix_acl_xattr_header header;
    struct posix_acl_xattr_entry entries[ENTRIES_MAX];
};

static struct posix_acl_xattr_entry entry_of(unsigned tag, unsigned permissions, uint32_t id) {
    return (struct posix_acl_xattr_entry){htole16((uint16_t)tag), htole16((uint16_t)permissions), htole32(id)};
}

/* A file without a list has that of its mode. Errors: those of getxattr(2); -E2BIG; -EPERM the file is not ours */
static int read_list(int fd, struct list *ret_list, size_t *ret_count) {
    struct stat attr;
    const ssize_t size = fgetxattr(fd, ACCESS_LIST, ret_list, sizeof(*ret_list));
    if (size < 0 && errno != ENODATA)
        return errno == ERANGE ? -E2BIG : negative_errno();
    if (fstat(fd, &attr) < 0)
        return negative_errno();
    if (attr.st_uid != geteuid())
        return -EPERM;
    if (size >= 0) {
        *ret_count = ((size_t)size - sizeof(ret_list->header)) / sizeof(ret_list->entries[0]);
        return 0;
    }
    const mode_t mode = attr.st_mode;
    ret_list->header.a_version = htole32(POSIX_ACL_XATTR_VERSION);
    ret_list->entries[0] = entry_of(ACL_USER_OBJ, mode >> 6 & 7, ACL_UNDEFINED_ID);
    ret_list->entries[1] = entry_of(ACL_GROUP_OBJ, mode >> 3 & 7, ACL_UNDEFINED_ID);
    ret_list->entries[2] = entry_of(ACL_MASK, mode >> 3 & 7, ACL_UNDEFINED_ID);
    ret_list->entries[3] = entry_of(ACL_OTHER, mode & 7, ACL_UNDEFINED_ID);
    *ret_count = 4;
    return 0;
}

static bool is_of_user(const struct posix_acl_xattr_entry *entry, uid_t uid) {
    return le16toh(entry->e_tag) == ACL_USER && le32toh(entry->e_id) == uid;
}

static bool has_user(const struct list *list, size_t count, uid_t uid) {
    for (size_t i = 0; i < count; i++)
        if (is_of_user(&list->entries[i], uid))
            return true;
    return false;
}

static int write_list(int fd, const struct list *list, size_t count) {
    const size_t size_bytes = sizeof(list->header) + count * sizeof(list->entries[0]);
    return fsetxattr(fd, ACCESS_LIST, list, size_bytes, 0) < 0 ? negative_errno() : 0;
}

/* Replaces that user's entry; permissions: 0: there is none then. Entries are in order of their tags, of which the first is
 * the owner's. A list without other users and groups has no mask, which is the mode's then.
 * Returns how many entries there are then: at most one more */
static size_t set_user(struct list *list, size_t count, uid_t uid, unsigned permissions) {
    const struct list before = *list;
    bool has_others = permissions != 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct posix_acl_xattr_entry entry = before.entries[i];
        const unsigned tag = le16toh(entry.e_tag);
        if (is_of_user(&entry, uid) || (tag == ACL_MASK && !has_others))
            continue;
        if (tag == ACL_MASK)
            entry.e_perm |= htole16((uint16_t)permissions);
        has_others = has_others || tag == ACL_USER || tag == ACL_GROUP;
        list->entries[kept++] = entry;
        if (i == 0 && permissions != 0)
            list->entries[kept++] = entry_of(ACL_USER, permissions, uid);
    }
    return kept;
}

int run_identity_let(const struct run_identity *identity, int dir_fd, const char *name, int permissions) {
    CLEANUP_FD int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct list list;
    size_t count = 0;
    if (fd < 0)
        return negative_errno();
    int error = read_list(fd, &list, &count);
    if (error == 0 && count >= ENTRIES_MAX)
        error = -E2BIG;
    if (error)
        return error;
    return write_list(fd, &list, set_user(&list, count, identity->uid, (unsigned)permissions));
}

static bool may_use_any(const struct run_identity *identity, int dir_fd) {
    CLEANUP_DIR DIR *dir = open_dir_at(dir_fd, ".");
    bool may = !dir; /* unknown */
    for (struct dirent *entry; !may && (entry = readdir(dir));) {
        CLEANUP_FD int fd = entry->d_name[0] == '.'
                                ? -1
                                : openat(dir_fd, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        struct list list;
        size_t count = 0;
        may = fd >= 0 && read_list(fd, &list, &count) == 0 && has_user(&list, count, identity->uid);
    }
    return may;
}

void run_identity_forbid(const struct run_identity *identity, int dir_fd) {
    CLEANUP_FD int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct list list;
    size_t count = 0;
    if (fd >= 0 && read_list(fd, &list, &count) == 0 && has_user(&list, count, identity->uid) &&
        !may_use_any(identity, dir_fd))
        write_list(fd, &list, set_user(&list, count, identity->uid, 0));
}
