/* Probes: names: rename, link, symlink, mknod, and how long they may be. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "posix_probe.h"

static void plain_renames(void) {
    probe_make("a", "a");
    probe_make("b", "bb");
    TRY(mkdir("full", 0755));
    TRY(mkdir("full/inside", 0755));
    TRY(mkdir("empty", 0755));
    TRY(rename("a", "c"));
    TRY(rename("c", "b"));
    probe_content("b");
    TRY(rename("missing", "x"));
    TRY(rename("b", "missing/b"));
    TRY(rename("b", "empty"));
    TRY(rename("empty", "b"));
    TRY(rename("empty", "full"));
    TRY(rename("full", "empty"));
    TRY(rename("empty", "empty/below"));
    TRY(rename("empty/inside", "."));
    TRY(rename("b", "empty/inside/b"));
    TRY(rename("empty/inside", "moved"));
    probe_stat("empty");
    probe_stat("moved");
    probe_content("moved/b");
    TRY(rename("moved/b", "moved/b"));
    TRY(rename("moved/b/", "x"));
    TRY(rename("moved/", "moved again/"));
    TRY(link("moved again/b", "same"));
    TRY(rename("same", "moved again/b")); /* both stay: they are one file */
    probe_stat("same");
}

static void renames_with_flags(void) {
    probe_make("one", "1");
    probe_make("two", "22");
    TRY(mkdir("directory", 0755));
    TRY(renameat2(AT_FDCWD, "one", AT_FDCWD, "two", RENAME_NOREPLACE));
    TRY(renameat2(AT_FDCWD, "one", AT_FDCWD, "three", RENAME_NOREPLACE));
    TRY(renameat2(AT_FDCWD, "three", AT_FDCWD, "two", RENAME_EXCHANGE));
    probe_content("three");
    probe_content("two");
    TRY(renameat2(AT_FDCWD, "three", AT_FDCWD, "directory", RENAME_EXCHANGE));
    probe_stat("three");
    probe_stat("directory");
    TRY(renameat2(AT_FDCWD, "three", AT_FDCWD, "missing", RENAME_EXCHANGE));
    TRY(renameat2(AT_FDCWD, "two", AT_FDCWD, "three", RENAME_EXCHANGE | RENAME_NOREPLACE));
    TRY(renameat2(AT_FDCWD, "two", AT_FDCWD, "moved", RENAME_WHITEOUT));
    probe_stat("two");
    probe_stat("moved");
    TRY(renameat2(AT_FDCWD, "moved", AT_FDCWD, "x", 1U << 20));
    TRY(renameat2(AT_FDCWD, "missing", AT_FDCWD, "x", RENAME_NOREPLACE));
}

void probe_rename(void) {
    plain_renames();
    renames_with_flags();
}

void probe_link(void) {
    probe_make("first", "contents");
    TRY(mkdir("directory", 0755));
    TRY(link("first", "second"));
    TRY(link("second", "directory/third"));
    TRY(link("first", "second"));
    TRY(link("directory", "x"));
    TRY(link("missing", "x"));
    TRY(link("first", "missing/x"));
    probe_stat("first");
    struct stat a;
    struct stat b;
    if (stat("first", &a) == 0 && stat("directory/third", &b) == 0)
        probe_note("one inode: %s", a.st_ino == b.st_ino && a.st_dev == b.st_dev ? "yes" : "no");
    TRY(chmod("second", 0600));
    probe_stat("directory/third");
    TRY(unlink("first"));
    probe_stat("second");
    TRY(symlink("second", "symbolic"));
    TRY(linkat(AT_FDCWD, "symbolic", AT_FDCWD, "hard link to it", 0));
    TRY(linkat(AT_FDCWD, "symbolic", AT_FDCWD, "followed", AT_SYMLINK_FOLLOW));
    probe_stat("hard link to it");
    probe_stat("followed");
    TRY(unlink("directory"));
    TRY(rmdir("directory"));
    TRY(rmdir("second"));
    TRY(unlink("missing"));
    TRY(rmdir("missing"));
    TRY(rmdir("."));
    TRY(rmdir("directory/.."));
    TRY(unlinkat(AT_FDCWD, "directory/third", AT_REMOVEDIR));
    TRY(unlink("directory/third"));
    TRY(rmdir("directory"));
    TRY(mkdir("second", 0755));
    TRY(mkdir("missing/x", 0755));
    TRY(mkdir("sticky", 01777));
    probe_stat("sticky");
}

static void print_target(const char *path, size_t size) {
    char target[PATH_MAX + 1] = "";
    ssize_t length = readlink(path, target, size);
    probe_note("%s -> %zd %.40s", path, length, length < 0 ? strerrorname_np(errno) : target);
}

