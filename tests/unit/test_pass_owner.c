/* Owners that have no number in the daemon's user namespace. */
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stage.h"

static struct stat attributes(const char *name) {
    struct fs_entry entry = stage_look_up(name);
    struct stat attr;
    ck_assert_int_eq(STAGE(getattr, entry.ino, FS_NO_FILE, &attr), 0);
    ck_assert_uint_eq(attr.st_uid, entry.attr.st_uid);
    ck_assert_uint_eq(attr.st_gid, entry.attr.st_gid);
    return attr;
}

STAGE_CASE();

TEST(owners_with_a_number_are_shown_as_they_are) {
    if (!stage_is_root("owners other than this user"))
        return;
    stage_write("file", "");
    ck_assert_int_eq(fchownat(stage.fd, "file", 12345, 23456, 0), 0);
    struct stat attr = attributes("file");
    ck_assert_uint_eq(attr.st_uid, 12345);
    ck_assert_uint_eq(attr.st_gid, 23456);
}

TEST(owners_without_a_number_are_shown_as_our_own) {
    if (!stage_is_root("owners other than this user"))
        return;
    stage_write("file", "");
    ck_assert_int_eq(fchownat(stage.fd, "file", 12345, 23456, 0), 0);
    stage.pass->overflow_uid = 12345;
    ck_assert_uint_eq(attributes("file").st_uid, geteuid());
    ck_assert_uint_eq(attributes("file").st_gid, 23456);
    stage.pass->overflow_gid = 23456;
    ck_assert_uint_eq(attributes("file").st_gid, getegid());
}

TEST(a_namespace_that_maps_no_ids_has_overflow_ids) {
    if (unshare(CLONE_NEWUSER) < 0) {
        fputs("skipped: user namespaces are not allowed here\n", stderr);
        return;
    }
    pass_find_overflow_ids(stage.pass);
    ck_assert_int_eq(stage.pass->overflow_uid, geteuid()); /* what this user is shown as itself */
    ck_assert_int_eq(stage.pass->overflow_gid, getegid());
}
