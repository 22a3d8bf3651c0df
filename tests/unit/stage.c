/* Setting the stage, and striking it. */
#include "stage.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct stage stage;

static char base[64]; /* has the directories of all tests, so that one call also removes the files of failed tests */

/* ---- Directories ---- */

void stage_make_base(void) {
    const char *temporary = getenv("TMPDIR");
    snprintf(base, sizeof(base), "%.32s/test-pass-XXXXXX", temporary ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(base));
    ck_assert_int_eq(chmod(base, 0755), 0); /* other users come here too */
}

static int remove_one(const char *path, const struct stat *attr, int type, struct FTW *walk) {
    (void)attr, (void)type, (void)walk;
    return remove(path);
}

/* An own directory that cannot be listed would stay. */
static int allow_one(const char *path, const struct stat *attr, int type, struct FTW *walk) {
    (void)attr, (void)walk;
    return type == FTW_D || type == FTW_DNR ? chmod(path, 0700) : 0;
}

void stage_remove_base(void) {
    nftw(base, allow_one, 16, FTW_PHYS | FTW_MOUNT);
    nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* ---- The layer ---- */

static void start(bool check_as_caller, size_t forgotten_inodes_max) {
    const struct pass_options options = {
        .root_fd = open(stage.path, O_PATH | O_DIRECTORY | O_CLOEXEC),
        .check_as_caller = check_as_caller,
        .forgotten_inodes_max = forgotten_inodes_max,
    };
    ck_assert_int_ge(options.root_fd, 0);
    stage.fd = open(stage.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(stage.fd, 0);
    ck_assert_int_eq(pass_create(&options, &stage.pass), 0);
    stage.layer = pass_layer(stage.pass);
}

void stage_set_up(void) {
    stage.self = (struct fs_caller){.uid = geteuid(), .gid = getegid(), .pid = getpid(), .umask = 022};
    snprintf(stage.path, sizeof(stage.path), "%s/lower-XXXXXX", base);
    ck_assert_ptr_nonnull(mkdtemp(stage.path));
    ck_assert_int_eq(chmod(stage.path, 0755), 0);
    start(false, 1000);
}

void stage_tear_down(void) {
    pass_destroy(stage.pass);
    close_fd(&stage.fd);
}

void stage_restart(bool check_as_caller, size_t forgotten_inodes_max) {
    stage_tear_down();
    start(check_as_caller, forgotten_inodes_max);
}

bool stage_has_handles(void) {
    return mount_table_get(&stage.pass->mounts, 0)->fd >= 0;
}

bool stage_is_root(const char *skipped) {
    if (geteuid() == 0)
        return true;
    fprintf(stderr, "skipped, needs root: %s\n", skipped);
    return false;
}

/* ---- Files ---- */

void stage_write(const char *name, const char *text) {
    CLEANUP_FD int fd = openat(stage.fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write_all(fd, text, strlen(text)), 0);
}

const char *stage_text(const char *name) {
    static char text[16384];
    CLEANUP_FD int fd = openat(stage.fd, name, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ssize_t size_bytes = read(fd, text, sizeof(text) - 1);
    ck_assert_int_ge(size_bytes, 0);
    text[size_bytes] = '\0';
    return text;
}

struct stat stage_stat(const char *name) {
    struct stat attr;
    ck_assert_int_eq(fstatat(stage.fd, name, &attr, AT_SYMLINK_NOFOLLOW), 0);
    return attr;
}

struct fs_entry stage_look_up_in(fs_ino parent, const char *name) {
    struct fs_entry entry;
    ck_assert_int_eq(STAGE(lookup, parent, name, &entry), 0);
    return entry;
}

struct fs_entry stage_look_up(const char *name) {
    return stage_look_up_in(FS_ROOT_INO, name);
}

struct stage_file stage_open(const char *name, int flags) {
    struct stage_file open = {.ino = stage_look_up(name).ino};
    ck_assert_int_eq(STAGE(open, open.ino, flags, &open.file), 0);
    return open;
}

void stage_close(struct stage_file open) {
    ck_assert_int_eq(STAGE(release, open.ino, open.file), 0);
}

uint64_t stage_lookup_count(fs_ino ino) {
    return inode_table_get(stage.pass->inodes, ino)->lookup_count;
}

size_t stage_inodes_known(void) {
    size_t inodes;
    size_t path_fds;
    inode_table_count(stage.pass->inodes, &inodes, &path_fds);
    return inodes;
}
