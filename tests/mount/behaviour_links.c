/* Several names of one file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "behaviour.h"

static void print_links(const char *path) {
    struct stat st;
    if (lstat(path, &st) < 0)
        probe_note("%s: %s", path, strerrorname_np(errno));
    else
        probe_note("%s: %lu links", path, (unsigned long)st.st_nlink);
}

/* In three directories, made alternately here and below. */
void behaviour_link_many(void) {
    enum { COUNT = 1009 };
    int below_fd = behaviour_below("link_many");
    char name[32];
    probe_make("file", "contents");
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "%d", i);
        behaviour_must(mkdir(name, 0755) == 0, "make a directory");
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "%d/%d", i % 3, i);
        int result = i % 2 ? linkat(below_fd, "file", below_fd, name, 0) : link("file", name);
        behaviour_must(result == 0, "make a link");
    }
    behaviour_settle();
    print_links("file");
    print_links("2/2");
    TRY(unlink("file"));
    for (int i = 0; i < COUNT - 1; i++) {
        snprintf(name, sizeof(name), "%d/%d", i % 3, i);
        behaviour_must((i % 2 ? unlink(name) : unlinkat(below_fd, name, 0)) == 0, "remove a link");
    }
    behaviour_settle();
    snprintf(name, sizeof(name), "%d/%d", (COUNT - 1) % 3, COUNT - 1);
    print_links(name);
    probe_content(name);
    close(below_fd);
}

static void use_name(const char *path) {
    char value[16] = "";
    int fd = TRY_FD(open(path, O_RDWR));
    if (fd >= 0) {
        behaviour_use_file(path, fd);
        close(fd);
    }
    TRY(chmod(path, 0640));
    TRY(truncate(path, 7));
    TRY(setxattr(path, "user.a", "value", 5, 0));
    TRY(getxattr(path, "user.a", value, sizeof(value)));
    TRY(access(path, R_OK));
    probe_stat(path);
    probe_content(path);
}

/* The name by which the file was found is removed or replaced, here and below: the others go on. */
void behaviour_link_found(void) {
    int below_fd = behaviour_below("link_found");
    static const char *const firsts[] = {"removed", "removed below", "replaced", "replaced below", "moved below"};
    static const char *const others[] = {"a", "b", "c", "d", "e"};
    int fds[5];
    for (int i = 0; i < 5; i++) {
        probe_make(firsts[i], firsts[i]);
        fds[i] = open(firsts[i], O_RDWR | O_CLOEXEC);
        behaviour_must(linkat(below_fd, firsts[i], below_fd, others[i], 0) == 0, "make a link");
    }
    probe_make("new", "new");
    probe_make("newer", "newer");
    TRY(unlink(firsts[0]));
    TRY(unlinkat(below_fd, firsts[1], 0));
    TRY(rename("new", firsts[2]));
    TRY(renameat(below_fd, "newer", below_fd, firsts[3]));
    TRY(renameat(below_fd, firsts[4], below_fd, "moved"));
    behaviour_settle();
    for (int i = 0; i < 5; i++) {
        use_name(others[i]);
        behaviour_use_file(firsts[i], fds[i]);
        probe_stat(firsts[i]);
        close(fds[i]);
    }
    use_name("moved");
    behaviour_list("names", AT_FDCWD);
    close(below_fd);
}

static char *map(int fd) {
    char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    behaviour_must(memory != MAP_FAILED, "map a file");
    return memory;
}

/* Two names, one file: data, mappings, locks, and renaming one to the other. */
void behaviour_link_shared(void) {
    char text[8] = "";
    probe_make("a", "first contents");
    TRY(link("a", "b"));
    int a_fd = TRY_FD(open("a", O_RDWR));
    int b_fd = TRY_FD(open("b", O_RDWR));
    TRY(pwrite(a_fd, "second", 6, 0));
    TRY(pread(b_fd, text, 6, 0));
    probe_note("by the other name: %s", text);
    char *a = map(a_fd);
    char *b = map(b_fd);
    memcpy(a, "third ", 6); /* NOLINT(bugprone-not-null-terminated-result): a file's contents */
    probe_note("by the other mapping: %.6s", b);
    TRY(flock(a_fd, LOCK_EX | LOCK_NB));
    TRY(flock(b_fd, LOCK_EX | LOCK_NB));
    TRY(rename("a", "b"));
    print_links("a");
    TRY(unlink("a"));
    print_links("b");
    probe_fstat(a_fd);
    TRY(linkat(AT_FDCWD, "b", AT_FDCWD, "c", 0));
    TRY(unlink("b"));
    TRY(unlink("c"));
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", a_fd);
    TRY(linkat(AT_FDCWD, path, AT_FDCWD, "again", AT_SYMLINK_FOLLOW));
    behaviour_use_file("without a name", b_fd);
    munmap(a, 4096);
    munmap(b, 4096);
    close(a_fd);
    close(b_fd);
}

/* Nearly as many links as the file system allows are there, in the directory of $LINKED. */
void behaviour_link_full(void) {
    const char *linked = getenv("LINKED");
    char name[64];
    int made = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "%d", i);
        if (link(linked ? linked : "missing", name) < 0) {
            probe_note("link %d: %s", i, strerrorname_np(errno));
            break;
        }
        made++;
    }
    TRY(unlink("0"));
    TRY(link(linked ? linked : "missing", "0"));
    TRY(link(linked ? linked : "missing", "one more"));
    for (int i = 0; i < made; i++) {
        snprintf(name, sizeof(name), "%d", i);
        unlink(name);
    }
}
