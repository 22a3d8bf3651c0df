/* The builder of strings. */
#include <stdlib.h>
#include <string.h>

#include "str.h"
#include "testing.h"

TEST(a_zeroed_one_is_an_empty_text) {
    struct str str = {0};
    ck_assert_str_eq(str_text(&str), "");
    ck_assert_uint_eq(str.length, 0);
    char *text = str_steal(&str);
    ck_assert_str_eq(text, "");
    free(text);
    str_finish(&str);
}

TEST(what_is_added_follows_what_is_there) {
    CLEANUP_STR struct str str = {0};
    str_add(&str, "READ");
    str_separate(&str, ", ");
    str_addf(&str, "%s %d", "WRITE", 7);
    str_add_bytes(&str, "!?", 1);
    ck_assert_str_eq(str_text(&str), "READ, WRITE 7!");
    ck_assert_uint_eq(str.length, strlen("READ, WRITE 7!"));
}

TEST(nothing_is_separated_from_the_beginning) {
    CLEANUP_STR struct str str = {0};
    str_separate(&str, ", ");
    ck_assert_str_eq(str_text(&str), "");
}

/* Across each border at which the memory grows. */
TEST(it_grows_as_far_as_it_must) {
    CLEANUP_STR struct str str = {0};
    for (unsigned i = 0; i < 10007; i++)
        str_addf(&str, "%u", i % 10);
    ck_assert_uint_eq(str.length, 10007);
    ck_assert_uint_eq(strlen(str_text(&str)), 10007);
    for (unsigned i = 0; i < 10007; i++)
        ck_assert_int_eq(str_text(&str)[i], (char)('0' + i % 10));
    char *expected = strdup(str_text(&str));
    str_addf(&str, "%s", expected);
    ck_assert_uint_eq(str.length, 20014);
    ck_assert_str_eq(str_text(&str) + 10007, expected);
    free(expected);
}

TEST(a_text_can_be_cut_and_go_on) {
    CLEANUP_STR struct str str = {0};
    str_cut(&str, 0);
    str_add(&str, "LOOKUPs, OPENs");
    str_cut(&str, strlen("LOOKUPs"));
    ck_assert_str_eq(str_text(&str), "LOOKUPs");
    str_add(&str, " and OPENs");
    ck_assert_str_eq(str_text(&str), "LOOKUPs and OPENs");
}

TEST(a_stolen_text_leaves_an_empty_one) {
    CLEANUP_STR struct str str = {0};
    str_add(&str, "a");
    char *text = str_steal(&str);
    ck_assert_str_eq(text, "a");
    free(text);
    ck_assert_str_eq(str_text(&str), "");
    str_add(&str, "b");
    ck_assert_str_eq(str_text(&str), "b");
}

TEST(without_memory_it_is_and_stays_empty, .not_memcheck = true) {
    CLEANUP_STR struct str str = {0};
    str_add(&str, "abc");
    str_add_bytes(&str, "x", SIZE_MAX - 8);
    ck_assert(str.failed);
    ck_assert_str_eq(str_text(&str), "");
    str_add(&str, "abc");
    str_addf(&str, "%d", 1);
    ck_assert_str_eq(str_text(&str), "");
    ck_assert_ptr_null(str_steal(&str));
    ck_assert(str.failed);
}