void probe_symlink(void) {
    char target[PATH_MAX + 1];
    memset(target, 't', sizeof(target));
    target[PATH_MAX] = '\0';
    TRY(symlink(target, "too long"));
    target[PATH_MAX - 1] = '\0';
    TRY(symlink(target, "longest"));
    target[61] = '\0';
    TRY(symlink(target, "short enough for the inode"));
    TRY(symlink("", "empty"));
    TRY(symlink("nowhere", "dangling"));
    TRY(symlink("dangling", "second step"));
    TRY(symlink("loop b", "loop a"));
    TRY(symlink("loop a", "loop b"));
    TRY(symlink("../..", "up"));
    print_target("longest", PATH_MAX);
    print_target("longest", 17);
    print_target("short enough for the inode", PATH_MAX);
    print_target("dangling", PATH_MAX);
    print_target("missing", PATH_MAX);
    print_target(".", PATH_MAX);
    probe_stat("dangling");
    TRY(stat("dangling", &(struct stat){0}));
    TRY(stat("loop a", &(struct stat){0}));
    TRY(open("dangling", O_RDONLY));
    close(TRY_FD(open("second step", O_WRONLY | O_CREAT, 0644)));
    probe_stat("nowhere");
    TRY(symlink("x", "dangling"));
    TRY(mkdir("dangling", 0755));
    TRY(stat("up/.", &(struct stat){0}));
    TRY(unlink("longest"));
    TRY(lchown("dangling", getuid(), getgid()));
    TRY(fchmodat(AT_FDCWD, "dangling", 0600, AT_SYMLINK_NOFOLLOW));
}

/* Two processes talk through the fifo; the reader's word is what counts. */
static void use_fifo(const char *path) {
    pid_t child = fork();
    if (child == 0) {
        int fd = open(path, O_WRONLY);
        _exit(write(fd, "through", 7) == 7 ? 0 : 1);
    }
    char text[16] = "";
    int fd = TRY_FD(open(path, O_RDONLY));
    TRY(read(fd, text, sizeof(text) - 1));
    probe_note("fifo says: %s", text);
    int status = -1;
    waitpid(child, &status, 0);
    probe_note("writer: %d", status);
    close(fd);
}

static void use_socket(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "bound socket"};
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    int client = socket(AF_UNIX, SOCK_STREAM, 0);
    TRY(bind(server, (struct sockaddr *)&address, sizeof(address)));
    TRY(listen(server, 1));
    TRY(connect(client, (struct sockaddr *)&address, sizeof(address)));
    probe_stat("bound socket");
    close(server);
    close(client);
}

void probe_mknod(void) {
    TRY(mknod("regular", S_IFREG | 0640, 0));
    TRY(mknod("fifo", S_IFIFO | 0666, 0));
    TRY(mknod("socket", S_IFSOCK | 0600, 0));
    TRY(mknod("null", S_IFCHR | 0666, makedev(1, 3)));
    TRY(mknod("loop", S_IFBLK | 0600, makedev(7, 299)));
    TRY(mknod("large numbers", S_IFCHR | 0600, makedev(4000, 1000000)));
    TRY(mknod("directory", S_IFDIR | 0755, 0));
    TRY(mknod("fifo", S_IFREG | 0644, 0));
    const char *const names[] = {"regular", "fifo", "socket", "null", "loop", "large numbers"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        probe_stat(names[i]);
    TRY(open("socket", O_RDWR));
    TRY(open("loop", O_RDONLY));
    TRY(open("fifo", O_WRONLY | O_NONBLOCK));
    int fd = TRY_FD(open("null", O_RDWR));
    TRY(write(fd, "x", 1));
    TRY(read(fd, &(char){0}, 1));
    close(fd);
    use_fifo("fifo");
    use_socket();
    TRY(unlink("fifo"));
    TRY(unlink("null"));
}

static void one_name(void) {
    char name[300];
    memset(name, 'n', sizeof(name));
    name[256] = '\0';
    TRY(mkdir(name, 0755));
    TRY(open(name, O_CREAT | O_WRONLY, 0644));
    TRY(stat(name, &(struct stat){0}));
    name[255] = '\0';
    close(TRY_FD(open(name, O_CREAT | O_WRONLY, 0644)));
    TRY(rename(name, "short"));
    TRY(rename("short", name));
    TRY(symlink(name, "to the long name"));
    TRY(stat("to the long name", &(struct stat){0}));
    TRY(unlink(name));
    close(TRY_FD(open("odd \n\t\\ \xff\xfe name", O_CREAT | O_WRONLY, 0644)));
    TRY(access("odd \n\t\\ \xff\xfe name", F_OK));
}

/* Far deeper than one path can say: 67 * 201 bytes. */
static void deep_path(void) {
    enum { DEPTH = 67 };
    char name[201];
    memset(name, 'd', sizeof(name) - 1);
    name[200] = '\0';
    int failed = 0;
    for (int depth = 0; depth < DEPTH; depth++)
        failed += mkdir(name, 0755) != 0 || chdir(name) != 0;
    probe_note("levels failed: %d", failed);
    probe_make("bottom", "deep");
    probe_content("bottom");
    TRY(rename("bottom", "../bottom"));
    probe_content("../bottom");
    for (int depth = 0; depth < DEPTH; depth++)
        failed += chdir("..") != 0;
    probe_note("levels failed, up too: %d", failed);
    probe_stat(name);
}

void probe_long_names(void) {
    one_name();
    deep_path();
    TRY(mkdir("x", 0755));
    struct stat here;
    struct stat same;
    if (stat(".", &here) == 0 && stat("x/../x/./..", &same) == 0)
        probe_note("x/../x/./.. is here: %s", here.st_ino == same.st_ino ? "yes" : "no");
}
