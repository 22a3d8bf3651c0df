/* Paths as text. */
#include <fcntl.h>

#include "base.h"
#include "path.h"
#include "testing.h"

static const struct {
    const char *path;
    const char *normal;
} paths[] = {
    {"/", "/"},
    {"//", "/"},
    {"/mnt", "/mnt"},
    {"/mnt/", "/mnt"},
    {"/mnt//a/./b/", "/mnt/a/b"},
    {"/mnt/../srv", "/srv"},
    {"/../..", "/"},
    {"/a/b/../../c", "/c"},
    {"/a/.../b", "/a/.../b"},
    {"/a/..b", "/a/..b"},
};

TEST(absolute_paths_lose_what_says_nothing, .to = ARRAY_SIZE(paths)) {
    CLEANUP_FREE char *normal = path_normalise(paths[_i].path);
    ck_assert_str_eq(normal, paths[_i].normal);
}

TEST(relative_paths_begin_in_the_current_directory) {
    ck_assert_int_eq(chdir("/usr"), 0);
    CLEANUP_FREE char *here = path_normalise(".");
    CLEANUP_FREE char *below = path_normalise("a/b");
    CLEANUP_FREE char *above = path_normalise("../b/");
    CLEANUP_FREE char *nothing = path_normalise("");
    ck_assert_str_eq(here, "/usr");
    ck_assert_str_eq(below, "/usr/a/b");
    ck_assert_str_eq(above, "/b");
    ck_assert_str_eq(nothing, "/usr");
}

TEST(joining_at_the_root_gives_one_slash) {
    CLEANUP_FREE char *at_root = path_join("/", "a");
    CLEANUP_FREE char *below = path_join("/mnt", "a");
    ck_assert_str_eq(at_root, "/a");
    ck_assert_str_eq(below, "/mnt/a");
}

TEST(open_directory_has_its_path) {
    char path[PATH_MAX];
    CLEANUP_FD int fd = open("/proc/self/../self/task/..", O_PATH | O_CLOEXEC);
    CLEANUP_FREE char *expected = NULL;
    ck_assert_int_ge(asprintf(&expected, "/proc/%d", getpid()), 0);
    ck_assert_int_eq(path_of_open(fd, path), 0);
    ck_assert_str_eq(path, expected);
    ck_assert_int_eq(path_of_open(-1, path), -ENOENT);
}
