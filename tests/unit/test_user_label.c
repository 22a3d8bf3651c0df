/* Labels that users give: accepted labels, and messages about refused labels. */
#include <stdio.h>
#include <string.h>

#include "aggstats/user_label.h"
#include "base.h"
#include "testing.h"

#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static char complaint[USER_LABEL_COMPLAINT_SIZE];

static const char *const good[] = {
    "rack=7",
    "r=x",
    "os_release_2=12 (bookworm)",
    "quoted=\"a\\b\", 'c' = d",
    "town=K\xc3\xb6ln",
    "k123456789012345678901234567890=31 bytes",
    "long=" HUNDRED HUNDRED TEN TEN TEN TEN TEN "12345",
};

TEST(label_is_a_word_and_a_line, .to = (int)ARRAY_SIZE(good)) {
    ck_assert_msg(user_labels_valid(&good[_i], 1, complaint), "%s", complaint);
}

static const struct {
    const char *text;
    const char *complaint;
} bad[] = {
    {"rack", "rack: must be KEY=VALUE, such as rack=7"},
    {"", ": must be KEY=VALUE, such as rack=7"},
    {"=7", "=7: the key must be"},
    {"Rack=7", "Rack=7: the key must be a lower-case letter and at most 30 lower-case letters, digits and _"},
    {"7th=1", "7th=1: the key"},
    {"_a=1", "_a=1: the key"},
    {"a-b=1", "a-b=1: the key"},
    {"a b=1", "a b=1: the key"},
    {"a:=1", "a:=1: the key"},
    {"k\xc3\xb6=1", "k\xc3\xb6=1: the key"},
    {"k1234567890123456789012345678901=32 bytes", "k1234567890123456789012345678901=32 bytes: the key"},
    {"host=a", "host=a: profiles have a header line of this name already; choose another key"},
    {"call=a", "call=a: profiles have"},
    {"slow=a", "slow=a: profiles have"},                   /* a line that not all profiles have */
    {"directory=a", "directory=a: profiles have"},         /* of groups */
    {"merged=a", "merged=a: profiles have"},               /* a label that osprof gives */
    {"still_running=a", "still_running=a: profiles have"}, /* of a run */
    {"devices=a", "devices=a: profiles have"},             /* of the layer block */
    {"resolution=1", "resolution=1: profiles have"},
    {"rack=", "rack=: the value must have 1 to 255 bytes"},
    {"long=" HUNDRED HUNDRED TEN TEN TEN TEN TEN "123456", "long=" TEN TEN TEN TEN TEN TEN TEN "01234...: the value"},
    {"rack=a\nb", "rack=a?b: the value must be one line of printable text in UTF-8"},
    {"rack=a\tb", "rack=a?b: the value"},
    {"rack=\x1b[31m", "rack=?[31m: the value"},
    {"rack=\x7f", "rack=?: the value"},
    {"rack=\xc2\x9b", "rack=?: the value"},
    {"rack=\xe2\x80\xae", "rack=?: the value"}, /* NOLINT(misc-misleading-bidirectional): to be refused */
    {"rack=\xff", "rack=\xef\xbf\xbd: the value"},
    {"rack=\xed\xa0\x80", "rack=\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd: the value"},
};

TEST(what_is_refused_is_said_in_one_harmless_line, .to = (int)ARRAY_SIZE(bad)) {
    ck_assert(!user_labels_valid(&bad[_i].text, 1, complaint));
    ck_assert_msg(strncmp(complaint, bad[_i].complaint, strlen(bad[_i].complaint)) == 0, "%s", complaint);
}

TEST(key_is_given_once) {
    const char *const texts[] = {"rack=1", "rack_row=1", "row=1", "rack=2"};
    ck_assert(user_labels_valid(texts, 3, complaint));
    ck_assert(!user_labels_valid(texts, 4, complaint));
    ck_assert_str_eq(complaint, "rack=2: this key is given twice");
}

TEST(profile_takes_a_bounded_number) {
    char texts[USER_LABELS_MAX + 1][8];
    const char *all[USER_LABELS_MAX + 1];
    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        snprintf(texts[i], sizeof(texts[i]), "k%zu=v", i);
        all[i] = texts[i];
    }
    ck_assert(user_labels_valid(all, USER_LABELS_MAX, complaint));
    ck_assert(!user_labels_valid(all, USER_LABELS_MAX + 1, complaint));
    ck_assert_str_eq(complaint, "k16=v: a profile takes at most 16 labels");
}

TEST(header_key_leads_back_to_the_label) {
    char key[USER_LABEL_HEADER_SIZE];
    ck_assert_str_eq(user_label_split("rack=a=b", key), "a=b");
    ck_assert_str_eq(key, "label rack");
    ck_assert_str_eq(user_label_of_key(key), "rack");
    ck_assert_ptr_null(user_label_of_key("rack"));
    ck_assert_ptr_null(user_label_of_key("label "));
    ck_assert_ptr_null(user_label_of_key("label a\"b"));
    ck_assert_ptr_null(user_label_of_key("label a b"));
    ck_assert_ptr_null(user_label_of_key("labelled"));
}
