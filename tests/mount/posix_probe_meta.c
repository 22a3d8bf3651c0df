/* Probes: attributes: modes, owners, set-id bits, times, extended attributes, ACLs. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "posix_probe.h"

enum { OTHER_ID = 65534 };

void probe_modes(void) {
    probe_make("file", "x");
    const mode_t modes[] = {0, 0777, 0421, 01644, 02755, 04755, 07777, 06666};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        TRY(chmod("file", modes[i]));
        probe_stat("file");
    }
    TRY(chmod("missing", 0644));
    TRY(mkdir("setgid", 0755));
    TRY(chmod("setgid", 02775));
    TRY(mkdir("setgid/below", 0755));
    probe_make("setgid/file", "x");
    probe_stat("setgid");
    probe_stat("setgid/below");
    probe_stat("setgid/file");
    const mode_t masks[] = {0, 027, 077, 0777};
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        umask(masks[i]);
        close(TRY_FD(open("masked file", O_CREAT | O_WRONLY, 0666)));
        TRY(mkdir("masked directory", 0777));
        TRY(mknod("masked fifo", S_IFIFO | 0666, 0));
        probe_stat("masked file");
        probe_stat("masked directory");
        probe_stat("masked fifo");
        unlink("masked file");
        unlink("masked fifo");
        rmdir("masked directory");
    }
    umask(022);
    TRY(access("file", R_OK | W_OK));
    TRY(access("file", X_OK));
    TRY(access("missing", F_OK));
    TRY(faccessat(AT_FDCWD, "setgid", W_OK | X_OK, AT_EACCESS));
}

void probe_owner(void) {
    probe_make("file", "x");
    TRY(symlink("file", "link"));
    TRY(chown("file", OTHER_ID, OTHER_ID));
    TRY(chown("file", (uid_t)-1, 12));
    TRY(chown("file", 7, (gid_t)-1));
    TRY(chown("file", (uid_t)-1, (gid_t)-1));
    probe_stat("file");
    TRY(lchown("link", OTHER_ID, 12));
    probe_stat("link");
    TRY(chown("link", 3, 4));
    probe_stat("file");
    int fd = open("file", O_RDONLY);
    TRY(fchown(fd, 5, 6));
    close(fd);
    probe_stat("file");
    TRY(chown("missing", 1, 1));
    TRY(chown("file", getuid(), 4000000000U));
    probe_stat("file");
}

/* Runs action in a child that is nobody, when we are root. */
static void as_nobody(void (*action)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (getuid() == 0 && (setgid(OTHER_ID) < 0 || setuid(OTHER_ID) < 0))
            _exit(1);
        action();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    probe_stat("program");
}

static void append_byte(void) {
    int fd = TRY_FD(open("program", O_WRONLY | O_APPEND));
    TRY(write(fd, "x", 1));
    close(fd);
}

static void cut_byte(void) {
    TRY(truncate("program", 3));
}

static void cut_open_byte(void) {
    int fd = TRY_FD(open("program", O_WRONLY));
    TRY(ftruncate(fd, 2));
    close(fd);
}

static void open_truncating(void) {
    close(TRY_FD(open("program", O_WRONLY | O_TRUNC)));
}

static void set_mode(void) {
    TRY(chmod("program", 06755));
}

static void give_to_own_group(void) {
    TRY(chown("program", (uid_t)-1, getgid()));
}

/* The program with mode, then action by nobody, then with that mode again, action by me. */
static void act_twice(mode_t mode, const char *what, void (*action)(void)) {
    unlink("program");
    probe_make("program", "text");
    chmod("program", mode);
    probe_note("%s, by nobody", what);
    as_nobody(action);
    chmod("program", mode);
    probe_note("%s, by me", what);
    action();
    probe_stat("program");
}

/* Not among them: set-group-id without group execution. Kernels differ about it, and FUSE's side of the kernel keeps
 * the bit where file systems on disk take it away. */
static const mode_t set_id_modes[] = {06777, 04776, 02775 | S_IWOTH};

