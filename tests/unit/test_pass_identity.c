/* The pass layer acting as its callers, and lower mounts. All of it needs root: nobody else can act as others. */
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base.h"
#include "stage.h"

static size_t entry_count; /* of the latest listing */

#define OTHER 65534U
#define GROUP 4242U

static struct fs_caller other; /* an ordinary user without supplementary groups */

static void set_up(void) {
    stage_set_up();
    other = (struct fs_caller){.uid = OTHER, .gid = OTHER, .umask = 022};
}

/* A directory below that its group may write to. */
static fs_ino make_directory(const char *name, mode_t mode, gid_t gid) {
    ck_assert_int_eq(mkdirat(stage.fd, name, 0700), 0);
    ck_assert_int_eq(fchownat(stage.fd, name, 0, gid, 0), 0);
    ck_assert_int_eq(fchmodat(stage.fd, name, mode, 0), 0);
    return stage_look_up(name).ino;
}

static void make_file(const char *name, mode_t mode, uid_t uid, gid_t gid) {
    stage_write(name, "text");
    ck_assert_int_eq(fchownat(stage.fd, name, uid, gid, 0), 0);
    ck_assert_int_eq(fchmodat(stage.fd, name, mode, 0), 0);
}

/* ---- Ops by number ---- */

static int do_mknod(fs_ino parent) {
    struct fs_entry entry;
    return STAGE_AS(&other, mknod, parent, "new", S_IFIFO | 0666, 0, &entry);
}

static int do_mkdir(fs_ino parent) {
    struct fs_entry entry;
    return STAGE_AS(&other, mkdir, parent, "new", 0777, &entry);
}

static int do_create(fs_ino parent) {
    struct fs_entry entry;
    fs_file file;
    int status = STAGE_AS(&other, create, parent, "new", 0666, O_WRONLY | O_EXCL, &entry, &file);
    return status < 0 ? status : STAGE(release, entry.ino, file);
}

static int do_symlink(fs_ino parent) {
    struct fs_entry entry;
    return STAGE_AS(&other, symlink, parent, "new", "target", &entry);
}

static int do_unlink(fs_ino parent) {
    return STAGE_AS(&other, unlink, parent, "file");
}

static int do_rmdir(fs_ino parent) {
    return STAGE_AS(&other, rmdir, parent, "directory");
}

static int do_rename(fs_ino parent) {
    return STAGE_AS(&other, rename, parent, "file", parent, "new");
}

static int do_link(fs_ino parent) {
    struct fs_entry entry;
    return STAGE_AS(&other, link, stage_look_up_in(parent, "file").ino, parent, "new", &entry);
}

typedef int (*do_fn)(fs_ino parent);
enum { MAKING = 4 }; /* the first of them make something new */
static const do_fn ops[] = {do_mknod, do_mkdir, do_create, do_symlink, do_unlink, do_rmdir, do_rename, do_link};
static const mode_t modes_made[MAKING] = {S_IFIFO | 0644, S_IFDIR | 0755, S_IFREG | 0644, S_IFLNK | 0777};

/* A directory with something in it for every op to work on. */
static fs_ino make_playground(mode_t mode, gid_t gid) {
    fs_ino ino = make_directory("playground", mode, gid);
    make_file("playground/file", 0666, OTHER, OTHER);
    ck_assert_int_eq(mkdirat(stage.fd, "playground/directory", 0755), 0);
    ck_assert_int_eq(fchownat(stage.fd, "playground/directory", OTHER, OTHER, 0), 0);
    return ino;
}

/* What this thread is to the kernel. */
static char *thread_identity(void) {
    static const char *const wanted[] = {"Uid:", "Gid:", "Groups:", "CapEff:"};
    char *identity = calloc(1, 8192);
    char line[4096];
    CLEANUP_STREAM FILE *status = fopen("/proc/thread-self/status", "r");
    ck_assert(identity && status);
    while (fgets(line, sizeof(line), status)) {
        for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
            if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
                strncat(identity, line, 8191 - strlen(identity));
        }
    }
    return identity;
}

/* ---- Ownership ---- */

TEST_CASE(.begin = stage_make_base, .end = stage_remove_base, .set_up = set_up, .tear_down = stage_tear_down,
          .seconds = 120);

TEST(what_is_made_belongs_to_the_caller, .to = MAKING) {
    if (!stage_is_root("acting as the caller"))
        return;
    ck_assert_int_eq(ops[_i](make_playground(0777, 0)), 0);
    struct stat attr = stage_stat("playground/new");
    ck_assert_uint_eq(attr.st_uid, OTHER);
    ck_assert_uint_eq(attr.st_gid, OTHER);
    ck_assert_uint_eq(attr.st_mode, modes_made[_i]);
}

