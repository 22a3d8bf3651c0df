/* What is tried on each object. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "permissions.h"

enum { SELF = -2, SAME = -1 }; /* in place of an id: one's own, and the one there is */

/* ---- Opening ---- */

static int close_after(int fd, int result) {
    int saved_errno = errno;
    close(fd);
    errno = saved_errno;
    return result;
}

/* One byte each way, whatever the descriptor was opened for. */
static int make_open(const char *path, const struct call *call) {
    int fd = open(path, (int)call->a | O_CLOEXEC);
    if (fd < 0)
        return -1;
    char byte;
    if ((call->a & O_ACCMODE) != O_WRONLY)
        note(" read %s", outcome(read(fd, &byte, 1)));
    if ((call->a & O_ACCMODE) != O_RDONLY)
        note(" write %s", outcome(write(fd, "w", 1)));
    return close_after(fd, 0);
}

static int make_open_creating(const char *path, const struct call *call) {
    int fd = open(path, (int)call->a | O_CREAT | O_CLOEXEC, 0640);
    return fd < 0 ? -1 : close_after(fd, 0);
}

static int make_list(const char *path, const struct call *call) {
    (void)call;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    char entries[4096];
    return close_after(fd, getdents64(fd, entries, sizeof(entries)) < 0 ? -1 : 0);
}

static int make_chdir(const char *path, const struct call *call) {
    (void)call;
    int here = open(".", O_PATH | O_CLOEXEC);
    int result = chdir(path);
    int saved_errno = errno;
    must(fchdir(here) == 0, "return from", path);
    errno = saved_errno;
    return close_after(here, result);
}

/* ---- Contents ---- */

static int make_truncate(const char *path, const struct call *call) {
    return truncate(path, call->a);
}

/* Opens the file for reading and writing, or else what can be had, and does something to the descriptor. */
static int with_descriptor(const char *path, int flags, int (*act)(int fd)) {
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0) {
        note(" to open");
        return -1;
    }
    return close_after(fd, act(fd));
}

static int cut(int fd) {
    return ftruncate(fd, 2);
}

static int make_ftruncate(const char *path, const struct call *call) {
    return with_descriptor(path, (int)call->a, cut);
}

static int reserve(int fd) {
    return fallocate(fd, 0, 0, 100);
}

static int punch(int fd) {
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 2);
}

static int copy_into(int fd) {
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int into = dup(fd);
    char bytes[8];
    /* from another file system it may not be had: then by hand */
    int result = (int)copy_file_range(from, NULL, into, NULL, sizeof(bytes), 0);
    if (result < 0 && errno == EXDEV)
        result = read(from, bytes, sizeof(bytes)) < 0 ? -1 : (int)write(into, bytes, sizeof(bytes));
    close_after(into, 0);
    return close_after(from, result < 0 ? -1 : 0);
}

static int copy_within(int fd) {
    loff_t from = 0;
    loff_t to = 10;
    return copy_file_range(fd, &from, fd, &to, 4, 0) < 0 ? -1 : 0;
}

static int make_fallocate(const char *path, const struct call *call) {
    return with_descriptor(path, (int)call->a, reserve);
}

static int make_punch(const char *path, const struct call *call) {
    return with_descriptor(path, (int)call->a, punch);
}

static int make_copy_into(const char *path, const struct call *call) {
    return with_descriptor(path, (int)call->a, copy_into);
}

static int make_copy_within(const char *path, const struct call *call) {
    return with_descriptor(path, (int)call->a, copy_within);
}

static int make_mmap(const char *path, const struct call *call) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        note(" to open");
        return -1;
    }
    void *memory = mmap(NULL, 4096, (int)call->a, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED)
        return close_after(fd, -1);
    munmap(memory, 4096);
    return close_after(fd, 0);
}

/* ---- Attributes ---- */

static int make_access(const char *path, const struct call *call) {
    return faccessat(AT_FDCWD, path, (int)call->a, (int)call->b);
}

static int make_stat(const char *path, const struct call *call) {
    struct stat st;
    if (fstatat(AT_FDCWD, path, &st, (int)call->a) < 0)
        return -1;
    note(" %06o %u:%u links %lu", st.st_mode, st.st_uid, st.st_gid, (unsigned long)st.st_nlink);
    if (S_ISCHR(st.st_mode))
        note(" device %u:%u", major(st.st_rdev), minor(st.st_rdev));
    return 0;
}

static int make_readlink(const char *path, const struct call *call) {
    char target[64];
    (void)call;
    return readlink(path, target, sizeof(target)) < 0 ? -1 : 0;
}

static int make_statvfs(const char *path, const struct call *call) {
    struct statvfs vfs;
    (void)call;
    return statvfs(path, &vfs);
}

