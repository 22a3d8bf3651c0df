/* The pass layer's names: finding, making, moving and removing them, and the lookups that it counts. */
#include <errno.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base.h"
#include "stage.h"

static const char long_name[] = /* 256 bytes: one more than a name may have */
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef01"
    "23"
    "456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef012345"
    "67"
    "89abcdef0123456789abcdef";

/* Everything that can be asked of a name in a directory. */
static int try_lookup(fs_ino parent, const char *name) {
    struct fs_entry entry;
    return STAGE(lookup, parent, name, &entry);
}

static int try_mknod(fs_ino parent, const char *name) {
    struct fs_entry entry;
    return STAGE(mknod, parent, name, S_IFIFO | 0644, 0, &entry);
}

static int try_mkdir(fs_ino parent, const char *name) {
    struct fs_entry entry;
    return STAGE(mkdir, parent, name, 0755, &entry);
}

static int try_symlink(fs_ino parent, const char *name) {
    struct fs_entry entry;
    return STAGE(symlink, parent, name, "target", &entry);
}

static int try_link(fs_ino parent, const char *name) {
    struct fs_entry entry;
    return STAGE(link, stage_look_up("file").ino, parent, name, &entry);
}

static int try_create(fs_ino parent, const char *name) {
    struct fs_entry entry;
    fs_file file;
    int status = STAGE(create, parent, name, 0644, O_WRONLY | O_EXCL, &entry, &file);
    return status < 0 ? status : STAGE(release, entry.ino, file);
}

static int try_unlink(fs_ino parent, const char *name) {
    return STAGE(unlink, parent, name);
}

static int try_rmdir(fs_ino parent, const char *name) {
    return STAGE(rmdir, parent, name);
}

static int try_rename_from(fs_ino parent, const char *name) {
    return STAGE(rename, parent, name, FS_ROOT_INO, "new name");
}

static int try_rename_to(fs_ino parent, const char *name) {
    return STAGE(rename, FS_ROOT_INO, "file", parent, name);
}

static int try_rename2_from(fs_ino parent, const char *name) {
    return STAGE(rename2, parent, name, FS_ROOT_INO, "new name", RENAME_NOREPLACE);
}

static int try_rename2_to(fs_ino parent, const char *name) {
    return STAGE(rename2, FS_ROOT_INO, "file", parent, name, RENAME_NOREPLACE);
}

typedef int (*try_fn)(fs_ino parent, const char *name);
enum { CREATING = 5 }; /* the first of them make an entry */
static const try_fn tries[] = {try_mknod,  try_mkdir, try_symlink,     try_link,      try_create,       try_lookup,
                               try_unlink, try_rmdir, try_rename_from, try_rename_to, try_rename2_from, try_rename2_to};

/* ---- Lookup ---- */

STAGE_CASE();

TEST(lookup_shows_what_is_below) {
    stage_write("file", "text");
    struct fs_entry entry = stage_look_up("file");
    struct stat below = stage_stat("file");
    ck_assert_uint_eq(entry.attr.st_ino, below.st_ino);
    ck_assert_uint_eq(entry.attr.st_mode, below.st_mode);
    ck_assert_int_eq(entry.attr.st_size, 4);
    ck_assert_int_eq(entry.attr.st_mtim.tv_nsec, below.st_mtim.tv_nsec);
    ck_assert_uint_ne(entry.ino, FS_ROOT_INO);
}

TEST(root_is_the_lower_directory) {
    struct stat attr;
    struct fs_entry entry;
    ck_assert_int_eq(STAGE(getattr, FS_ROOT_INO, FS_NO_FILE, &attr), 0);
    ck_assert_uint_eq(attr.st_ino, stage_stat(".").st_ino);
    ck_assert_int_eq(STAGE(lookup, FS_ROOT_INO, ".", &entry), 0);
    ck_assert_uint_eq(entry.ino, FS_ROOT_INO);
}

TEST(errors_of_lookup_are_the_lower_ones) {
    stage_write("file", "");
    ck_assert_int_eq(try_lookup(FS_ROOT_INO, "missing"), -ENOENT);
    ck_assert_int_eq(try_lookup(FS_ROOT_INO, long_name), -ENAMETOOLONG);
    ck_assert_int_eq(try_lookup(stage_look_up("file").ino, "below a file"), -ENOTDIR);
}