TEST(root_with_another_group_makes_files_of_that_group, .to = MAKING) {
    if (!stage_is_root("acting as the caller"))
        return;
    other.uid = 0;
    other.gid = GROUP;
    ck_assert_int_eq(ops[_i](make_playground(0700, 0)), 0);
    ck_assert_uint_eq(stage_stat("playground/new").st_uid, 0);
    ck_assert_uint_eq(stage_stat("playground/new").st_gid, GROUP);
}

TEST(set_group_id_directory_gives_its_group, .to = MAKING) {
    if (!stage_is_root("acting as the caller"))
        return;
    ck_assert_int_eq(ops[_i](make_playground(02777, GROUP)), 0);
    ck_assert_uint_eq(stage_stat("playground/new").st_uid, OTHER);
    ck_assert_uint_eq(stage_stat("playground/new").st_gid, GROUP);
}

TEST(umask_of_the_caller_is_applied, .to = MAKING) {
    if (!stage_is_root("acting as the caller"))
        return;
    other.umask = 0137;
    ck_assert_int_eq(ops[_i](make_playground(0777, 0)), 0);
    if (!S_ISLNK(modes_made[_i]))
        ck_assert_uint_eq(stage_stat("playground/new").st_mode & 0777,
                          (S_ISDIR(modes_made[_i]) ? 0777 : 0666) & ~0137U);
}

TEST(directory_of_others_is_not_changed, .to = (int)ARRAY_SIZE(ops)) {
    if (!stage_is_root("acting as the caller"))
        return;
    ck_assert_int_eq(ops[_i](make_playground(0755, 0)), -EACCES);
}

TEST(sticky_directory_protects_the_files_of_others) {
    if (!stage_is_root("acting as the caller"))
        return;
    fs_ino sticky = make_directory("sticky", 01777, 0);
    make_file("sticky/file", 0666, 0, 0);
    make_file("sticky/own", 0666, OTHER, OTHER);
    ck_assert_int_eq(STAGE_AS(&other, unlink, sticky, "file"), -EPERM);
    ck_assert_int_eq(STAGE_AS(&other, rename, sticky, "file", sticky, "new"), -EPERM);
    ck_assert_int_eq(STAGE_AS(&other, unlink, sticky, "own"), 0);
}

/* ---- Groups ---- */