static int make_chmod(const char *path, const struct call *call) {
    return chmod(path, (mode_t)call->a);
}

static int make_fchmod(const char *path, const struct call *call) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        note(" to open");
        return -1;
    }
    return close_after(fd, fchmod(fd, (mode_t)call->a));
}

static uid_t user_of(long id) {
    return id == SELF ? geteuid() : (uid_t)id;
}

static gid_t group_of(long id) {
    return id == SELF ? getegid() : (gid_t)id;
}

static int make_chown(const char *path, const struct call *call) {
    return chown(path, user_of(call->a), group_of(call->b));
}

static int make_lchown(const char *path, const struct call *call) {
    return lchown(path, user_of(call->a), group_of(call->b));
}

/* a and b are what stands in place of nanoseconds, access time first; 0 is a time of the past. */
static int make_utimens(const char *path, const struct call *call) {
    struct timespec times[2] = {{.tv_sec = 1000, .tv_nsec = call->a}, {.tv_sec = 2000, .tv_nsec = call->b}};
    int result = utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
    struct stat st;
    if (result == 0 && lstat(path, &st) == 0)
        note(" %s %s", st.st_atim.tv_sec == 1000 ? "past" : "now", st.st_mtim.tv_sec == 2000 ? "past" : "now");
    return result;
}

/* ---- Extended attributes and flags ---- */

static int make_setxattr(const char *path, const struct call *call) {
    return lsetxattr(path, call->text, "new", 3, 0);
}

static int make_set_acl(const char *path, const struct call *call) {
    char bytes[ACL_ROOM_BYTES];
    size_t size = acl_encode((enum acl)call->a, bytes);
    return setxattr(path, call->text, bytes, size, 0);
}

static int make_set_capability(const char *path, const struct call *call) {
    return setxattr(path, call->text, capability_value, sizeof(capability_value), 0);
}

static int make_getxattr(const char *path, const struct call *call) {
    unsigned char value[128];
    ssize_t size = lgetxattr(path, call->text, value, sizeof(value));
    for (ssize_t i = 0; i < size; i++)
        note("%s%02x", i == 0 ? " " : "", value[i]);
    return size < 0 ? -1 : 0;
}

static int make_removexattr(const char *path, const struct call *call) {
    return lremovexattr(path, call->text);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int make_listxattr(const char *path, const struct call *call) {
    char names[1024];
    char *sorted[16];
    size_t count = 0;
    (void)call;
    ssize_t size = llistxattr(path, names, sizeof(names));
    if (size < 0)
        return -1;
    for (char *name = names; name < names + size && count < ARRAY_SIZE(sorted); name += strlen(name) + 1)
        sorted[count++] = name;
    qsort(sorted, count, sizeof(*sorted), by_name);
    for (size_t i = 0; i < count; i++)
        note(" %s", sorted[i]);
    return 0;
}

enum { FLAGS_SHOWN = FS_APPEND_FL | FS_IMMUTABLE_FL | FS_NODUMP_FL };

/* Reads the flags, and sets them to a unless that is -1. */
static int make_flags(const char *path, const struct call *call) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int flags = 0;
    if (fd < 0) {
        note(" to open");
        return -1;
    }
    int result = ioctl(fd, FS_IOC_GETFLAGS, &flags);
    if (result == 0 && call->a != -1) {
        flags = (flags & ~FLAGS_SHOWN) | (int)call->a;
        result = ioctl(fd, FS_IOC_SETFLAGS, &flags);
    }
    if (result == 0)
        note(" %x", flags & FLAGS_SHOWN);
    return close_after(fd, result);
}

/* ---- Names ---- */

static int make_link(const char *path, const struct call *call) {
    char other[300];
    snprintf(other, sizeof(other), "%s new", path);
    return linkat(AT_FDCWD, path, AT_FDCWD, other, (int)call->a);
}

static int make_rename(const char *path, const struct call *call) {
    char other[300];
    snprintf(other, sizeof(other), "%s%s", call->text, path);
    return rename(path, other);
}

static int make_unlink(const char *path, const struct call *call) {
    return unlinkat(AT_FDCWD, path, (int)call->a);
}

/* ---- Execution and sockets ---- */

/* Starts the file as a program whose standard output is this descriptor; returns an error or 0. No copy of this process
 * is made for it: most of what is tried is refused. */