TEST(names_that_leave_the_directory_are_refused, .to = (int)ARRAY_SIZE(tries)) {
    static const char *const names[] = {"", "/", "directory/inner", "/etc", "../x", "directory/"};
    stage_write("file", "");
    ck_assert_int_eq(mkdirat(stage.fd, "directory", 0755), 0);
    fs_ino parent = stage_look_up("directory").ino;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        ck_assert_int_eq(tries[_i](parent, names[i]), -EINVAL);
    if (tries[_i] != try_lookup) {
        ck_assert_int_eq(tries[_i](parent, "."), -EINVAL);
        ck_assert_int_eq(tries[_i](parent, ".."), -EINVAL);
    }
    ck_assert_uint_eq(stage_stat("directory").st_nlink, 2);
    ck_assert_str_eq(stage_text("file"), "");
}

TEST(nothing_is_above_the_root) {
    ck_assert_int_lt(try_lookup(FS_ROOT_INO, ".."), 0);
}

TEST(parent_is_found_by_dots) {
    ck_assert_int_eq(mkdirat(stage.fd, "outer", 0755), 0);
    ck_assert_int_eq(mkdirat(stage.fd, "outer/inner", 0755), 0);
    fs_ino outer = stage_look_up("outer").ino;
    fs_ino inner = stage_look_up_in(outer, "inner").ino;
    ck_assert_uint_eq(stage_look_up_in(inner, "..").ino, outer);
    ck_assert_uint_eq(stage_look_up_in(outer, "..").ino, FS_ROOT_INO);
    ck_assert_uint_eq(stage_lookup_count(outer), 2);
}

/* Somebody moved it away below: its parent is none of ours. */
TEST(parent_outside_the_lower_directory_is_not_found) {
    char elsewhere[160];
    struct fs_entry entry;
    ck_assert_int_eq(mkdirat(stage.fd, "outer", 0755), 0);
    ck_assert_int_eq(mkdirat(stage.fd, "outer/inner", 0755), 0);
    fs_ino inner = stage_look_up_in(stage_look_up("outer").ino, "inner").ino;
    snprintf(elsewhere, sizeof(elsewhere), "%s-moved", stage.path);
    ck_assert_int_eq(renameat(stage.fd, "outer", AT_FDCWD, elsewhere), 0);
    ck_assert_int_eq(STAGE(lookup, inner, "..", &entry), -ESTALE);
}

/* ---- Counting lookups ---- */

TEST(op_that_returns_an_entry_counts_one_lookup, .to = CREATING) {
    stage_write("file", "");
    ck_assert_int_eq(tries[_i](FS_ROOT_INO, "new"), 0);
    bool is_link = tries[_i] == try_link; /* which looked its file up before */
    fs_ino ino = stage_look_up("new").ino;
    ck_assert_uint_eq(stage_lookup_count(ino), is_link ? 3 : 2);
}

TEST(failed_op_counts_nothing, .to = CREATING) {
    stage_write("file", "");
    stage_write("there", "");
    fs_ino file = stage_look_up("file").ino;
    fs_ino there = stage_look_up("there").ino;
    ck_assert_int_eq(tries[_i](FS_ROOT_INO, "there"), -EEXIST);
    ck_assert_uint_eq(stage_inodes_known(), 3);
    ck_assert_uint_eq(stage_lookup_count(there), 1);
    ck_assert_uint_eq(stage_lookup_count(file), tries[_i] == try_link ? 2 : 1);
}

TEST(forget_frees_when_all_lookups_are_taken_back) {
    stage_restart(false, 0);
    stage_write("file", "");
    fs_ino ino = stage_look_up("file").ino;
    stage_look_up("file");
    stage_look_up("file");
    ck_assert_uint_eq(stage_lookup_count(ino), 3);
    stage.layer->ops->forget(stage.layer, ino, 2);
    ck_assert_uint_eq(stage_inodes_known(), 2);
    stage.layer->ops->forget(stage.layer, ino, 1);
    ck_assert_uint_eq(stage_inodes_known(), 1);
    stage.layer->ops->forget(stage.layer, FS_ROOT_INO, 100);
    ck_assert_uint_eq(stage_inodes_known(), 1);
}