/* A process of the other user with these supplementary groups, for as long as a test needs its pid. */
static pid_t start_member(const gid_t *groups, size_t count) {
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t member = fork();
    if (member == 0) {
        if (setgroups(count, groups) < 0 || setresuid(OTHER, OTHER, OTHER) < 0 || write(ready[1], "", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return member;
}

static void stop_member(pid_t member) {
    kill(member, SIGKILL);
    waitpid(member, NULL, 0);
}

static const size_t group_counts[] = {1, 2, 255, 256, 257, 3001};

TEST(supplementary_groups_of_the_caller_count, .to = (int)ARRAY_SIZE(group_counts)) {
    static gid_t groups[3001];
    const size_t count = group_counts[_i];
    if (!stage_is_root("supplementary groups"))
        return;
    for (size_t i = 0; i < count; i++)
        groups[i] = (gid_t)(100000 + i);
    groups[count - 1] = 200000; /* as the kernel sorts them: the last */
    pid_t member = start_member(groups, count);
    fs_ino ino = make_playground(0770, 200000);
    other.pid = getpid();
    ck_assert_int_eq(do_mkdir(ino), -EACCES);
    ck_assert_int_eq(STAGE_AS(&other, access, ino, W_OK), -EACCES);
    other.pid = member;
    ck_assert_int_eq(STAGE_AS(&other, access, ino, W_OK), 0);
    ck_assert_int_eq(do_mkdir(ino), 0);
    stop_member(member);
    ck_assert_int_eq(do_unlink(ino), -EACCES); /* a caller who is gone has none */
}

/* ---- Back to oneself ---- */

TEST(thread_is_itself_again_after_every_op, .to = 2 * (int)ARRAY_SIZE(ops)) {
    if (!stage_is_root("acting as the caller"))
        return;
    fs_ino ino = make_playground(_i % 2 ? 0777 : 0755, 0); /* the op succeeds, or fails */
    CLEANUP_FREE char *before = thread_identity();
    ck_assert_int_eq(ops[_i / 2](ino), _i % 2 ? 0 : -EACCES);
    CLEANUP_FREE char *after = thread_identity();
    ck_assert_str_eq(after, before);
}

struct maker {
    pthread_t thread;
    fs_ino parent;
    uid_t uid;
    unsigned wrong;
};

static void *make_files(void *argument) {
    struct maker *maker = argument;
    const struct fs_caller caller = {.uid = maker->uid, .gid = maker->uid, .umask = maker->uid & 077};
    for (unsigned i = 0; i < 199; i++) {
        struct fs_entry entry;
        char name[32];
        snprintf(name, sizeof(name), "%u-%u", maker->uid, i);
        int status = STAGE_AS(&caller, mkdir, maker->parent, name, 0777, &entry);
        maker->wrong += status < 0 || entry.attr.st_uid != maker->uid || entry.attr.st_gid != maker->uid ||
                        (entry.attr.st_mode & 0777) != (0777 & ~caller.umask);
    }
    return NULL;
}

TEST(threads_act_each_as_its_own_caller) {
    struct maker makers[8];
    if (!stage_is_root("acting as the caller"))
        return;
    fs_ino parent = make_directory("directory", 0777, 0);
    for (unsigned i = 0; i < ARRAY_SIZE(makers); i++) {
        makers[i] = (struct maker){.parent = parent, .uid = i * 1009};
        ck_assert_int_eq(pthread_create(&makers[i].thread, NULL, make_files, &makers[i]), 0);
    }
    for (unsigned i = 0; i < ARRAY_SIZE(makers); i++) {
        pthread_join(makers[i].thread, NULL);
        ck_assert_uint_eq(makers[i].wrong, 0);
    }
}

/* ---- Set-id bits ---- */

static mode_t mode_after_write_as(const struct fs_caller *caller) {
    size_t written_bytes;
    make_file("set-id", 06777, 0, 0);
    struct stage_file open = stage_open("set-id", O_WRONLY);
    ck_assert_int_eq(STAGE_AS(caller, write, open.ino, open.file, "x", 1, 0, O_WRONLY, &written_bytes), 0);
    stage_close(open);
    return stage_stat("set-id").st_mode & ALLPERMS;
}

TEST(write_takes_set_id_bits_as_it_would_below) {
    if (!stage_is_root("set-id bits"))
        return;
    ck_assert_uint_eq(mode_after_write_as(&stage.self), 06777);
    ck_assert_uint_eq(mode_after_write_as(&other), 0777);
    ck_assert_uint_eq(mode_after_write_as(&stage.self), 06777);
    ck_assert_uint_eq(mode_after_write_as(&other), 0777);
    ck_assert_int_eq(do_mkdir(make_playground(0777, 0)), 0); /* something else as that caller, in between */
    ck_assert_uint_eq(mode_after_write_as(&other), 0777);
    ck_assert_uint_eq(mode_after_write_as(&stage.self), 06777);
}

/* The mode that a write as the other user leaves of 02666, set-group-id without execution. */
static mode_t locking_mark_after_write(pid_t pid) {
    size_t written_bytes;
    other.pid = pid;
    make_file("mark", 02666, 0, GROUP);
    struct stage_file open = stage_open("mark", O_WRONLY);
    ck_assert_int_eq(STAGE_AS(&other, write, open.ino, open.file, "x", 1, 0, O_WRONLY, &written_bytes), 0);
    stage_close(open);
    return stage_stat("mark").st_mode & ALLPERMS;
}

TEST(members_of_the_group_keep_its_locking_mark) {
    const gid_t group = GROUP;
    if (!stage_is_root("set-id bits"))
        return;
    pid_t member = start_member(&group, 1);
    ck_assert_uint_eq(locking_mark_after_write(0), 0666);
    ck_assert_uint_eq(locking_mark_after_write(member), 02666);
    stop_member(member);
    ck_assert_uint_eq(locking_mark_after_write(member), 0666);
}

TEST(change_of_nothing_takes_set_id_bits_away) {
    const struct stat nothing = {.st_mode = 0};
    struct stat attr;
    if (!stage_is_root("set-id bits"))
        return;
    make_file("program", 06755, OTHER, GROUP);
    ck_assert_int_eq(STAGE_AS(&other, setattr, stage_look_up("program").ino, FS_NO_FILE, &nothing, 0, &attr), 0);
    ck_assert_uint_eq(attr.st_mode, S_IFREG | 0755);
}

TEST(set_id_bits_can_be_set_after_anybodys_write) {
    const struct stat wanted = {.st_mode = 06755};
    struct stat attr;
    if (!stage_is_root("set-id bits"))
        return;
    mode_after_write_as(&other);
    make_file("file", 0644, OTHER, GROUP);
    ck_assert_int_eq(STAGE(setattr, stage_look_up("file").ino, FS_NO_FILE, &wanted, FS_SET_MODE, &attr), 0);
    ck_assert_uint_eq(attr.st_mode, S_IFREG | 06755);
}

/* ---- Who checks ---- */

TEST(lower_file_system_checks_when_the_kernel_does_not) {
    const struct stat wanted = {.st_mode = 0777, .st_uid = OTHER, .st_size = 0};
    struct fs_entry entry;
    struct stat attr;
    fs_file file;
    size_t size_bytes;
    if (!stage_is_root("checking as the caller"))
        return;
    stage_restart(true, 0);
    fs_ino secret = make_directory("secret", 0700, 0);
    make_file("secret/file", 0644, 0, 0);
    make_file("private", 0600, 0, 0);
    fs_ino private = stage_look_up("private").ino;
    ck_assert_int_eq(STAGE_AS(&other, lookup, secret, "file", &entry), -EACCES);
    ck_assert_int_eq(STAGE_AS(&other, opendir, secret, &file), -EACCES);
    ck_assert_int_eq(STAGE_AS(&other, open, private, O_RDONLY, &file), -EACCES);
    ck_assert_int_eq(STAGE_AS(&other, create, FS_ROOT_INO, "private", 0644, O_RDWR, &entry, &file), -EACCES);
    ck_assert_int_eq(STAGE_AS(&other, setattr, private, FS_NO_FILE, &wanted, FS_SET_MODE, &attr), -EPERM);
    ck_assert_int_eq(STAGE_AS(&other, setattr, private, FS_NO_FILE, &wanted, FS_SET_UID, &attr), -EPERM);
    ck_assert_int_eq(STAGE_AS(&other, setattr, private, FS_NO_FILE, &wanted, FS_SET_SIZE, &attr), -EACCES);
    ck_assert_int_eq(STAGE_AS(&other, setattr, private, FS_NO_FILE, &wanted, FS_SET_MTIME, &attr), -EPERM);
    ck_assert_int_eq(
        STAGE_AS(&other, setattr, private, FS_NO_FILE, &wanted, FS_SET_ATIME_NOW | FS_SET_MTIME_NOW, &attr), -EACCES);
    ck_assert_int_eq(STAGE_AS(&other, setxattr, private, "user.key", "x", 1, 0), -EACCES);
    ck_assert_int_eq(STAGE_AS(&other, getxattr, private, "user.key", NULL, 0, &size_bytes), -EACCES);
    ck_assert_int_eq(STAGE_AS(&other, removexattr, private, "user.key"), -EACCES);
    ck_assert_uint_eq(stage_stat("private").st_mode, S_IFREG | 0600);
    ck_assert_str_eq(stage_text("private"), "text");
}

/* ACLs of other kinds than POSIX's nobody else checks, so all go the same way. */
TEST(attributes_of_the_system_are_set_as_the_caller) {
    static const unsigned char owner_only[] = {2, 0,    0,    0,    1,    0,    6, 0, 0xff, 0xff, 0xff, 0xff, 4,   0, 0,
                                               0, 0xff, 0xff, 0xff, 0xff, 0x20, 0, 0, 0,    0xff, 0xff, 0xff, 0xff};
    const char *const name = "system.posix_acl_access";
    if (!stage_is_root("acting as the caller"))
        return;
    make_file("file", 0644, 0, 0);
    fs_ino ino = stage_look_up("file").ino;
    int status = STAGE(setxattr, ino, name, owner_only, sizeof(owner_only), 0);
    if (status == -EOPNOTSUPP)
        return; /* a file system without ACLs */
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(STAGE_AS(&other, setxattr, ino, name, owner_only, sizeof(owner_only), 0), -EPERM);
    ck_assert_int_eq(STAGE_AS(&other, removexattr, ino, name), -EPERM);
}

TEST(lower_file_system_lets_the_owner_in) {
    const struct stat wanted = {.st_mode = 0640, .st_size = 2};
    struct stat attr;
    fs_file file;
    if (!stage_is_root("checking as the caller"))
        return;
    stage_restart(true, 0);
    make_file("own", 0600, OTHER, OTHER);
    fs_ino own = stage_look_up("own").ino;
    ck_assert_int_eq(STAGE_AS(&other, open, own, O_RDWR, &file), 0);
    ck_assert_int_eq(STAGE(release, own, file), 0);
    ck_assert_int_eq(STAGE_AS(&other, setattr, own, FS_NO_FILE, &wanted, FS_SET_MODE | FS_SET_SIZE, &attr), 0);
    ck_assert_uint_eq(attr.st_mode, S_IFREG | 0640);
    ck_assert_str_eq(stage_text("own"), "te");
}

TEST(what_the_kernel_has_checked_is_done) {
    const struct stat wanted = {.st_mode = 0644};
    struct fs_entry entry;
    struct stat attr;
    fs_file file;
    if (!stage_is_root("acting as the caller"))
        return;
    fs_ino secret = make_directory("secret", 0700, 0);
    make_file("secret/file", 0600, 0, 0);
    ck_assert_int_eq(STAGE_AS(&other, lookup, secret, "file", &entry), 0);
    ck_assert_int_eq(STAGE_AS(&other, open, entry.ino, O_RDONLY, &file), 0);
    ck_assert_int_eq(STAGE(release, entry.ino, file), 0);
    ck_assert_int_eq(STAGE_AS(&other, setattr, entry.ino, FS_NO_FILE, &wanted, FS_SET_MODE, &attr), 0);
    ck_assert_int_eq(STAGE_AS(&other, access, entry.ino, R_OK), 0); /* but ACCESS asks about the caller */
    ck_assert_int_eq(STAGE_AS(&other, access, entry.ino, W_OK), -EACCES);
}

/* ---- Lower mounts ---- */

/* Mounts a tmpfs on "mounted" below, in a mount namespace of this test's own. False if that is not allowed here. */
static bool mount_below(void) {
    char path[160];
    snprintf(path, sizeof(path), "%s/mounted", stage.path);
    ck_assert_int_eq(mkdirat(stage.fd, "mounted", 0755), 0);
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, "") < 0 ||
        mount("tmpfs", path, "tmpfs", 0, "mode=0777,size=1m") < 0) {
        fprintf(stderr, "skipped, mounting is not allowed here: lower mounts\n");
        return false;
    }
    stage_restart(false, 1000); /* descriptors from before lead to the old namespace */
    return true;
}

TEST(lower_mounts_are_entered_and_their_inodes_told_apart) {
    struct fs_entry entry;
    if (!stage_is_root("lower mounts") || !mount_below())
        return;
    struct fs_entry mounted = stage_look_up("mounted");
    struct stat below = stage_stat("mounted");
    ck_assert_uint_ne(below.st_dev, stage_stat(".").st_dev);
    ck_assert_uint_eq(mounted.attr.st_dev, below.st_dev);
    ck_assert_uint_ne(mounted.attr.st_ino, below.st_ino); /* which may be a number of the outer file system too */
    ck_assert_uint_eq(mounted.attr.st_ino & 0xffffffffffff, below.st_ino);
    stage_write("mounted/file", "text");
    entry = stage_look_up_in(mounted.ino, "file");
    ck_assert_int_eq(entry.attr.st_size, 4);
    ck_assert_uint_eq(stage_look_up_in(mounted.ino, "..").ino, FS_ROOT_INO);
    ck_assert_int_eq(STAGE(rename, mounted.ino, "file", FS_ROOT_INO, "file"), -EXDEV);
    ck_assert_int_eq(STAGE(link, entry.ino, FS_ROOT_INO, "file", &entry), -EXDEV);
}

static bool count_entry(void *context, const struct fs_dirent *dirent) {
    unsigned *entries = context;
    *entries += dirent->entry != NULL;
    return true;
}

TEST(path_into_the_own_mount_is_a_loop) {
    struct fs_entry entry;
    fs_file file;
    unsigned entries = 0;
    if (!stage_is_root("lower mounts") || !mount_below())
        return;
    pass_set_own_device(stage.pass, stage_stat("mounted").st_dev);
    ck_assert_int_eq(STAGE(lookup, FS_ROOT_INO, "mounted", &entry), -ELOOP);
    ck_assert_int_eq(STAGE(opendir, FS_ROOT_INO, &file), 0);
    ck_assert_int_eq(STAGE(readdirplus, FS_ROOT_INO, file, 0, count_entry, &entries, &entry_count), 0);
    ck_assert_uint_eq(entries, 0); /* its name is listed, bare */
    ck_assert_int_eq(STAGE(releasedir, FS_ROOT_INO, file), 0);
    ck_assert_uint_eq(stage_inodes_known(), 1);
}

TEST(mount_is_held_by_handles_whoever_meets_it_first) {
    struct fs_entry entry;
    if (!stage_is_root("lower mounts") || !mount_below())
        return;
    stage_restart(true, 0);
    ck_assert_int_eq(STAGE_AS(&other, lookup, FS_ROOT_INO, "mounted", &entry), 0);
    const struct inode *inode = inode_table_get(stage.pass->inodes, entry.ino);
    ck_assert_int_ge(mount_table_get(&stage.pass->mounts, inode->mount_index)->fd, 0);
}

/* ---- Run ---- */