void probe_set_id(void) {
    static const struct {
        const char *what;
        void (*action)(void);
    } actions[] = {
        {"write", append_byte}, {"truncate", cut_byte},       {"ftruncate", cut_open_byte},
        {"chmod", set_mode},    {"chown", give_to_own_group},
    };
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        for (size_t m = 0; m < sizeof(set_id_modes) / sizeof(set_id_modes[0]); m++)
            act_twice(set_id_modes[m], actions[i].what, actions[i].action);
    chmod("program", 06755);
    TRY(chown("program", getuid(), getgid()));
    probe_stat("program");
    TRY(chmod(".", 0777 | S_ISGID));
    TRY(chown(".", getuid(), getgid()));
    probe_stat(".");
}

/* By me it is empty already. */
void probe_set_id_open(void) {
    for (size_t m = 0; m < sizeof(set_id_modes) / sizeof(set_id_modes[0]); m++)
        act_twice(set_id_modes[m], "open", open_truncating);
}

static void print_times(const char *path) {
    struct stat st;
    if (lstat(path, &st) < 0)
        return;
    probe_note("atime %lld.%09ld", (long long)st.st_atim.tv_sec, st.st_atim.tv_nsec);
    probe_note("mtime %lld.%09ld", (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
}

void probe_utimens(void) {
    probe_make("file", "x");
    TRY(symlink("file", "link"));
    const struct timespec both[] = {{.tv_sec = 1000000007, .tv_nsec = 123456789}, {.tv_sec = 7, .tv_nsec = 999999999}};
    TRY(utimensat(AT_FDCWD, "file", both, 0));
    print_times("file");
    const struct timespec only_mtime[] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 2000000011, .tv_nsec = 1}};
    TRY(utimensat(AT_FDCWD, "file", only_mtime, 0));
    print_times("file");
    const struct timespec only_atime[] = {{.tv_sec = 1234567891, .tv_nsec = 2}, {.tv_nsec = UTIME_OMIT}};
    TRY(utimensat(AT_FDCWD, "file", only_atime, 0));
    print_times("file");
    const struct timespec neither[] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_OMIT}};
    TRY(utimensat(AT_FDCWD, "file", neither, 0));
    print_times("file");
    const struct timespec before_1970[] = {{.tv_sec = -5, .tv_nsec = 500}, {.tv_sec = -1000003}};
    TRY(utimensat(AT_FDCWD, "file", before_1970, 0));
    print_times("file");
    const struct timespec wrong[] = {{.tv_sec = 5, .tv_nsec = 1000000000}, {.tv_sec = 5}};
    TRY(utimensat(AT_FDCWD, "file", wrong, 0));
    TRY(utimensat(AT_FDCWD, "link", both, AT_SYMLINK_NOFOLLOW));
    print_times("link");
    int fd = open("file", O_RDONLY);
    TRY(futimens(fd, both));
    close(fd);
    print_times("file");
    const struct timespec now[] = {{.tv_sec = 77, .tv_nsec = 5}, {.tv_nsec = UTIME_NOW}};
    TRY(utimensat(AT_FDCWD, "file", now, 0));
    struct stat st;
    if (stat("file", &st) == 0)
        probe_note("atime %lld.%09ld, mtime is now: %s", (long long)st.st_atim.tv_sec, st.st_atim.tv_nsec,
                   llabs((long long)(time(NULL) - st.st_mtim.tv_sec)) <= 2 ? "yes" : "no");
    TRY(utimensat(AT_FDCWD, "file", NULL, 0));
}

static int moved(const struct timespec *before, const struct timespec *after) {
    return before->tv_sec != after->tv_sec || before->tv_nsec != after->tv_nsec;
}

/* Prints which times of path the action moves. */
static void watch(const char *path, const char *what, void (*action)(void)) {
    struct stat before;
    struct stat after;
    if (lstat(path, &before) < 0)
        return;
    usleep(20000); /* longer than a tick of the clock that files are stamped with */
    action();
    if (lstat(path, &after) < 0)
        return;
    probe_note("%s moves of %s:%s%s%s", what, path, moved(&before.st_atim, &after.st_atim) ? " atime" : "",
               moved(&before.st_mtim, &after.st_mtim) ? " mtime" : "",
               moved(&before.st_ctim, &after.st_ctim) ? " ctime" : "");
}

#define ACTION(name, body)                                                                                             \
    static void name(void) {                                                                                           \
        body;                                                                                                          \
    }