TEST(hard_links_are_one_inode) {
    stage_write("file", "");
    struct fs_entry file = stage_look_up("file");
    struct fs_entry linked;
    ck_assert_int_eq(STAGE(link, file.ino, FS_ROOT_INO, "linked", &linked), 0);
    ck_assert_uint_eq(linked.ino, file.ino);
    ck_assert_uint_eq(linked.generation, file.generation);
    ck_assert_uint_eq(linked.attr.st_nlink, 2);
    ck_assert_int_eq(linkat(stage.fd, "file", stage.fd, "made below", 0), 0);
    ck_assert_uint_eq(stage_look_up("made below").ino, file.ino);
    ck_assert_uint_eq(stage_lookup_count(file.ino), 3);
}

TEST(numbers_are_not_used_again_while_known) {
    enum { COUNT = 211 };
    struct fs_entry known[COUNT];
    char name[16];
    stage_restart(false, 0);
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "%d", i);
        stage_write(name, "");
        known[i] = stage_look_up(name);
        if (i % 2)
            stage.layer->ops->forget(stage.layer, known[i].ino, 1);
        ck_assert_int_eq(unlinkat(stage.fd, name, 0), 0);
    }
    for (int i = 0; i < COUNT; i += 2) {
        for (int other = 0; other < i; other += 2)
            ck_assert_uint_ne(known[i].ino, known[other].ino);
    }
}

TEST(number_used_again_has_another_generation) {
    enum { ROUNDS = 53 };
    struct fs_entry seen[ROUNDS];
    stage_restart(false, 0);
    for (int i = 0; i < ROUNDS; i++) {
        stage_write("file", "");
        seen[i] = stage_look_up("file");
        stage.layer->ops->forget(stage.layer, seen[i].ino, 1);
        ck_assert_int_eq(unlinkat(stage.fd, "file", 0), 0);
        for (int other = 0; other < i; other++)
            ck_assert(seen[i].ino != seen[other].ino || seen[i].generation != seen[other].generation);
    }
}

/* ---- What the kernel has forgotten ---- */

TEST(forgotten_inode_is_found_again_by_number) {
    if (!stage_has_handles()) {
        fprintf(stderr, "skipped, needs root and a file system with file handles: finding forgotten inodes\n");
        return;
    }
    stage_write("file", "text");
    struct fs_entry before = stage_look_up("file");
    stage.layer->ops->forget(stage.layer, before.ino, 1);
    struct fs_entry after = stage_look_up_in(before.ino, ".");
    ck_assert_uint_eq(after.ino, before.ino);
    ck_assert_uint_eq(after.generation, before.generation);
    ck_assert_int_eq(after.attr.st_size, 4);
    ck_assert_uint_eq(stage_lookup_count(before.ino), 1);

    stage.layer->ops->forget(stage.layer, before.ino, 1);
    ck_assert_int_eq(unlinkat(stage.fd, "file", 0), 0);
    ck_assert_int_eq(try_lookup(before.ino, "."), -ESTALE);
    ck_assert_uint_eq(stage_lookup_count(before.ino), 0);
}

TEST(forgotten_inode_that_is_not_remembered_is_stale) {
    stage_restart(false, 0);
    stage_write("file", "");
    fs_ino ino = stage_look_up("file").ino;
    stage.layer->ops->forget(stage.layer, ino, 1);
    ck_assert_int_eq(try_lookup(ino, "."), -ESTALE);
    ck_assert_int_eq(try_lookup(4711, "."), -ESTALE);
}

TEST(unlinked_file_lives_while_it_is_open) {
    const struct stat wanted = {.st_size = 2, .st_mode = 0600};
    struct stat attr;
    fs_file again;
    stage_write("file", "text");
    struct stage_file open = stage_open("file", O_RDWR);
    ck_assert_int_eq(STAGE(unlink, FS_ROOT_INO, "file"), 0);
    ck_assert_int_eq(STAGE(getattr, open.ino, FS_NO_FILE, &attr), 0); /* without naming the open file */
    ck_assert_uint_eq(attr.st_nlink, 0);
    ck_assert_int_eq(attr.st_size, 4);
    ck_assert_int_eq(STAGE(setattr, open.ino, FS_NO_FILE, &wanted, FS_SET_SIZE | FS_SET_MODE, &attr), 0);
    ck_assert_int_eq(attr.st_size, 2);
    ck_assert_uint_eq(attr.st_mode, S_IFREG | 0600);
    ck_assert_int_eq(STAGE(open, open.ino, O_RDONLY, &again), 0);
    ck_assert_int_eq(STAGE(release, open.ino, again), 0);
    stage_close(open);
}

