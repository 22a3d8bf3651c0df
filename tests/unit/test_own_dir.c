/* Directories that other users cannot exchange. What is of others only root can make: without root only the rest is tested. */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "own_dir.h"
#include "testing.h"

#define OTHER 65534

static char directory[] = "/tmp/osprof-own_dir-XXXXXX";
static int dir_fd;

static void make_dir(const char *name, mode_t mode, uid_t owner) {
    ck_assert_int_eq(mkdirat(dir_fd, name, 0700), 0);
    ck_assert_int_eq(fchownat(dir_fd, name, owner, owner == geteuid() ? getegid() : OTHER, 0), 0);
    ck_assert_int_eq(fchmodat(dir_fd, name, mode, 0), 0);
}

static void make_link(const char *target, const char *name, uid_t owner) {
    ck_assert_int_eq(symlinkat(target, dir_fd, name), 0);
    ck_assert_int_eq(fchownat(dir_fd, name, owner, (gid_t)-1, AT_SYMLINK_NOFOLLOW), 0);
}

/* A tree for each test: names tell what is special. */
static void set_up(void) {
    memcpy(strrchr(directory, '-'), "-XXXXXX", sizeof("-XXXXXX"));
    ck_assert_ptr_nonnull(mkdtemp(directory));
    dir_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    make_dir("own", 0700, geteuid());
    make_dir("own/deeper", 0755, geteuid());
    make_link("own", "link", geteuid());
    make_link("loop", "loop", geteuid());
    make_link("/", "root", geteuid());
    make_link("missing/deeper", "dangling", geteuid());
    make_dir("everybody", 0777, geteuid());
    make_dir("everybody/own", 0700, geteuid());
    make_dir("sticky", 01777, geteuid());
    make_dir("sticky/own", 0700, geteuid());
    ck_assert_int_eq(mknodat(dir_fd, "file", S_IFREG | 0600, 0), 0);
    if (geteuid() != 0)
        return;
    make_dir("group", 0770, 0);
    make_dir("group/own", 0700, 0);
    make_dir("theirs", 0755, OTHER);
    make_dir("theirs/own", 0700, 0);
    make_link("own", "their_link", OTHER);
    make_dir("sticky/theirs", 0755, OTHER);
    make_link("../own", "sticky/their_link", OTHER);
}

static void tear_down(void) {
    CLEANUP_FREE char *remove = NULL;
    close_fd(&dir_fd);
    ck_assert_int_ge(asprintf(&remove, "rm -r %s", directory), 0);
    ck_assert_int_eq(system(remove), 0); /* NOLINT(cert-env33-c): a fixed command */
}

static int open_below(const char *path, unsigned made_max, bool is_strict, int *ret_fd) {
    char whole[PATH_MAX];
    snprintf(whole, sizeof(whole), "%s/%s", directory, path);
    return own_dir_open(whole, made_max, is_strict, ret_fd);
}

static const struct {
    const char *path;
    unsigned made_max;
    int strict; /* the status */
    int other;  /* the status where others may control the path */
    bool needs_root;
} cases[] = {
    {"own", 0, 0, 0, false},
    {"own//./deeper/", 0, 0, 0, false},
    {"own/deeper/../../own", 0, 0, 0, false},
    {"link/deeper", 0, 0, 0, false},
    {"root/tmp", 0, 0, 0, false},
    {"link", 0, -ELOOP, -ELOOP, false},
    {"loop/own", 0, -ELOOP, -ELOOP, false},
    {"file", 0, -ENOTDIR, -ENOTDIR, false},
    {"file/own", 1, -ENOTDIR, -ENOTDIR, false},
    {"missing", 0, -ENOENT, -ENOENT, false},
    {"missing/deeper", 1, -ENOENT, -ENOENT, false},
    {"missing", 1, 0, 0, false},
    {"missing/deeper", 2, 0, 0, false},
    {"dangling/deepest", 3, 0, 0, false},
    {"everybody/own", 0, -EPERM, 0, false},
    {"everybody/missing", 1, -EPERM, 0, false},
    {"sticky/own", 0, 0, 0, false},
    {"sticky/missing", 1, 0, 0, false},
    {"group/own", 0, -EPERM, 0, true},
    {"theirs", 0, -EPERM, 0, true},
    {"theirs/own", 0, -EPERM, 0, true},
    {"theirs/missing", 1, -EPERM, -EPERM, true},
    {"their_link/deeper", 0, -EPERM, 0, true},
    {"sticky/theirs", 0, -EPERM, 0, true},
    {"sticky/their_link/deeper", 0, -EPERM, 0, true},
};

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(a_path_is_opened_if_no_other_user_controls_it, .to = ARRAY_SIZE(cases)) {
    CLEANUP_FD int fd = -1;
    if (cases[_i].needs_root && geteuid() != 0)
        return;
    ck_assert_int_eq(open_below(cases[_i].path, cases[_i].made_max, true, &fd), cases[_i].strict);
    ck_assert_int_eq(fd >= 0, cases[_i].strict == 0);
}

TEST(others_may_control_a_path_that_need_not_be_found_again, .to = ARRAY_SIZE(cases)) {
    CLEANUP_FD int fd = -1;
    if (cases[_i].needs_root && geteuid() != 0)
        return;
    ck_assert_int_eq(open_below(cases[_i].path, cases[_i].made_max, false, &fd), cases[_i].other);
}

TEST(it_is_the_directory_of_that_name) {
    CLEANUP_FD int fd = -1;
    struct stat wanted;
    struct stat got;
    ck_assert_int_eq(open_below("link/deeper/../deeper", 0, true, &fd), 0);
    ck_assert_int_eq(fstatat(dir_fd, "own/deeper", &wanted, 0), 0);
    ck_assert_int_eq(fstat(fd, &got), 0);
    ck_assert_uint_eq(got.st_ino, wanted.st_ino);
}

TEST(what_is_made_is_for_its_owner_alone) {
    CLEANUP_FD int fd = -1;
    struct stat attr;
    ck_assert_int_eq(open_below("missing/deeper", 2, true, &fd), 0);
    ck_assert_int_eq(fstatat(dir_fd, "missing", &attr, 0), 0);
    ck_assert_uint_eq(attr.st_mode & 07777, 0700);
    ck_assert_int_eq(fstat(fd, &attr), 0);
    ck_assert_uint_eq(attr.st_mode & 07777, 0700);
}

TEST(paths_are_absolute_and_not_endless) {
    char path[2 * PATH_MAX];
    int fd;
    ck_assert_int_eq(own_dir_open("tmp", 0, false, &fd), -EINVAL);
    ck_assert_int_eq(own_dir_open("", 0, false, &fd), -EINVAL);
    memset(path, '/', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    ck_assert_int_eq(own_dir_open(path, 0, false, &fd), -ENAMETOOLONG);
    memset(path + 1, 'x', NAME_MAX + 1);
    path[NAME_MAX + 2] = '\0';
    ck_assert_int_eq(own_dir_open(path, 0, false, &fd), -ENAMETOOLONG);
}
