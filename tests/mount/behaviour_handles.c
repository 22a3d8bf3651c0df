/* File handles (name_to_handle_at): they lead to what they were taken of, also when nothing of it is in memory any
 * more, and never to anything else. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "behaviour.h"

enum { MANY = 2003 };

struct handle {
    struct file_handle head;
    unsigned char bytes[MAX_HANDLE_SZ];
};

static int take(const char *path, struct handle *handle) {
    int mount_id;
    handle->head.handle_bytes = MAX_HANDLE_SZ;
    return name_to_handle_at(AT_FDCWD, path, &handle->head, &mount_id, 0);
}

/* The handle may be used up to the file's own size only. */
static int open_it(struct handle *handle, int flags) {
    int here_fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = open_by_handle_at(here_fd, &handle->head, flags | O_CLOEXEC);
    int saved_errno = errno;
    close(here_fd);
    errno = saved_errno;
    return fd;
}

/* The kernel is asked to forget what nobody uses. */
static void evict(void) {
    int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
    sync();
    behaviour_must(write(fd, "2", 1) == 1, "drop what is cached");
    close(fd);
}

static void print_cwd(const char *root, int dir_fd) {
    char path[4096];
    if (fchdir(dir_fd) < 0 || !getcwd(path, sizeof(path)))
        probe_note("getcwd: %s", strerrorname_np(errno));
    else
        probe_note("getcwd: %s", strncmp(path, root, strlen(root)) == 0 ? path + strlen(root) : path);
    behaviour_must(chdir(root) == 0, "go back");
}

static const char *const names[] = {
    "file", "deep/er/directory", "deep/er/directory/file", "symlink", "fifo", "linked/second", "moved", "moved below"};
enum { COUNT = sizeof(names) / sizeof(names[0]), DIRECTORY = 1 };
static struct handle handles[COUNT];

static void make_names(int below_fd) {
    TRY(mkdir("deep", 0755));
    TRY(mkdir("deep/er", 0755));
    TRY(mkdir("deep/er/directory", 0755));
    TRY(mkdir("linked", 0755));
    TRY(symlink("file", "symlink"));
    TRY(mkfifo("fifo", 0644));
    static const char *const files[] = {"file", "deep/er/directory/file", "linked/first", "moved", "moved below"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        probe_make(files[i], files[i]);
    TRY(link("linked/first", "linked/second"));
    for (int i = 0; i < COUNT; i++)
        TRY(take(names[i], &handles[i]));
    TRY(unlink("linked/second"));
    TRY(rename("moved", "deep/er/moved"));
    TRY(renameat(below_fd, "moved below", below_fd, "deep/moved"));
}

static void open_all(const char *root) {
    char text[32];
    for (int i = 0; i < COUNT; i++) {
        probe_note("%s:", names[i]);
        int fd = TRY_FD(open_it(&handles[i], i == 3 || i == 4 ? O_PATH : O_RDONLY));
        if (fd < 0)
            continue;
        probe_fstat(fd);
        memset(text, 0, sizeof(text));
        TRY(read(fd, text, sizeof(text) - 1));
        probe_note("contents: %s", text);
        if (i == DIRECTORY) {
            behaviour_list("a directory by its handle", fd);
            print_cwd(root, fd);
        }
        close(fd);
    }
    int fd = TRY_FD(open_it(&handles[0], O_RDWR));
    behaviour_use_file("for writing", fd);
    close(fd);
}

/* A file that is gone is not found by its handle, whatever has got its number since. */
static void look_for_removed(int below_fd) {
    static const char *const removed[] = {"removed", "removed below"};
    struct handle of_removed[2];
    char name[32];
    for (int i = 0; i < 2; i++) {
        probe_make(removed[i], removed[i]);
        TRY(take(removed[i], &of_removed[i]));
        TRY(unlinkat(i ? below_fd : AT_FDCWD, removed[i], 0));
    }
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "new-%d", i);
        probe_make(name, "another");
    }
    evict();
    behaviour_settle();
    for (int i = 0; i < 2; i++)
        TRY_FD(open_it(&of_removed[i], O_RDONLY));
}

static void open_many(void) {
    static struct handle many[MANY];
    char name[32];
    int wrong = 0;
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "many-%d", i);
        probe_make(name, name);
        behaviour_must(take(name, &many[i]) == 0, "take a handle");
    }
    evict();
    for (int i = 0; i < MANY; i++) {
        char found[32] = "";
        snprintf(name, sizeof(name), "many-%d", i);
        int fd = open_it(&many[i], O_RDONLY);
        wrong += fd < 0 || read(fd, found, sizeof(found) - 1) < 0 || strcmp(found, name) != 0;
        close(fd);
    }
    probe_note("wrong: %d", wrong);
}

void behaviour_handles(void) {
    char root[4096];
    int below_fd = behaviour_below("handles");
    behaviour_must(getcwd(root, sizeof(root)) != NULL, "begin");
    make_names(below_fd);
    open_all(root);
    evict();
    behaviour_settle();
    open_all(root);
    open_many();
    look_for_removed(below_fd);
}

enum { KEPT = 20 };

/* In the file $KEPT are handles that were taken before a remount. */
static int open_kept(int flags) {
    const char *path = getenv("KEPT");
    int fd = open(path ? path : "kept", flags | O_CLOEXEC, 0600);
    behaviour_must(fd >= 0, "open $KEPT");
    return fd;
}

void behaviour_handles_kept(void) {
    struct handle handle;
    char name[32];
    int fd = open_kept(O_WRONLY | O_CREAT | O_TRUNC);
    for (int i = 0; i < KEPT; i++) {
        snprintf(name, sizeof(name), "kept-%d", i);
        probe_make(name, "kept");
        memset(&handle, 0, sizeof(handle));
        behaviour_must(take(name, &handle) == 0 && write(fd, &handle, sizeof(handle)) > 0, "keep a handle");
    }
    close(fd);
}

/* In a new mount, which knows other files. */
void behaviour_handles_old(void) {
    struct handle handle;
    struct stat st;
    char name[64];
    int fd = open_kept(O_RDONLY);
    for (int i = 0; i < 3 * KEPT; i++) {
        snprintf(name, sizeof(name), "other-%d", i);
        probe_make(name, "other");
    }
    while (read(fd, &handle, sizeof(handle)) == (ssize_t)sizeof(handle))
        close(TRY_FD(open_it(&handle, O_RDONLY)));
    behaviour_must(stat("other-0", &st) == 0, "look at a file");
    close(fd);
}