/* ---- Making and removing ---- */

TEST(mknod_makes_every_type) {
    struct fs_entry entry;
    static const mode_t types[] = {S_IFREG, S_IFIFO, S_IFSOCK};
    static const char *const names[] = {"file", "fifo", "socket"};
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        ck_assert_int_eq(STAGE(mknod, FS_ROOT_INO, names[i], types[i] | 0666, 0, &entry), 0);
        ck_assert_uint_eq(entry.attr.st_mode, types[i] | 0644);
        ck_assert_uint_eq(stage_stat(names[i]).st_mode, types[i] | 0644);
    }
    if (!stage_is_root("making devices"))
        return;
    ck_assert_int_eq(STAGE(mknod, FS_ROOT_INO, "device", S_IFCHR | 0600, makedev(1, 3), &entry), 0);
    ck_assert_uint_eq(stage_stat("device").st_rdev, makedev(1, 3));
}

TEST(umask_is_applied_to_what_is_made) {
    struct fs_entry entry;
    fs_file file;
    stage.self.umask = 027;
    ck_assert_int_eq(STAGE(mkdir, FS_ROOT_INO, "directory", 0777, &entry), 0);
    ck_assert_uint_eq(entry.attr.st_mode, S_IFDIR | 0750);
    stage.self.umask = 077;
    ck_assert_int_eq(STAGE(create, FS_ROOT_INO, "file", 0666, O_WRONLY, &entry, &file), 0);
    ck_assert_uint_eq(entry.attr.st_mode, S_IFREG | 0600);
    ck_assert_int_eq(STAGE(release, entry.ino, file), 0);
    stage.self.umask = 0;
    ck_assert_int_eq(STAGE(mknod, FS_ROOT_INO, "fifo", S_IFIFO | 0666, 0, &entry), 0);
    ck_assert_uint_eq(entry.attr.st_mode, S_IFIFO | 0666);
}

TEST(removing_gives_the_lower_errors) {
    stage_write("file", "");
    ck_assert_int_eq(mkdirat(stage.fd, "directory", 0755), 0);
    ck_assert_int_eq(mkdirat(stage.fd, "directory/inner", 0755), 0);
    ck_assert_int_eq(STAGE(unlink, FS_ROOT_INO, "missing"), -ENOENT);
    ck_assert_int_eq(STAGE(unlink, FS_ROOT_INO, "directory"), -EISDIR);
    ck_assert_int_eq(STAGE(rmdir, FS_ROOT_INO, "file"), -ENOTDIR);
    ck_assert_int_eq(STAGE(rmdir, FS_ROOT_INO, "directory"), -ENOTEMPTY);
    ck_assert_int_eq(STAGE(rmdir, stage_look_up("directory").ino, "inner"), 0);
    ck_assert_int_eq(STAGE(rmdir, FS_ROOT_INO, "directory"), 0);
    ck_assert_int_eq(STAGE(unlink, FS_ROOT_INO, "file"), 0);
    ck_assert_int_eq(faccessat(stage.fd, "file", F_OK, 0), -1);
}

TEST(rename_moves_between_directories_and_replaces) {
    stage_write("a", "from a");
    ck_assert_int_eq(mkdirat(stage.fd, "directory", 0755), 0);
    stage_write("directory/b", "from b");
    fs_ino directory = stage_look_up("directory").ino;
    ck_assert_int_eq(STAGE(rename, FS_ROOT_INO, "missing", directory, "b"), -ENOENT);
    ck_assert_int_eq(STAGE(rename, FS_ROOT_INO, "directory", directory, "inner"), -EINVAL);
    ck_assert_int_eq(STAGE(rename, FS_ROOT_INO, "a", FS_ROOT_INO, "directory"), -EISDIR);
    ck_assert_int_eq(STAGE(rename, FS_ROOT_INO, "a", directory, "b"), 0);
    ck_assert_str_eq(stage_text("directory/b"), "from a");
    ck_assert_int_eq(faccessat(stage.fd, "a", F_OK, 0), -1);
}