static void with_file(int flags, void (*use)(int fd)) {
    int fd = open("file", flags);
    use(fd);
    close(fd);
}

static void use_write(int fd) {
    TRY(write(fd, "y", 1));
}

static void use_read(int fd) {
    TRY(read(fd, &(char){0}, 1));
}

static void use_ftruncate(int fd) {
    TRY(ftruncate(fd, 5000));
}

static void use_fallocate(int fd) {
    TRY(posix_fallocate(fd, 0, 10007));
}

ACTION(do_write, with_file(O_WRONLY, use_write))
ACTION(do_read, with_file(O_RDONLY, use_read))
ACTION(do_ftruncate, with_file(O_WRONLY, use_ftruncate))
ACTION(do_fallocate, with_file(O_RDWR, use_fallocate))
ACTION(do_open, close(open("file", O_RDONLY)))
ACTION(do_truncate_same, TRY(truncate("file", 10007)))
ACTION(do_chmod, TRY(chmod("file", 0640)))
ACTION(do_chown, TRY(chown("file", getuid(), getgid())))
ACTION(do_link, TRY(link("file", "directory/link")))
ACTION(do_unlink, TRY(unlink("directory/link")))
ACTION(do_create, close(TRY_FD(open("directory/new", O_CREAT | O_WRONLY, 0644))))
ACTION(do_rename, TRY(rename("directory/new", "directory/renamed")))
ACTION(do_mkdir, TRY(mkdir("directory/below", 0755)))
ACTION(do_rmdir, TRY(rmdir("directory/below")))
ACTION(do_symlink, TRY(symlink("x", "directory/symlink")))
ACTION(do_setxattr, TRY(setxattr("file", "user.x", "y", 1, 0)))
ACTION(do_removexattr, TRY(removexattr("file", "user.x")))
ACTION(do_utimens, TRY(utimensat(AT_FDCWD, "file", NULL, 0)))
ACTION(do_open_trunc, close(TRY_FD(open("file", O_WRONLY | O_TRUNC))))
ACTION(do_nothing, TRY(access("file", F_OK)))

void probe_times(void) {
    probe_make("file", "x");
    TRY(mkdir("directory", 0755));
    watch("file", "nothing", do_nothing);
    watch("file", "open", do_open);
    watch("file", "write", do_write);
    watch("file", "read", do_read);
    watch("file", "ftruncate", do_ftruncate);
    watch("file", "fallocate", do_fallocate);
    watch("file", "truncate to the same size", do_truncate_same);
    watch("file", "chmod", do_chmod);
    watch("file", "chown", do_chown);
    watch("file", "link", do_link);
    watch("file", "unlink", do_unlink);
    watch("directory", "link", do_link);
    watch("directory", "unlink", do_unlink);
    watch("directory", "create", do_create);
    watch("directory", "rename", do_rename);
    watch("directory", "mkdir", do_mkdir);
    watch("directory", "rmdir", do_rmdir);
    watch("directory", "symlink", do_symlink);
    watch("file", "setxattr", do_setxattr);
    watch("file", "removexattr", do_removexattr);
    watch("file", "utimens", do_utimens);
    watch("file", "open with O_TRUNC", do_open_trunc);
}

static void write_mapped(void) {
    int fd = TRY_FD(open("program", O_RDWR));
    char *map = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) {
        map[0] = 'm';
        TRY(msync(map, 4, MS_SYNC));
        munmap(map, 4);
    }
    close(fd);
}

static void use_mapping(int fd) {
    char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return;
    map[7] = 'm';
    TRY(msync(map, 4096, MS_SYNC));
    munmap(map, 4096);
}

ACTION(do_mapping, with_file(O_RDWR, use_mapping))

