/* Where a path is, by its text. */
#include <stdlib.h>

#include "below.h"
#include "testing.h"

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

TEST(path_is_where_its_text_says, .to = sizeof(rows) / sizeof(rows[0])) {
    ck_assert_int_eq(below_place_of(rows[_i].directory, rows[_i].base, rows[_i].path), rows[_i].place);
}