TEST(rename_flags_are_passed_on_whole) {
    stage_write("a", "from a");
    stage_write("b", "from b");
    ck_assert_int_eq(STAGE(rename2, FS_ROOT_INO, "a", FS_ROOT_INO, "b", RENAME_NOREPLACE), -EEXIST);
    ck_assert_int_eq(STAGE(rename2, FS_ROOT_INO, "a", FS_ROOT_INO, "b", RENAME_EXCHANGE), 0);
    ck_assert_str_eq(stage_text("a"), "from b");
    ck_assert_str_eq(stage_text("b"), "from a");
    ck_assert_int_eq(STAGE(rename2, FS_ROOT_INO, "a", FS_ROOT_INO, "c", RENAME_NOREPLACE), 0);
    ck_assert_int_eq(STAGE(rename2, FS_ROOT_INO, "b", FS_ROOT_INO, "c", RENAME_NOREPLACE | RENAME_EXCHANGE), -EINVAL);
    ck_assert_int_eq(STAGE(rename2, FS_ROOT_INO, "b", FS_ROOT_INO, "c", 1U << 30), -EINVAL);
}

TEST(directories_are_not_linked) {
    struct fs_entry entry;
    ck_assert_int_eq(mkdirat(stage.fd, "directory", 0755), 0);
    ck_assert_int_eq(STAGE(link, stage_look_up("directory").ino, FS_ROOT_INO, "linked", &entry), -EPERM);
}

/* ---- Symlinks ---- */

static fs_ino make_symlink(const char *target) {
    struct fs_entry entry;
    ck_assert_int_eq(STAGE(symlink, FS_ROOT_INO, "symlink", target, &entry), 0);
    ck_assert(S_ISLNK(entry.attr.st_mode));
    return entry.ino;
}

static const char *const targets[] = {"file", "directory", ".", "..", "/", "/etc/passwd", "dangling", "symlink"};

TEST(symlinks_are_never_followed, .to = (int)ARRAY_SIZE(targets)) {
    const struct stat wanted = {.st_mode = 0123, .st_size = 1};
    struct fs_entry entry;
    struct stat attr;
    fs_file file;
    char target[64];
    stage_write("file", "text");
    ck_assert_int_eq(mkdirat(stage.fd, "directory", 0755), 0);
    fs_ino ino = make_symlink(targets[_i]);
    ck_assert_uint_eq(stage_look_up("symlink").ino, ino);
    ck_assert_int_eq(STAGE(readlink, ino, target, sizeof(target)), 0);
    ck_assert_str_eq(target, targets[_i]);
    ck_assert_int_eq(STAGE(getattr, ino, FS_NO_FILE, &attr), 0);
    ck_assert(S_ISLNK(attr.st_mode));
    ck_assert_int_eq(STAGE(open, ino, O_RDONLY, &file), -ENXIO);
    ck_assert_int_eq(STAGE(opendir, ino, &file), -ENXIO);
    ck_assert_int_eq(STAGE(lookup, ino, "file", &entry), -ENOTDIR);
    ck_assert_int_eq(STAGE(setattr, ino, FS_NO_FILE, &wanted, FS_SET_SIZE, &attr), -EINVAL);
    ck_assert_int_eq(STAGE(setattr, ino, FS_NO_FILE, &wanted, FS_SET_MODE, &attr), -EOPNOTSUPP);
    ck_assert_str_eq(stage_text("file"), "text");
    ck_assert_uint_eq(stage_stat("file").st_mode, S_IFREG | 0644);
    ck_assert_uint_eq(stage_stat("directory").st_mode, S_IFDIR | 0755);
}

TEST(times_of_a_symlink_are_its_own) {
    const struct stat wanted = {.st_mtim = {.tv_sec = 1009, .tv_nsec = 7}};
    struct stat attr;
    stage_write("file", "");
    fs_ino ino = make_symlink("file");
    ck_assert_int_eq(STAGE(setattr, ino, FS_NO_FILE, &wanted, FS_SET_MTIME, &attr), 0);
    ck_assert_int_eq(attr.st_mtim.tv_sec, 1009);
    ck_assert_int_eq(stage_stat("symlink").st_mtim.tv_sec, 1009);
    ck_assert_int_ne(stage_stat("file").st_mtim.tv_sec, 1009);
}

