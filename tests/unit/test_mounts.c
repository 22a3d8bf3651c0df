/* The table of mounts, as text. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "mounts.h"
#include "run_suite.h"

static const char text[] = "21 1 0:19 / / rw,relatime - overlay overlay rw\n"
                           "22 21 0:20 / /proc rw,nosuid shared:5 - proc proc rw\n"
                           "23 21 8:1 / /srv rw shared:7 master:3 - ext4 /dev/sda1 rw\n"
                           "24 23 0:31 / /srv/net rw - nfs4 server:/export rw\n"
                           "25 21 8:17 / /mnt rw - xfs /dev/sdb1 rw\n"
                           "26 25 8:33 / /mnt rw - xfs /dev/sdc1 rw\n"
                           "27 24 0:32 /a\\040b /srv/net rw,nosuid,nodev shared:9 - fuse.osproffs /srv/net rw\n"
                           "28 23 0:33 / /srv/two\\040words rw - cifs //server/my\\040share rw\n"
                           "no line of this table\n"
                           "29 23 8:49 /a\\040b /srv/odd rw - ext4 a\\012b/c rw\n";

static struct mounts_table table_of(const char *lines) {
    return (struct mounts_table){.stream = fmemopen((void *)(uintptr_t)lines, strlen(lines), "r")};
}

static const struct {
    const char *path;
    bool through;
    const char *device;
    bool is_local;
    bool is_profiled;
} paths[] = {
    {"/", true, "overlay on /", false, false},
    {"/home/x", true, "overlay on /", false, false},
    {"/srv", true, "/dev/sda1", true, false},
    {"/srv/data", true, "/dev/sda1", true, false},
    {"/srvother", true, "overlay on /", false, false},
    {"/srv/network", true, "/dev/sda1", true, false},
    {"/srv/net/a/b", true, "server:/export", false, false},
    {"/srv/net/a/b", false, "/srv/net", false, true},
    {"/mnt/x", true, "/dev/sdc1", true, false},
    {"/srv/two words/x", true, "//server/my share", false, false},
    {"/srv/odd", true, "a?b/c", false, false},
};

START_TEST(a_path_lies_in_the_longest_mount_above_it) {
    CLEANUP_MOUNTS struct mounts_table table = table_of(text);
    struct mounts_device device;
    ck_assert_int_eq(mounts_find_device(&table, paths[_i].path, paths[_i].through, &device), 0);
    ck_assert_str_eq(device.name, paths[_i].device);
    ck_assert_int_eq(device.is_local, paths[_i].is_local);
    ck_assert_int_eq(device.is_profiled, paths[_i].is_profiled);
    free(device.name);
}
END_TEST

START_TEST(a_line_tells_device_root_path_options_type_and_source) {
    CLEANUP_MOUNTS struct mounts_table table =
        table_of("27 24 0:32 /a\\040b /srv/net rw,nosuid shared:9 - fuse.osproffs from rw,allow_other\n");
    struct mounts_entry entry;
    ck_assert(mounts_next(&table, &entry));
    ck_assert_uint_eq(entry.device, makedev(0, 32));
    ck_assert_str_eq(entry.root, "/a b");
    ck_assert_str_eq(entry.path, "/srv/net");
    ck_assert_str_eq(entry.options, "rw,nosuid");
    ck_assert_str_eq(entry.source, "from");
    ck_assert_str_eq(entry.fs_options, "rw,allow_other");
    ck_assert(mounts_is_profiled(&entry));
    ck_assert(!mounts_next(&table, &entry));
}
END_TEST

START_TEST(an_option_is_found_whole) {
    ck_assert(mounts_has_option("rw,nosuid,noexec", "rw"));
    ck_assert(mounts_has_option("rw,nosuid,noexec", "noexec"));
    ck_assert(!mounts_has_option("rw,nosuid,noexec", "suid"));
    ck_assert(!mounts_has_option("rw,nosuid,noexec", "no"));
    ck_assert(!mounts_has_option("", "rw"));
}
END_TEST

START_TEST(what_all_mounts_of_a_device_forbid_is_forbidden) {
    CLEANUP_MOUNTS struct mounts_table table = table_of("1 0 0:8 / /a rw,nosuid,nodev - tmpfs a rw\n"
                                                        "2 0 0:9 / /b rw - tmpfs b rw\n"
                                                        "3 0 0:8 / /c rw,nosuid - tmpfs a rw\n");
    ck_assert_uint_eq(mounts_forbidden(&table, makedev(0, 8)), ST_NOSUID);
    ck_assert_uint_eq(mounts_forbidden(&table, makedev(0, 8)), 0); /* nothing is left to be read */
}
END_TEST

START_TEST(the_table_of_the_system_has_a_root) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    bool found = false;
    ck_assert_int_eq(mounts_open(&table), 0);
    while (mounts_next(&table, &entry))
        found = found || strcmp(entry.path, "/") == 0;
    ck_assert(found);
}
END_TEST

START_TEST(without_mounts_there_is_no_device) {
    struct mounts_table table = {.stream = NULL};
    struct mounts_device device;
    ck_assert_int_eq(mounts_find_device(&table, "/", true, &device), -ENOENT);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("mounts");
    TCase *all = tcase_create("mounts");
    tcase_add_loop_test(all, a_path_lies_in_the_longest_mount_above_it, 0, ARRAY_SIZE(paths));
    tcase_add_test(all, a_line_tells_device_root_path_options_type_and_source);
    tcase_add_test(all, an_option_is_found_whole);
    tcase_add_test(all, what_all_mounts_of_a_device_forbid_is_forbidden);
    tcase_add_test(all, the_table_of_the_system_has_a_root);
    tcase_add_test(all, without_mounts_there_is_no_device);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
