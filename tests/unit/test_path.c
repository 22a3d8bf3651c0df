/* Paths as text. */
#include <check.h>
#include <fcntl.h>

#include "base.h"
#include "path.h"
#include "run_suite.h"

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

START_TEST(absolute_paths_lose_what_says_nothing) {
    CLEANUP_FREE char *normal = path_normalise(paths[_i].path);
    ck_assert_str_eq(normal, paths[_i].normal);
}
END_TEST

START_TEST(relative_paths_begin_in_the_current_directory) {
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
END_TEST

START_TEST(joining_at_the_root_gives_one_slash) {
    CLEANUP_FREE char *at_root = path_join("/", "a");
    CLEANUP_FREE char *below = path_join("/mnt", "a");
    ck_assert_str_eq(at_root, "/a");
    ck_assert_str_eq(below, "/mnt/a");
}
END_TEST

START_TEST(open_directory_has_its_path) {
    char path[PATH_MAX];
    CLEANUP_FD int fd = open("/proc/self/../self/task/..", O_PATH | O_CLOEXEC);
    CLEANUP_FREE char *expected = NULL;
    ck_assert_int_ge(asprintf(&expected, "/proc/%d", getpid()), 0);
    ck_assert_int_eq(path_of_open(fd, path), 0);
    ck_assert_str_eq(path, expected);
    ck_assert_int_eq(path_of_open(-1, path), -ENOENT);
}
END_TEST

static Suite *path_suite(void) {
    Suite *suite = suite_create("path");
    TCase *text = tcase_create("text");
    tcase_add_loop_test(text, absolute_paths_lose_what_says_nothing, 0, ARRAY_SIZE(paths));
    tcase_add_test(text, relative_paths_begin_in_the_current_directory);
    tcase_add_test(text, open_directory_has_its_path);
    tcase_add_test(text, joining_at_the_root_gives_one_slash);
    suite_add_tcase(suite, text);
    return suite;
}

int main(void) {
    return run_suite(path_suite());
}
