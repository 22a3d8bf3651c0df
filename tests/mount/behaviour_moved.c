/* Names that are moved below while they are in use: what was opened goes on, a working directory too, and names are
 * where they are below. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "behaviour.h"

static void make_tree(void) {
    TRY(mkdir("a", 0755));
    TRY(mkdir("a/sub", 0755));
    TRY(mkdir("a/sub/deeper", 0755));
    TRY(mkdir("c", 0755));
    probe_make("a/file", "a/file");
    probe_make("a/sub/inner", "a/sub/inner");
    probe_make("a/sub/deeper/last", "last");
    probe_make("x", "x");
    probe_make("y", "y");
    probe_make("old", "old");
    probe_make("new", "new");
}

static void move_below(int below_fd) {
    TRY(renameat(below_fd, "a", below_fd, "b"));
    TRY(renameat(below_fd, "b/file", below_fd, "b/moved"));
    TRY(renameat(below_fd, "b/sub", below_fd, "c/sub2"));
    TRY(renameat2(below_fd, "x", below_fd, "y", RENAME_EXCHANGE));
    TRY(renameat(below_fd, "new", below_fd, "old"));
}

/* How the working directory is called, from the directory of the topic on; it was found by another name. */
static void print_cwd(const char *root) {
    char path[4096];
    size_t length = strlen(root);
    if (!getcwd(path, sizeof(path)))
        probe_note("getcwd: %s", strerrorname_np(errno));
    else
        probe_note("getcwd: %s", strncmp(path, root, length) == 0 ? path + length : path);
}

static void work_in_moved(const char *root) {
    struct stat st;
    char path[4200];
    probe_stat("inner");
    probe_content("inner");
    probe_content("deeper/last");
    behaviour_list("the working directory", AT_FDCWD);
    probe_make("made", "made");
    TRY(mkdir("deeper/made", 0755));
    TRY(rename("made", "deeper/renamed"));
    TRY(unlink("deeper/renamed"));
    TRY(rmdir("deeper/made"));
    TRY(chmod(".", 0750));
    TRY(stat(".", &st));
    TRY(stat(root, &st));
    snprintf(path, sizeof(path), "%s/c/sub2/inner", root);
    TRY(stat(path, &st)); /* until now it was known by its old name */
    print_cwd(root);
    behaviour_list("the parent", open("..", O_RDONLY | O_DIRECTORY));
    TRY(chdir(".."));
    print_cwd(root);
    TRY(chdir(".."));
    print_cwd(root);
}

/* Where ".." leads from a directory that was moved below, before and after it is looked up where it is now. */
void behaviour_moved_parent(void) {
    char root[4096];
    char path[4200];
    int below_fd = behaviour_below("moved_parent");
    behaviour_must(getcwd(root, sizeof(root)) != NULL, "begin");
    TRY(mkdir("a", 0755));
    TRY(mkdir("a/sub", 0755));
    TRY(mkdir("c", 0755));
    TRY(chdir("a/sub"));
    TRY(renameat(below_fd, "a/sub", below_fd, "c/moved"));
    behaviour_settle();
    behaviour_list("the parent", open("..", O_RDONLY | O_DIRECTORY));
    print_cwd(root);
    snprintf(path, sizeof(path), "%s/c/moved", root);
    TRY(access(path, F_OK));
    behaviour_list("the parent", open("..", O_RDONLY | O_DIRECTORY));
    print_cwd(root);
}

/* A process whose working directory is moved. Returns the end of a pipe: closing it lets the process look. */
static int start_worker(pid_t *ret_pid) {
    char root[4096];
    int ends[2] = {-1, -1};
    behaviour_must(getcwd(root, sizeof(root)) != NULL && pipe(ends) == 0, "begin");
    behaviour_must(chdir("a/sub") == 0, "go to a/sub");
    fflush(stdout);
    *ret_pid = fork();
    if (*ret_pid == 0) {
        char byte;
        close(ends[1]);
        while (read(ends[0], &byte, 1) > 0)
            ;
        work_in_moved(root);
        exit(0);
    }
    behaviour_must(chdir(root) == 0, "go back");
    close(ends[0]);
    return ends[1];
}

static void use_directory(int dir_fd) {
    probe_fstat(dir_fd);
    behaviour_list("a directory that was open", dir_fd);
    int fd = TRY_FD(openat(dir_fd, "moved", O_RDONLY));
    close(fd);
    TRY(openat(dir_fd, "file", O_RDONLY));
    TRY(openat(dir_fd, "sub", O_RDONLY));
    TRY(mkdirat(dir_fd, "made", 0755));
    TRY(renameat(dir_fd, "moved", dir_fd, "made/file"));
    TRY(renameat(dir_fd, "made/file", dir_fd, "moved"));
    TRY(unlinkat(dir_fd, "made", AT_REMOVEDIR));
}

void behaviour_moved_below(void) {
    static const char *const names[] = {"a", "a/file", "a/sub/inner", "b",   "b/moved", "b/sub", "c/sub2/inner",
                                        "c", "x",      "y",           "old", "new"};
    pid_t worker;
    int status;
    int below_fd = behaviour_below("moved_below");
    make_tree();
    int file_fd = TRY_FD(open("a/file", O_RDWR));
    int x_fd = TRY_FD(open("x", O_RDWR));
    int old_fd = TRY_FD(open("old", O_RDWR));
    int dir_fd = TRY_FD(open("a", O_RDONLY | O_DIRECTORY));
    int path_fd = TRY_FD(open("a/sub", O_PATH));
    int go_fd = start_worker(&worker);
    move_below(below_fd);
    behaviour_settle();
    close(go_fd);
    waitpid(worker, &status, 0);
    probe_note("the process in a moved directory ended with %d", status);
    behaviour_use_file("a/file", file_fd);
    behaviour_use_file("x", x_fd);
    behaviour_use_file("old", old_fd);
    use_directory(dir_fd);
    TRY(faccessat(path_fd, "inner", R_OK, 0));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        probe_stat(names[i]);
    probe_content("x");
    probe_content("y");
    probe_content("old");
    TRY(rename("c/sub2", "back"));
    TRY(unlink("back/inner"));
    behaviour_list("names", AT_FDCWD);
}