/* What mapped writes do to attributes. */
void probe_mmap_attributes(void) {
    probe_make("file", "x");
    watch("file", "a mapped write", do_mapping);
    for (size_t m = 0; m < sizeof(set_id_modes) / sizeof(set_id_modes[0]); m++)
        act_twice(set_id_modes[m], "mapped write", write_mapped);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The list, sorted, as file systems may give it in any order; without what security modules add. */
static void print_xattr_names(const char *path) {
    char list[4096];
    const char *names[64];
    size_t count = 0;
    ssize_t size = listxattr(path, list, sizeof(list));
    for (const char *name = list; size > 0 && name < list + size && count < 64; name += strlen(name) + 1)
        if (strcmp(name, "security.selinux") != 0)
            names[count++] = name;
    qsort(names, count, sizeof(names[0]), compare_names);
    for (size_t i = 0; i < count; i++) {
        char value[256];
        ssize_t length = getxattr(path, names[i], value, sizeof(value));
        probe_note("%s: %s = %.*s (%zd)", path, names[i], length > 0 ? (int)length : 0, value, length);
    }
}

static void user_attributes(void) {
    char value[64];
    TRY(setxattr("file", "user.one", "first", 5, 0));
    TRY(setxattr("file", "user.one", "again", 5, XATTR_CREATE));
    TRY(setxattr("file", "user.two", "none", 4, XATTR_REPLACE));
    TRY(setxattr("file", "user.one", "replaced", 8, XATTR_REPLACE));
    TRY(setxattr("file", "user.empty", "", 0, 0));
    TRY(getxattr("file", "user.one", NULL, 0));
    TRY(getxattr("file", "user.one", value, 3));
    TRY(getxattr("file", "user.one", value, sizeof(value)));
    TRY(getxattr("file", "user.empty", value, sizeof(value)));
    TRY(getxattr("file", "user.missing", value, sizeof(value)));
    TRY(getxattr("missing", "user.one", value, sizeof(value)));
    TRY(listxattr("file", NULL, 0) >= 20);
    TRY(listxattr("file", value, 3));
    TRY(removexattr("file", "user.missing"));
    print_xattr_names("file");
    TRY(removexattr("file", "user.one"));
    print_xattr_names("file");
    TRY(setxattr("file", "nonsense.x", "y", 1, 0));
    TRY(setxattr("file", "user.", "y", 1, 0));
    TRY(setxattr("file", "user.x", "y", 1, XATTR_CREATE | XATTR_REPLACE));
}

static void large_attributes(void) {
    static char large[70000];
    memset(large, 'v', sizeof(large));
    TRY(setxattr("file", "user.large", large, 1021, 0));
    TRY(getxattr("file", "user.large", large, sizeof(large)));
    TRY(setxattr("file", "user.huge", large, 65537, 0));
    char name[300] = "user.";
    memset(name + 5, 'n', 251);
    TRY(setxattr("file", name, "x", 1, 0));
    name[255] = '\0';
    TRY(setxattr("file", name, "x", 1, 0));
    TRY(getxattr("file", name, large, sizeof(large)));
}

void probe_xattr(void) {
    probe_make("file", "x");
    TRY(mkdir("directory", 0755));
    TRY(symlink("file", "link"));
    user_attributes();
    large_attributes();
    TRY(setxattr("directory", "user.d", "value", 5, 0));
    print_xattr_names("directory");
    TRY(lsetxattr("link", "user.x", "y", 1, 0));
    TRY(lsetxattr("link", "trusted.x", "yy", 2, 0));
    TRY(lgetxattr("link", "trusted.x", NULL, 0));
    TRY(setxattr("link", "user.through", "z", 1, 0));
    TRY(setxattr("file", "trusted.t", "trust", 5, 0));
    TRY(setxattr("file", "security.probe", "sec", 3, 0));
    /* struct vfs_cap_data: version 2, effective, CAP_NET_RAW permitted */
    static const unsigned char capability[20] = {1, 0, 0, 2, 0, 0x20};
    TRY(setxattr("file", "security.capability", capability, sizeof(capability), 0));
    TRY(getxattr("file", "security.capability", NULL, 0));
    int fd = open("file", O_WRONLY);
    TRY(write(fd, "z", 1)); /* takes the capability away */
    TRY(fsetxattr(fd, "user.f", "by fd", 5, 0));
    close(fd);
    TRY(getxattr("file", "security.capability", NULL, 0));
    TRY(mknod("fifo", S_IFIFO | 0644, 0));
    TRY(setxattr("fifo", "user.x", "y", 1, 0));
    print_xattr_names("file");
}

void probe_acl(void) {
    probe_make("file", "x");
    TRY(mkdir("directory", 0750));
    probe_shell("setfacl -m u:12:rw,g:13:r,m:rw file 2>&1");
    probe_shell("getfacl -nc file 2>&1");
    probe_stat("file");
    TRY(chmod("file", 0640));
    probe_shell("getfacl -nc file 2>&1");
    probe_shell("setfacl -d -m u:12:rwx,g:13:rx,o:- directory 2>&1");
    umask(077);
    probe_make("directory/file", "x");
    TRY(mkdir("directory/below", 0777));
    TRY(mknod("directory/fifo", S_IFIFO | 0666, 0));
    umask(0);
    close(TRY_FD(open("directory/open", O_CREAT | O_WRONLY, 0666)));
    umask(022);
    probe_shell("getfacl -nc directory directory/file directory/below directory/fifo directory/open 2>&1");
    TRY(symlink("x", "directory/symlink"));
    probe_stat("directory/symlink");
    probe_shell("setfacl -b file 2>&1 && getfacl -nc file 2>&1");
    probe_stat("file");
    probe_shell("setfacl -d -m u::rwx file 2>&1");
    TRY(getxattr("file", "system.posix_acl_default", NULL, 0));
    TRY(getxattr("directory", "system.posix_acl_default", NULL, 0));
    TRY(setxattr("file", "system.posix_acl_access", "broken", 6, 0));
}

void probe_statfs(void) {
    struct statvfs here;
    struct statvfs file;
    probe_make("file", "x");
    TRY(statvfs(".", &here));
    TRY(statvfs("file", &file));
    TRY(statvfs("missing", &file));
    probe_note("block %lu fragment %lu blocks %llu files %llu name %lu", here.f_bsize, here.f_frsize,
               (unsigned long long)here.f_blocks, (unsigned long long)here.f_files, here.f_namemax);
    probe_note("free blocks: %s, available: %s", here.f_bfree > 0 ? "yes" : "no", here.f_bavail > 0 ? "yes" : "no");
}

static void flip_nodump(const char *path) {
    unsigned flags = 0;
    int fd = open(path, O_RDONLY);
    TRY(ioctl(fd, FS_IOC_GETFLAGS, &flags));
    flags ^= FS_NODUMP_FL;
    TRY(ioctl(fd, FS_IOC_SETFLAGS, &flags));
    close(fd);
}

static void change_flags_of_file(void) {
    flip_nodump("file");
}

static void change_flags_of_directory(void) {
    flip_nodump("directory");
}

static void change_extended_flags(void) {
    struct fsxattr attributes = {0};
    int fd = open("file", O_RDONLY);
    TRY(ioctl(fd, FS_IOC_FSGETXATTR, &attributes));
    attributes.fsx_xflags ^= FS_XFLAG_NODUMP;
    TRY(ioctl(fd, FS_IOC_FSSETXATTR, &attributes));
    close(fd);
}

void probe_inode_flags(void) {
    probe_make("file", "x");
    TRY(mkdir("directory", 0755));
    watch("file", "changing flags", change_flags_of_file);
    watch("directory", "changing flags", change_flags_of_directory);
    watch("file", "changing extended flags", change_extended_flags);
    int fd = open("file", O_RDWR);
    int directory = open("directory", O_RDONLY);
    unsigned flags = 0;
    TRY(ioctl(fd, FS_IOC_GETFLAGS, &flags));
    unsigned noatime = flags | FS_NOATIME_FL | FS_NODUMP_FL;
    TRY(ioctl(fd, FS_IOC_SETFLAGS, &noatime));
    unsigned seen = 0;
    TRY(ioctl(fd, FS_IOC_GETFLAGS, &seen));
    probe_note("flags added: %#x", seen & ~flags);
    unsigned immutable = flags | FS_IMMUTABLE_FL;
    if (TRY(ioctl(fd, FS_IOC_SETFLAGS, &immutable)) == 0) {
        TRY(chmod("file", 0600));
        TRY(unlink("file"));
        TRY(open("file", O_WRONLY));
        TRY(ioctl(fd, FS_IOC_SETFLAGS, &flags));
    }
    TRY(ioctl(directory, FS_IOC_GETFLAGS, &flags));
    TRY(ioctl(fd, _IOR('?', 99, int), &seen));
    close(fd);
    close(directory);
}
