/* Foreign text in gnuplot scripts is quoted, so that gnuplot does not execute it. */
#include <string.h>

#include "base.h"
#include "gnuplot.h"
#include "testing.h"

static char *written;

/* What put() writes. */
static const char *shown(const char *text, size_t characters_max) {
    size_t size_bytes;
    free(written);
    FILE *script = open_memstream(&written, &size_bytes);
    ck_assert_ptr_nonnull(script);
    gnuplot_put_text(script, text, characters_max);
    ck_assert_int_eq(fclose(script), 0);
    return written;
}

static const char *path(const char *name) {
    size_t size_bytes;
    free(written);
    FILE *script = open_memstream(&written, &size_bytes);
    ck_assert_ptr_nonnull(script);
    gnuplot_put_path(script, name);
    ck_assert_int_eq(fclose(script), 0);
    return written;
}

static void tear_down(void) {
    free(written);
    written = NULL;
}

TEST_CASE(.tear_down = tear_down);

TEST(a_text_is_in_single_quotes) {
    ck_assert_str_eq(shown("", 9), "''");
    ck_assert_str_eq(shown("/srv/data", 9), "'/srv/data'");
    ck_assert_str_eq(shown("`rm` \"$x\" \\", 99), "'`rm` \"$x\" \\'");
}

TEST(a_quote_is_doubled) {
    ck_assert_str_eq(shown("'", 9), "''''");
    ck_assert_str_eq(shown("a'; b''", 9), "'a''; b'''''");
}

TEST(controls_are_not_shown) {
    ck_assert_str_eq(shown("a\nb\033c\x7f", 9), "'a\xef\xbf\xbd"
                                                "b\xef\xbf\xbd"
                                                "c\xef\xbf\xbd'");
    ck_assert_str_eq(shown("\xc2\x9b\xc2\xa0", 9), "'\xef\xbf\xbd\xc2\xa0'");
    ck_assert_str_eq(shown("\xef\xbf\xbe\xef\xbf\xbf", 9), "'\xef\xbf\xbd\xef\xbf\xbd'");
}

TEST(what_is_no_utf8_is_not_shown) {
    ck_assert_str_eq(shown("\xff'\xe6\xbc\xa2", 9), "'\xef\xbf\xbd''\xe6\xbc\xa2'");
}

TEST(characters_are_counted) {
    ck_assert_str_eq(shown("\xe6\xbc\xa2\xe6\xbc\xa2", 2), "'\xe6\xbc\xa2\xe6\xbc\xa2'");
    ck_assert_str_eq(shown("\xe6\xbc\xa2\xe6\xbc\xa2", 1), "'\xe6\xbc\xa2…'");
    ck_assert_str_eq(shown("''''", 3), "'''''''…'");
}

TEST(the_end_of_a_cdata_section_is_parted) {
    ck_assert_str_eq(shown("]]>]>>", 9), "']] >]>>'");
    ck_assert_str_eq(shown(">", 9), "'>'");
    ck_assert_str_eq(shown("]>", 9), "']>'");
}

TEST(a_path_keeps_its_bytes) {
    ck_assert_str_eq(path("a b.svg"), "'a b.svg'");
    ck_assert_str_eq(path("a\n'\x01"), "'a'.\"\\012\".''''.\"\\001\".''");
    ck_assert_str_eq(path("\xff\\`"), "'\xff\\`'");
}

TEST(a_path_is_no_command_and_no_home) {
    ck_assert_str_eq(path("|rm"), "'./|rm'");
    ck_assert_str_eq(path("~root"), "'./~root'");
    ck_assert_str_eq(path("a|~"), "'a|~'");
}
