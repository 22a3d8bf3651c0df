/* Foreign text in gnuplot scripts is quoted, so that gnuplot does not execute it. */
#include <check.h>
#include <string.h>

#include "base.h"
#include "gnuplot.h"
#include "run_suite.h"

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

START_TEST(a_text_is_in_single_quotes) {
    ck_assert_str_eq(shown("", 9), "''");
    ck_assert_str_eq(shown("/srv/data", 9), "'/srv/data'");
    ck_assert_str_eq(shown("`rm` \"$x\" \\", 99), "'`rm` \"$x\" \\'");
}
END_TEST

START_TEST(a_quote_is_doubled) {
    ck_assert_str_eq(shown("'", 9), "''''");
    ck_assert_str_eq(shown("a'; b''", 9), "'a''; b'''''");
}
END_TEST

START_TEST(controls_are_not_shown) {
    ck_assert_str_eq(shown("a\nb\033c\x7f", 9), "'a\xef\xbf\xbd"
                                                "b\xef\xbf\xbd"
                                                "c\xef\xbf\xbd'");
    ck_assert_str_eq(shown("\xc2\x9b\xc2\xa0", 9), "'\xef\xbf\xbd\xc2\xa0'");
    ck_assert_str_eq(shown("\xef\xbf\xbe\xef\xbf\xbf", 9), "'\xef\xbf\xbd\xef\xbf\xbd'");
}
END_TEST

START_TEST(what_is_no_utf8_is_not_shown) {
    ck_assert_str_eq(shown("\xff'\xe6\xbc\xa2", 9), "'\xef\xbf\xbd''\xe6\xbc\xa2'");
}
END_TEST

START_TEST(characters_are_counted) {
    ck_assert_str_eq(shown("\xe6\xbc\xa2\xe6\xbc\xa2", 2), "'\xe6\xbc\xa2\xe6\xbc\xa2'");
    ck_assert_str_eq(shown("\xe6\xbc\xa2\xe6\xbc\xa2", 1), "'\xe6\xbc\xa2…'");
    ck_assert_str_eq(shown("''''", 3), "'''''''…'");
}
END_TEST

START_TEST(the_end_of_a_cdata_section_is_parted) {
    ck_assert_str_eq(shown("]]>]>>", 9), "']] >]>>'");
    ck_assert_str_eq(shown(">", 9), "'>'");
    ck_assert_str_eq(shown("]>", 9), "']>'");
}
END_TEST

START_TEST(a_path_keeps_its_bytes) {
    ck_assert_str_eq(path("a b.svg"), "'a b.svg'");
    ck_assert_str_eq(path("a\n'\x01"), "'a'.\"\\012\".''''.\"\\001\".''");
    ck_assert_str_eq(path("\xff\\`"), "'\xff\\`'");
}
END_TEST

START_TEST(a_path_is_no_command_and_no_home) {
    ck_assert_str_eq(path("|rm"), "'./|rm'");
    ck_assert_str_eq(path("~root"), "'./~root'");
    ck_assert_str_eq(path("a|~"), "'a|~'");
}
END_TEST

int main(void) {
    Suite *suite = suite_create("gnuplot");
    TCase *texts = tcase_create("texts");
    tcase_add_checked_fixture(texts, NULL, tear_down);
    tcase_add_test(texts, a_text_is_in_single_quotes);
    tcase_add_test(texts, a_quote_is_doubled);
    tcase_add_test(texts, controls_are_not_shown);
    tcase_add_test(texts, what_is_no_utf8_is_not_shown);
    tcase_add_test(texts, characters_are_counted);
    tcase_add_test(texts, the_end_of_a_cdata_section_is_parted);
    suite_add_tcase(suite, texts);
    TCase *paths = tcase_create("paths");
    tcase_add_checked_fixture(paths, NULL, tear_down);
    tcase_add_test(paths, a_path_keeps_its_bytes);
    tcase_add_test(paths, a_path_is_no_command_and_no_home);
    suite_add_tcase(suite, paths);
    return run_suite(suite);
}