static int start(const char *path, int output, pid_t *ret_child) {
    char here[300];
    snprintf(here, sizeof(here), "./%s", path);
    char name[] = "--ids"; /* no argument, for scripts would get it too */
    char *arguments[] = {name, NULL};
    char *environment[] = {NULL};
    posix_spawn_file_actions_t actions;
    must(posix_spawn_file_actions_init(&actions) == 0 &&
             posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) == 0 &&
             posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0,
         "prepare", "a process");
    int error = posix_spawn(ret_child, here, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int make_exec(const char *path, const struct call *call) {
    int ends[2];
    (void)call;
    must(pipe2(ends, O_CLOEXEC) == 0, "make", "a pipe");
    pid_t child;
    int error = start(path, ends[1], &child);
    close(ends[1]);
    char output[200] = "";
    ssize_t size = read(ends[0], output, sizeof(output) - 1);
    close(ends[0]);
    if (error) {
        errno = error;
        return -1;
    }
    int status = 0;
    waitpid(child, &status, 0);
    output[strcspn(output, "\n")] = '\0';
    if (size > 0)
        note(" %s", output);
    errno = WEXITSTATUS(status); /* kept apart from errors of execve(2) by what was printed */
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int make_connect(const char *path, const struct call *call) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)call;
    snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int result = connect(fd, (struct sockaddr *)&address, sizeof(address));
    return close_after(fd, result);
}

/* ---- The table ---- */

