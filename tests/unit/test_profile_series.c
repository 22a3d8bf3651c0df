/* Series of profiles: names in the order of time, and only own files are removed. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "profile_series.h"
#include "testing.h"

static char directory[64];
static char text[] = "# osprof 1\n# mount: /mnt\n# start: x\n";
static const struct control_text own = {.text = text, .size_bytes = sizeof(text) - 1};
static struct profile_series series;

static const int64_t noon_ns = INT64_C(1795694400000000000); /* 2026-11-26T12:00:00Z */

static void set_up(void) {
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof(directory), "%.32s/test-series-XXXXXX", temporary ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    series = (struct profile_series){.dir_fd = open(".", O_PATH | O_DIRECTORY), .name = "web", .text = &own};
}

static void tear_down(void) {
    close(series.dir_fd);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(directory), 0);
}

static void make(const char *name, const char *content) {
    CLEANUP_FD int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write_all(fd, content, strlen(content)), 0);
}

static void expect_next(int64_t now_ns, int64_t *after_ms, const char *expected) {
    char name[NAME_MAX + 1];
    ck_assert_int_eq(profile_series_next(&series, now_ns, after_ms, name), 0);
    ck_assert_str_eq(name, expected);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(each_name_is_later_than_all_before) {
    int64_t after_ms = 0;
    expect_next(noon_ns, &after_ms, "web-20261126T120000.000Z.osprof");
    expect_next(noon_ns, &after_ms, "web-20261126T120000.001Z.osprof");                 /* in the same millisecond */
    expect_next(noon_ns - 3600000000000, &after_ms, "web-20261126T120000.002Z.osprof"); /* the clock went back */
    expect_next(noon_ns + 999999999, &after_ms, "web-20261126T120000.999Z.osprof");
    make("web-20261126T235959.999Z.osprof", text);
    expect_next(noon_ns, &after_ms, "web-20261127T000000.000Z.osprof");
    ck_assert_int_eq(remove("web-20261126T235959.999Z.osprof"), 0);
}

TEST(time_has_four_digits_of_years) {
    int64_t after_ms = INT64_C(253402300799999); /* the last of the year 9999 */
    char name[NAME_MAX + 1];
    ck_assert_int_eq(profile_series_next(&series, 0, &after_ms, name), -EOVERFLOW);
}

/* Who may rename files there could leave no name for what comes. */
TEST(there_is_always_a_next_name) {
    int64_t after_ms = 0;
    make("web-99991231T235959.999Z.osprof", text);
    make("web-90000101T000000.000Z.osprof", text);
    expect_next(noon_ns, &after_ms, "web-20261126T120000.000Z.osprof");
    make("web-89991231T235959.999Z.osprof", text);
    expect_next(noon_ns, &after_ms, "web-90000101T000000.000Z.osprof");
    expect_next(noon_ns, &after_ms, "web-90000101T000000.001Z.osprof");
    ck_assert_int_eq(remove("web-99991231T235959.999Z.osprof"), 0);
    ck_assert_int_eq(remove("web-90000101T000000.000Z.osprof"), 0);
    ck_assert_int_eq(remove("web-89991231T235959.999Z.osprof"), 0);
}

/* Not of the series: other names, other mounts, no profiles. */
static const struct {
    const char *name;
    const char *content;
} others[] = {
    {"web-20261126T110000.000Z.osprof.old", "# osprof 1\n# mount: /mnt\n"},
    {"web-20261126T110000Z.osprof", "# osprof 1\n# mount: /mnt\n"},
    {"web2-20261126T110000.000Z.osprof", "# osprof 1\n# mount: /mnt\n"},
    {"web-20261126T110000.000Z.osprof", "# osprof 1\n# mount: /mnt2\n"},
    {"web-20261126T110000.001Z.osprof", "# osprof 1\n# lower: /mnt\n"},
    {"web-20261126T110000.002Z.osprof", ""},
};

TEST(only_the_oldest_of_the_series_are_removed) {
    static const char *const names[] = {"web-20261126T115959.999Z.osprof", "web-20261126T120000.000Z.osprof",
                                        "web-20261126T120000.001Z.osprof"};
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        make(others[i].name, others[i].content);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        make(names[i], text);
    ck_assert_int_eq(profile_series_prune(&series, 3), 0);
    ck_assert_int_eq(access(names[0], F_OK), 0);
    ck_assert_int_eq(profile_series_prune(&series, 1), 0);
    ck_assert_int_eq(remove(names[2]), 0);
    ck_assert_int_eq(access(names[0], F_OK), -1);
    ck_assert_int_eq(access(names[1], F_OK), -1);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        ck_assert_int_eq(remove(others[i].name), 0);
}
