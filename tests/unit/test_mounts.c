/* The table of mounts, as text. */
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "mounts.h"
#include "path.h"
#include "testing.h"

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

TEST(a_path_lies_in_the_mount_above_it, .to = ARRAY_SIZE(paths)) {
    CLEANUP_MOUNTS struct mounts_table table = table_of(text);
    struct mounts_device device;
    ck_assert_int_eq(mounts_find_device(&table, paths[_i].path, paths[_i].through, &device), 0);
    ck_assert_str_eq(device.name, paths[_i].device);
    ck_assert_int_eq(device.is_local, paths[_i].is_local);
    ck_assert_int_eq(device.is_profiled, paths[_i].is_profiled);
    free(device.name);
}

TEST(a_line_tells_device_root_path_options_type_and_source) {
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

/* The mount at /a hides that at /a/b, and what was mounted on it later. Mounts are not always in the order in which they lie
 * on each other: they may have been moved. */
static const char covered[] = "36 21 0:6 / /c rw - tmpfs upper rw\n"
                              "21 1 0:1 / / rw - ext4 root rw\n"
                              "30 21 0:2 / /a/b rw - ext4 hidden rw\n"
                              "31 21 0:3 / /a rw - fuse.my\\040type shown rw\n"
                              "32 30 0:4 / /a/b rw - ext4 on_hidden rw\n"
                              "33 31 0:5 /sub /a/d rw - nfs4 below rw\n"
                              "35 34 0:7 / /c rw - tmpfs top rw\n"
                              "34 36 0:9 / /c rw - tmpfs middle rw\n"
                              "37 38 0:8 / /loop rw - tmpfs one rw\n"
                              "38 37 0:8 / /loop rw - tmpfs other rw\n";

static const struct {
    const char *path;
    const char *source;
    bool is_mount_point;
} visible[] = {
    {"/", "root", true},        {"/x", "root", false},     {"/a", "shown", true},      {"/a/b", "shown", false},
    {"/a/b/c", "shown", false}, {"/a/d", "below", true},   {"/a/d/e", "below", false}, {"/ab", "root", false},
    {"/c", "top", true},        {"/c/file", "top", false},
};

TEST(a_hidden_mount_has_no_path, .to = ARRAY_SIZE(visible)) {
    CLEANUP_MOUNTS struct mounts_table table = table_of(covered);
    struct mounts_entry entry;
    struct mounts_entry at = {.id = 0};
    ck_assert(mounts_of_path(&table, visible[_i].path, &entry));
    ck_assert_str_eq(entry.source, visible[_i].source);
    ck_assert_int_eq(mounts_at(&table, visible[_i].path, &at), visible[_i].is_mount_point);
    ck_assert_uint_eq(at.id != 0, visible[_i].is_mount_point);
}

/* is_mounted: an own file system is there */
static void make_directory(const char *top, const char *name, bool is_mounted) {
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", top, name);
    ck_assert(mkdir(path, 0700) == 0 || errno == EEXIST);
    ck_assert(!is_mounted || mount("none", path, "tmpfs", 0, NULL) == 0);
}

TEST(a_walk_finds_the_mount_that_the_kernel_finds) {
    static const char *const names[] = {"", "a", "a/b", "a/b/c", "d", "e", "e/f", "g"};
    char made[] = "/tmp/test_mounts.XXXXXX";
    char from[PATH_MAX];
    char to[PATH_MAX];
    ck_assert_ptr_nonnull(mkdtemp(made));
    CLEANUP_FREE char *top = realpath(made, NULL);
    if (!top || unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) < 0) {
        rmdir(made);
        return; /* that takes privilege */
    }
    static const struct {
        const char *name;
        bool is_mounted;
    } steps[] = {
        {"", true},       {"a", true}, {"a/b", true}, {"a/b/c", true}, {"a", true},   {"a/b", false},
        {"a/b/c", false}, {"d", true}, {"d", true},   {"e", true},     {"e/f", true}, {"g", true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
        make_directory(top, steps[i].name, steps[i].is_mounted);
    snprintf(from, sizeof(from), "%s/e/f", top);
    snprintf(to, sizeof(to), "%s/g", top); /* made before it, and on it now */
    ck_assert_int_eq(mount(from, to, "none", MS_MOVE, NULL), 0);
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    ck_assert_int_eq(mounts_open(&table), 0);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        struct mounts_entry entry = {.id = 0};
        struct statx attr = {0};
        snprintf(from, sizeof(from), "%s/%s", top, names[i]);
        CLEANUP_FREE char *path = path_normalise(from);
        ck_assert_int_eq(statx(AT_FDCWD, path, 0, STATX_MNT_ID, &attr), 0);
        ck_assert(mounts_of_path(&table, path, &entry));
        ck_assert_uint_eq(entry.id, attr.stx_mnt_id);
    }
    umount2(top, MNT_DETACH);
    rmdir(made);
}

TEST(a_mount_is_found_by_number_device_and_type_hidden_or_not) {
    CLEANUP_MOUNTS struct mounts_table table = table_of(covered);
    struct mounts_entry entry;
    ck_assert(mounts_of_device(&table, makedev(0, 8), &entry));
    ck_assert_str_eq(entry.source, "one");
    ck_assert(mounts_of_id(&table, 30, &entry));
    ck_assert_str_eq(entry.source, "hidden");
    ck_assert_uint_eq(entry.parent, 21);
    ck_assert(mounts_of_type(&table, "fuse.my type", &entry));
    ck_assert_uint_eq(entry.id, 31);
    ck_assert(mounts_is_fuse(&entry));
    ck_assert(!mounts_of_type(&table, "xfs", &entry));
    ck_assert(!mounts_of_device(&table, makedev(8, 1), &entry));
    ck_assert(!mounts_of_id(&table, 3, &entry));
    ck_assert_uint_eq(entry.id, 31); /* as before */
}

TEST(mounts_on_each_other_are_walked_to_an_end) {
    CLEANUP_MOUNTS struct mounts_table table = table_of("37 38 0:8 / /loop rw - tmpfs one rw\n"
                                                        "38 37 0:9 / /loop rw - tmpfs other rw\n");
    struct mounts_entry entry;
    ck_assert(mounts_of_path(&table, "/loop/x", &entry));
    ck_assert(!mounts_of_path(&table, "/elsewhere", &entry));
}

TEST(without_a_table_nothing_is_found) {
    struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    ck_assert(!mounts_of_path(&table, "/", &entry));
    ck_assert(!mounts_at(&table, "/", &entry));
    ck_assert(!mounts_of_id(&table, 1, &entry));
}

TEST(an_option_is_found_whole) {
    ck_assert(mounts_has_option("rw,nosuid,noexec", "rw"));
    ck_assert(mounts_has_option("rw,nosuid,noexec", "noexec"));
    ck_assert(!mounts_has_option("rw,nosuid,noexec", "suid"));
    ck_assert(!mounts_has_option("rw,nosuid,noexec", "no"));
    ck_assert(!mounts_has_option("", "rw"));
}

TEST(what_all_mounts_of_a_device_forbid_is_forbidden) {
    CLEANUP_MOUNTS struct mounts_table table = table_of("1 0 0:8 / /a rw,nosuid,nodev - tmpfs a rw\n"
                                                        "2 0 0:9 / /b rw - tmpfs b rw\n"
                                                        "3 0 0:8 / /c rw,nosuid - tmpfs a rw\n");
    ck_assert_uint_eq(mounts_forbidden(&table, makedev(0, 8)), ST_NOSUID);
    ck_assert_uint_eq(mounts_forbidden(&table, makedev(0, 8)), 0); /* nothing is left to be read */
}

TEST(the_table_of_the_system_has_a_root) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    bool found = false;
    ck_assert_int_eq(mounts_open(&table), 0);
    while (mounts_next(&table, &entry))
        found = found || strcmp(entry.path, "/") == 0;
    ck_assert(found);
}

TEST(without_mounts_there_is_no_device) {
    struct mounts_table table = {.stream = NULL};
    struct mounts_device device;
    ck_assert_int_eq(mounts_find_device(&table, "/", true, &device), -ENOENT);
}