#define ALL "fx#dpscl"
#define OPENED "fdscl"
#define ACCESS_ACL "system.posix_acl_access"
#define DEFAULT_ACL "system.posix_acl_default"
#define OPEN(kinds, flags, changes)                                                                                    \
    { "open " #flags, kinds, make_open, flags, 0, changes }
#define ACCESS(mode)                                                                                                   \
    { "access " #mode, "fx#dpsc", make_access, mode, 0 }
#define EACCESS(mode)                                                                                                  \
    { "access " #mode " effective", "fx#dpsc", make_access, mode, AT_EACCESS }
#define CHMOD(mode)                                                                                                    \
    { "chmod " #mode, "fdp", make_chmod, mode, 0, true }

const struct call calls[] = {
    {"stat", ALL, make_stat},
    {"lstat", "l", make_stat, AT_SYMLINK_NOFOLLOW},
    {"readlink", "l", make_readlink},
    OPEN(OPENED, O_RDONLY, false),
    OPEN(OPENED, O_WRONLY, true),
    OPEN(OPENED, O_RDWR, true),
    OPEN(OPENED, O_ACCMODE, false),
    OPEN("f", O_RDONLY | O_TRUNC, true),
    OPEN("fdc", O_WRONLY | O_TRUNC, true),
    OPEN("f", O_RDWR | O_TRUNC, true),
    OPEN("f", O_ACCMODE | O_TRUNC, true),
    OPEN("f", O_WRONLY | O_APPEND, true),
    OPEN("f", O_RDWR | O_APPEND, true),
    OPEN("f", O_WRONLY | O_APPEND | O_TRUNC, true),
    OPEN("fdc", O_RDONLY | O_NOATIME, false),
    OPEN("fd", O_RDONLY | O_DIRECTORY, false),
    OPEN("fl", O_RDONLY | O_NOFOLLOW, false),
    OPEN(ALL, O_PATH, false),
    OPEN("l", O_PATH | O_NOFOLLOW, false),
    OPEN("p", O_RDONLY | O_NONBLOCK, false),
    OPEN("p", O_WRONLY | O_NONBLOCK, false),
    OPEN("p", O_RDWR | O_NONBLOCK, false),
    OPEN("p", O_ACCMODE | O_NONBLOCK, false),
    {"creat O_RDONLY", "fdl", make_open_creating, O_RDONLY, 0, true},
    {"creat O_WRONLY", "fdl", make_open_creating, O_WRONLY, 0, true},
    {"creat O_RDWR|O_TRUNC", "fl", make_open_creating, O_RDWR | O_TRUNC, 0, true},
    {"creat O_RDWR|O_EXCL", "fdpl", make_open_creating, O_RDWR | O_EXCL, 0, true},
    {"list", "d", make_list},
    {"chdir", "dfl", make_chdir},
    {"truncate 2", "fdpl", make_truncate, 2, 0, true},
    {"truncate 100", "f", make_truncate, 100, 0, true},
    {"truncate 4", "f", make_truncate, 4, 0, true}, /* the size it has */
    {"ftruncate", "f", make_ftruncate, O_WRONLY, 0, true},
    {"fallocate", "f", make_fallocate, O_WRONLY, 0, true},
    {"fallocate punch", "f", make_punch, O_WRONLY, 0, true},
    {"copy_file_range", "f", make_copy_into, O_WRONLY, 0, true},
    {"copy_file_range within", "f", make_copy_within, O_RDWR, 0, true},
    {"mmap PROT_READ", "fc", make_mmap, PROT_READ},
    {"mmap PROT_EXEC", "fx", make_mmap, PROT_READ | PROT_EXEC},
    ACCESS(F_OK),
    ACCESS(R_OK),
    ACCESS(W_OK),
    ACCESS(X_OK),
    ACCESS(R_OK | W_OK),
    EACCESS(R_OK),
    EACCESS(W_OK),
    EACCESS(X_OK),
    {"statvfs", "fd", make_statvfs},
    CHMOD(0644),
    CHMOD(0600),
    CHMOD(01777),
    CHMOD(02745),
    CHMOD(02755),
    CHMOD(04755),
    CHMOD(06777),
    {"fchmod 0600", "fd", make_fchmod, 0600, 0, true},
    {"fchmod 06755", "fd", make_fchmod, 06755, 0, true},
    {"chown to self", "fdpcl", make_chown, SELF, SAME, true},
    {"chown to self and own group", "fd", make_chown, SELF, SELF, true},
    {"chown to own group", "fdl", make_chown, SAME, SELF, true},
    {"chown to the group", "fd", make_chown, SAME, ID_GROUP, true},
    {"chown to another", "fd", make_chown, ID_OTHER, SAME, true},
    {"chown to root", "f", make_chown, ID_ROOT, ID_ROOT, true},
    {"chown to the same", "fd", make_chown, SAME, SAME, true},
    {"lchown to the same", "fdpscl", make_lchown, SAME, SAME, true},
    {"lchown to own group", "fdl", make_lchown, SAME, SELF, true},
    {"lchown to another", "fdl", make_lchown, ID_OTHER, ID_OTHER, true},
    {"utimens now", "fdpscl", make_utimens, UTIME_NOW, UTIME_NOW, true},
    {"utimens past", "fdpscl", make_utimens, 0, 0, true},
    {"utimens now and omit", "f", make_utimens, UTIME_NOW, UTIME_OMIT, true},
    {"utimens past and now", "f", make_utimens, 0, UTIME_NOW, true},
    {"utimens omit", "f", make_utimens, UTIME_OMIT, UTIME_OMIT, true},
    {"listxattr", "fxdpl", make_listxattr},
    {"getxattr user.old", "fdpl", make_getxattr, .text = "user.old"},
    {"getxattr trusted.old", "fd", make_getxattr, .text = "trusted.old"},
    {"getxattr capability", "fxd", make_getxattr, .text = "security.capability"},
    {"getxattr acl", "fd", make_getxattr, .text = ACCESS_ACL},
    {"getxattr default acl", "d", make_getxattr, .text = DEFAULT_ACL},
    {"setxattr user.new", "fdpcl", make_setxattr, .text = "user.new", .changes = true},
    {"setxattr trusted.new", "fdpl", make_setxattr, .text = "trusted.new", .changes = true},
    {"setxattr security.new", "fd", make_setxattr, .text = "security.new", .changes = true},
    {"setxattr system.nfs4_acl", "f", make_setxattr, .text = "system.nfs4_acl", .changes = true},
    {"setxattr capability", "fd", make_set_capability, .text = "security.capability", .changes = true},
    {"setxattr acl", "fdp", make_set_acl, ACL_ME_RW, .text = ACCESS_ACL, .changes = true},
    {"setxattr acl masked", "f", make_set_acl, ACL_MASKED, .text = ACCESS_ACL, .changes = true},
    {"setxattr default acl", "fd", make_set_acl, ACL_DEFAULT, .text = DEFAULT_ACL, .changes = true},
    {"removexattr user.old", "fd", make_removexattr, .text = "user.old", .changes = true},
    {"removexattr trusted.old", "fd", make_removexattr, .text = "trusted.old", .changes = true},
    {"removexattr capability", "fd", make_removexattr, .text = "security.capability", .changes = true},
    {"removexattr acl", "fd", make_removexattr, .text = ACCESS_ACL, .changes = true},
    {"removexattr default acl", "d", make_removexattr, .text = DEFAULT_ACL, .changes = true},
    {"flags", "fd", make_flags, -1},
    {"flags none", "fd", make_flags, 0, 0, true},
    {"flags nodump", "fd", make_flags, FS_NODUMP_FL, 0, true},
    {"flags append", "fd", make_flags, FS_APPEND_FL, 0, true},
    {"flags immutable", "fd", make_flags, FS_IMMUTABLE_FL, 0, true},
    {"link", "fpscl", make_link, 0, 0, true},
    {"link followed", "l", make_link, AT_SYMLINK_FOLLOW, 0, true},
    {"rename", "fdpscl", make_rename, .text = "moved ", .changes = true},
    {"rename elsewhere", "fd", make_rename, .text = "elsewhere/", .changes = true},
    {"unlink", "fdpscl", make_unlink, 0, 0, true},
    {"rmdir", "d", make_unlink, AT_REMOVEDIR, 0, true},
    {"execve", "fx#d", make_exec},
    {"connect", "s", make_connect},
};
const size_t call_count = ARRAY_SIZE(calls);
