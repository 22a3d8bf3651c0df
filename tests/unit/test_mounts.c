/* The table of mounts, as text. */
#include <check.h>
#include <stdlib.h>

#include "base.h"
#include "mounts.h"

static const char table[] = "overlay / overlay rw,relatime 0 0\n"
                            "proc /proc proc rw 0 0\n"
                            "/dev/sda1 /srv ext4 rw 0 0\n"
                            "server:/export /srv/net nfs4 rw 0 0\n"
                            "/dev/sdb1 /mnt xfs rw 0 0\n"
                            "/dev/sdc1 /mnt xfs rw 0 0\n"
                            "/srv/net /srv/net fuse.osproffs rw 0 0\n"
                            "//server/my\\040share /srv/two\\040words cifs rw 0 0\n"
                            "a\\012b/c /srv/odd ext4 rw 0 0\n";

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
    CLEANUP_STREAM FILE *stream = fmemopen((void *)(uintptr_t)table, sizeof(table) - 1, "r");
    struct mounts_device device;
    ck_assert_int_eq(mounts_find_device(stream, paths[_i].path, paths[_i].through, &device), 0);
    ck_assert_str_eq(device.name, paths[_i].device);
    ck_assert_int_eq(device.is_local, paths[_i].is_local);
    ck_assert_int_eq(device.is_profiled, paths[_i].is_profiled);
    free(device.name);
}
END_TEST

START_TEST(without_mounts_there_is_no_device) {
    struct mounts_device device;
    CLEANUP_STREAM FILE *stream = fopen("/dev/null", "r");
    ck_assert_int_eq(mounts_find_device(stream, "/", true, &device), -ENOENT);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("mounts");
    TCase *all = tcase_create("mounts");
    tcase_add_loop_test(all, a_path_lies_in_the_longest_mount_above_it, 0, ARRAY_SIZE(paths));
    tcase_add_test(all, without_mounts_there_is_no_device);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
