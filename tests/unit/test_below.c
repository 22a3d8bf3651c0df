/* Where a path is, by its text. */
#include <check.h>
#include <stdlib.h>

#include "below.h"
#include "run_suite.h"

static const struct {
    const char *directory, *base, *path;
    enum below_place place;
} rows[] = {
    {"/a/b", "/", "/a/b", BELOW_INSIDE},
    {"/a/b", "/", "/a/b/", BELOW_INSIDE},
    {"/a/b", "/", "//a///b//c", BELOW_INSIDE},
    {"/a/b", "/", "/a/bc", BELOW_OUTSIDE},
    {"/a/b", "/", "/a/b/../c", BELOW_OUTSIDE},
    {"/a/b", "/", "/a/b/..", BELOW_ABOVE},
    {"/a/b", "/", "/a/b/../b/c", BELOW_INSIDE},
    {"/a/b", "/", "/x/../a/./b/c", BELOW_INSIDE},
    {"/a/b", "/", "/../../a/b", BELOW_INSIDE},
    {"/a/b", "/", "/", BELOW_ABOVE},
    {"/a/b", "/", "/a", BELOW_ABOVE},
    {"/a/b", "/", "/a/x/../b", BELOW_INSIDE},
    {"/a/b", "/", "/x/a/b", BELOW_OUTSIDE},
    {"/a/b", "/", "/a/x/b", BELOW_OUTSIDE},
    {"/a/b", "/a/b/c/d", "..", BELOW_INSIDE},
    {"/a/b", "/a/b/c/d", "../../..", BELOW_ABOVE},
    {"/a/b", "/a/b/c/d", "../../../x", BELOW_OUTSIDE},
    {"/a/b", "/a", "b/c", BELOW_INSIDE},
    {"/a/b", "/a", "", BELOW_ABOVE},
    {"/a/b", "/a/b", "", BELOW_INSIDE},
    {"/a/b", "/a/b", "..b", BELOW_INSIDE},
    {"/a/b", "/a/b", ".b/...", BELOW_INSIDE},
    {"/a/b", "/a/b", "/x", BELOW_OUTSIDE},
    {"/a/b", "/x", "../a/b/c", BELOW_INSIDE},
    {"/", "/", "/", BELOW_INSIDE},
    {"/", "/x", "y", BELOW_INSIDE},
    {"/", "/x", "../..", BELOW_INSIDE},
};

START_TEST(path_is_where_its_text_says) {
    ck_assert_int_eq(below_place_of(rows[_i].directory, rows[_i].base, rows[_i].path), rows[_i].place);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("below");
    TCase *tcase = tcase_create("below");
    tcase_add_loop_test(tcase, path_is_where_its_text_says, 0, sizeof(rows) / sizeof(rows[0]));
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
