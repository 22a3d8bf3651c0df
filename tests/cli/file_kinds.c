/* Makes known numbers of calls on files of each kind, for the layer user.
 *
 *     file_kinds KIND        KIND: a row of the table below; 7 times fstat(2) or, of names, stat(2)
 *     file_kinds names NAME  11 times stat(2) of a name, which need not exist
 *     file_kinds at DIR NAME the same relative to a descriptor of a directory
 *     file_kinds open NAME   7 times fstat(2) of a file of that name
 *     file_kinds fd NUMBER   7 times fstat(2) of a descriptor that was inherited
 *
 * Exit status 0: all that it saw itself was as it should be; 77: the kernel has no such files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checked_calls.h"

#define SKIPPED 77

static void look_often(int fd) {
    struct stat attr;
    for (int i = 0; i < 7; i++)
        CHECK(fstat(fd, &attr) == 0);
}

static void look_at_name(const char *name, int flags) {
    const int fd = open(name, flags, 0600);
    CHECK(fd >= 0);
    look_often(fd);
}

static void regular(void) {
    look_at_name("regular", O_RDWR | O_CREAT);
}

static void directory(void) {
    look_at_name(".", O_RDONLY | O_DIRECTORY);
}

static void link_itself(void) {
    CHECK(symlink("nowhere", "link") == 0);
    look_at_name("link", O_PATH | O_NOFOLLOW);
}

static void path_only(void) {
    CHECK(mknod("path", S_IFREG | 0600, 0) == 0);
    look_at_name("path", O_PATH);
}

static void deleted(void) {
    const int fd = open("deleted", O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && unlink("deleted") == 0);
    look_often(fd);
}

static void nameless(void) {
    const int fd = open(".", O_RDWR | O_TMPFILE, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
        exit(SKIPPED);
    look_often(fd);
}

/* The current directory, of which no path is known. */
static void gone(void) {
    struct stat attr;
    const int parent_fd = open(".", O_RDONLY | O_DIRECTORY);
    CHECK(mkdir("gone", 0700) == 0 && chdir("gone") == 0 && unlinkat(parent_fd, "gone", AT_REMOVEDIR) == 0);
    for (int i = 0; i < 7; i++)
        CHECK(stat("none", &attr) == -1 && errno == ENOENT);
}

static void copied(void) {
    const int fd = open("regular", O_RDWR | O_CREAT, 0600);
    const int null_fd = open("/dev/null", O_RDWR);
    CHECK(fd >= 0 && null_fd >= 0 && dup2(fd, null_fd) == null_fd);
    look_often(null_fd);
}

static void copied_over(void) {
    const int fd = open("regular", O_RDWR | O_CREAT, 0600);
    const int null_fd = open("/dev/null", O_RDWR);
    CHECK(fd >= 0 && null_fd >= 0 && dup2(null_fd, fd) == fd);
    look_often(fd);
}

static void fifo(void) {
    CHECK(mkfifo("fifo", 0600) == 0);
    look_at_name("fifo", O_RDWR);
}

static void a_pipe(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    look_often(ends[0]);
}

static void a_socket(void) {
    look_often(socket(AF_UNIX, SOCK_STREAM, 0));
}

static void terminal(void) {
    const int fd = posix_openpt(O_RDWR | O_NOCTTY);
    CHECK(fd >= 0);
    look_often(fd);
}

static void look_at_memory(unsigned flags) {
    const int fd = memfd_create("memory", flags);
    if (fd < 0)
        exit(SKIPPED);
    look_often(fd);
}

static void memory(void) {
    look_at_memory(0);
}

static void huge_memory(void) {
    look_at_memory(MFD_HUGETLB);
}

static void event(void) {
    look_often(eventfd(0, 0));
}

static void memory_for_child(void) {
    const int fd = memfd_create("memory", 0);
    if (fd < 0)
        exit(SKIPPED);
    CHECK(dup2(fd, 9) == 9);
    execl("/proc/self/exe", "file_kinds", "fd", "9", (char *)NULL);
}

static void shared_memory(void) {
    char name[64];
    snprintf(name, sizeof(name), "/osprof-test-%ld", (long)getpid());
    const int fd = shm_open(name, O_RDWR | O_CREAT, 0600);
    if (fd < 0)
        exit(SKIPPED);
    shm_unlink(name);
    look_often(fd);
}

static void look_at_names(const char *name) {
    struct stat attr;
    for (int i = 0; i < 11; i++)
        stat(name, &attr);
}

static void look_at_file(const char *name) {
    look_at_name(name, O_RDONLY);
}

static void look_at_number(const char *fd) {
    look_often(atoi(fd));
}

static void look_in_directory(const char *directory, const char *name) {
    struct stat attr;
    const int fd = open(directory, O_RDONLY | O_DIRECTORY);
    CHECK(fd >= 0);
    for (int i = 0; i < 11; i++)
        fstatat(fd, name, &attr, 0);
}

int main(int argc, char **argv) {
    static const struct calls_row rows[] = {
        {"regular", regular},
        {"directory", directory},
        {"link", link_itself},
        {"path", path_only},
        {"deleted", deleted},
        {"nameless", nameless},
        {"gone", gone},
        {"copied", copied},
        {"copied_over", copied_over},
        {"fifo", fifo},
        {"pipe", a_pipe},
        {"socket", a_socket},
        {"terminal", terminal},
        {"event", event},
        {"memory", memory},
        {"huge_memory", huge_memory},
        {"memory_for_child", memory_for_child},
        {"shared_memory", shared_memory},
    };
    static const struct {
        const char *name;
        void (*look)(const char *argument);
    } with_argument[] = {
        {"names", look_at_names},
        {"open", look_at_file},
        {"fd", look_at_number},
    };
    if (argc == 4 && strcmp(argv[1], "at") == 0)
        look_in_directory(argv[2], argv[3]);
    else if (argc == 3)
        ROW_NAMED(with_argument, argv[1])->look(argv[2]);
    else
        ROW_NAMED(rows, argv[1])->make();
    return 0;
}
