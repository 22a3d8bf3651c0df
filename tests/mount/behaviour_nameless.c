/* Files that are made without a name (O_TMPFILE), used so, and named later or never. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "behaviour.h"

static const char *path_of(int fd) {
    static char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return path;
}

static int name_it(int fd, const char *name) {
    return linkat(AT_FDCWD, path_of(fd), AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Everything that is done with a descriptor. */
void behaviour_nameless(void) {
    char text[16] = "";
    int fd = TRY_FD(open(".", O_TMPFILE | O_RDWR, 0640));
    TRY(probe_fill(fd, 1 << 20, 131101));
    TRY(lseek(fd, 0, SEEK_DATA));
    TRY(lseek(fd, 0, SEEK_HOLE));
    TRY(setxattr(path_of(fd), "user.a", "value", 5, 0));
    TRY(fgetxattr(fd, "user.a", text, sizeof(text)));
    const struct timespec both[] = {{.tv_sec = 7}, {.tv_sec = -7}};
    TRY(futimens(fd, both));
    TRY(flock(fd, LOCK_EX | LOCK_NB));
    int again = TRY_FD(open(path_of(fd), O_RDONLY));
    TRY(flock(again, LOCK_EX | LOCK_NB));
    TRY(pread(again, text, 8, 1 << 20));
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    behaviour_must(memory != MAP_FAILED, "map a file");
    memcpy(memory, "mapped", 6); /* NOLINT(bugprone-not-null-terminated-result): a file's contents */
    TRY(msync(memory, 4096, MS_SYNC));
    TRY(pread(again, text, 8, 0));
    probe_note("read back: %s", text);
    munmap(memory, 4096);
    close(TRY_FD(open(path_of(fd), O_WRONLY | O_TRUNC)));
    probe_fstat(fd);
    TRY(fallocate(fd, 0, 0, 70001));
    behaviour_use_file("nameless", fd);
    close(again);
    close(fd);
    behaviour_list("names", AT_FDCWD);
}

/* Every second of many gets a name. */
void behaviour_nameless_many(void) {
    enum { COUNT = 211 };
    int fds[COUNT];
    char name[16];
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) {
        fds[i] = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0644);
        behaviour_must(fds[i] >= 0 && write(fds[i], &i, sizeof(i)) == (ssize_t)sizeof(i), "make a file without a name");
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "%d", i);
        behaviour_must(i % 2 == 0 || name_it(fds[i], name) == 0, "name it");
        close(fds[i]);
    }
    for (int i = 0; i < COUNT; i++) {
        int found = -1;
        snprintf(name, sizeof(name), "%d", i);
        int fd = open(name, O_RDONLY | O_CLOEXEC);
        wrong += i % 2 ? read(fd, &found, sizeof(found)) != (ssize_t)sizeof(found) || found != i : fd >= 0;
        close(fd);
        unlink(name);
    }
    probe_note("wrong: %d", wrong);
}

/* Names: elsewhere than where it was made, a second one, none after the last is gone. */
void behaviour_nameless_named(void) {
    TRY(mkdir("directory", 0755));
    TRY(mkdir("gone", 0755));
    int fd = TRY_FD(open("gone", O_TMPFILE | O_RDWR, 0600));
    TRY(rmdir("gone"));
    TRY(write(fd, "contents", 8));
    TRY(name_it(fd, "directory/a"));
    TRY(name_it(fd, "b"));
    TRY(name_it(fd, "b"));
    probe_fstat(fd);
    TRY(rename("directory/a", "c"));
    TRY(unlink("b"));
    probe_content("c");
    TRY(unlink("c"));
    TRY(name_it(fd, "late"));
    behaviour_use_file("its names are gone", fd);
    close(fd);
    TRY(rmdir("directory"));
    behaviour_list("names", AT_FDCWD);
}