TEST(hard_link_to_a_symlink_is_a_symlink) {
    struct fs_entry linked;
    stage_write("file", "");
    fs_ino ino = make_symlink("file");
    ck_assert_int_eq(STAGE(link, ino, FS_ROOT_INO, "linked", &linked), 0);
    ck_assert_uint_eq(linked.ino, ino);
    ck_assert_uint_eq(stage_stat("linked").st_ino, stage_stat("symlink").st_ino);
    ck_assert_uint_eq(stage_stat("file").st_nlink, 1);
}

TEST(target_that_does_not_fit_is_an_error) {
    char target[8];
    fs_ino ino = make_symlink("12345678");
    ck_assert_int_eq(STAGE(readlink, ino, target, sizeof(target)), -ENAMETOOLONG);
}

/* ---- What a name leads to from one moment to the next ---- */

#define EXCHANGED_LOOKUPS 20011

struct exchange {
    bool is_over; /* atomic */
};

static void *exchange_names(void *argument) {
    const struct exchange *exchange = argument;
    while (!__atomic_load_n(&exchange->is_over, __ATOMIC_RELAXED))
        syscall(SYS_renameat2, stage.fd, "one", stage.fd, "other", RENAME_EXCHANGE);
    return NULL;
}

/* An entry is the one file or the other, whole: what is found by its number later has the attributes that it told. */
TEST(name_that_changes_its_file_gives_one_of_them) {
    struct exchange exchange = {false};
    pthread_t thread;
    unsigned found[2] = {0};
    stage_write("one", "1");
    stage_write("other", "22");
    ino_t numbers[2] = {stage_stat("one").st_ino, stage_stat("other").st_ino};
    ck_assert_int_eq(0, pthread_create(&thread, NULL, exchange_names, &exchange));
    for (int i = 0; i < EXCHANGED_LOOKUPS; i++) {
        struct stat attr;
        struct fs_entry entry = stage_look_up("one");
        bool is_other = entry.attr.st_ino == numbers[1];
        ck_assert_int_eq(0, STAGE(getattr, entry.ino, FS_NO_FILE, &attr));
        ck_assert_uint_eq(numbers[is_other], entry.attr.st_ino);
        ck_assert_uint_eq(entry.attr.st_ino, attr.st_ino);
        ck_assert_int_eq(is_other ? 2 : 1, attr.st_size);
        found[is_other]++;
    }
    __atomic_store_n(&exchange.is_over, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    ck_assert_uint_gt(found[0], 0);
    ck_assert_uint_gt(found[1], 0);
}

/* As file systems write them; and those that are not known, with another type or size. */
static const struct {
    long fs_type;
    int type;
    unsigned bytes;
    uint32_t words[5];
    ino_t number; /* 0: not known */
} handles[] = {
    {EXT4_SUPER_MAGIC, 1, 8, {0x12345, 7}, 0x12345},
    {TMPFS_MAGIC, 1, 12, {7, 0x12345, 3}, UINT64_C(0x300012345)},
    {XFS_SUPER_MAGIC, 1, 8, {0x12345, 7}, 0x12345},
    {XFS_SUPER_MAGIC, 0x81, 12, {0x12345, 3, 7}, UINT64_C(0x300012345)},
    {BTRFS_SUPER_MAGIC, 0x4d, 20, {0x12345, 3, 256, 0, 7}, UINT64_C(0x300012345)},
    {EXT4_SUPER_MAGIC, 2, 8, {0x12345, 7}, 0},
    {EXT4_SUPER_MAGIC, 1, 12, {0x12345, 7}, 0},
    {NFS_SUPER_MAGIC, 1, 8, {0x12345, 7}, 0},
};

TEST(number_is_found_in_handles_that_are_known, .to = (int)ARRAY_SIZE(handles)) {
    union {
        struct file_handle head;
        unsigned char bytes[sizeof(struct file_handle) + sizeof(handles[0].words)];
    } handle = {.head = {.handle_bytes = handles[_i].bytes, .handle_type = handles[_i].type}};
    ino_t number = 0;
    memcpy(handle.head.f_handle, handles[_i].words, sizeof(handles[_i].words));
    ck_assert_int_eq(handles[_i].number != 0, handle_number(handles[_i].fs_type, &handle.head, &number));
    ck_assert_uint_eq(handles[_i].number, number);
}

/* ---- Run ---- */
