/* Where profiles are saved: settled at the start, whatever becomes of the current directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "profile_target.h"
#include "said.h"
#include "testing.h"

static char directory[64];
static struct profile_target target;

static void set_up(void) {
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof(directory), "%.32s/test-target-XXXXXX", temporary ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    umask(027);
    said_listen();
}

static const char *const names_made[] = {"inner/saved", "inner",   "osprof.out", "osprof.out.old",
                                         "saved",       "symlink", "fifo"};

static void tear_down(void) {
    profile_target_finish(&target);
    ck_assert_int_eq(chdir(directory), 0);
    for (size_t i = 0; i < ARRAY_SIZE(names_made); i++)
        remove(names_made[i]);
    ck_assert_int_eq(rmdir(directory), 0); /* no temporary file is left */
}

static void settle(const char *file, bool foreground) {
    int status = profile_target_init(&target, file, foreground);
    ck_assert_msg(status == 0 && said_lines() == 0, "%d: %s", status, said());
    ck_assert_int_eq(chdir("/"), 0); /* as daemons do */
}

static int save(const char *text) {
    const struct control_text saved = {.text = (char *)(uintptr_t)text, .size_bytes = strlen(text)};
    return profile_target_save(&target, &saved);
}

static int save_as(const char *file, dev_t own_device) {
    const struct control_text saved = {.text = (char[]){"elsewhere"}, .size_bytes = 9};
    return profile_target_save_as(&target, file, own_device, &saved);
}

static mode_t mode_of(const char *name) {
    struct stat attr;
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    ck_assert_int_eq(stat(path, &attr), 0);
    return attr.st_mode & 07777;
}

static const char *text_of(const char *name) {
    static char text[256];
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    CLEANUP_FD int fd = open(path, O_RDONLY);
    ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
    ssize_t size_bytes = read(fd, text, sizeof(text) - 1);
    text[size_bytes < 0 ? 0 : size_bytes] = '\0';
    return text;
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(default_is_a_file_where_one_started_that_keeps_the_older_one) {
    struct stat attr;
    settle(NULL, false);
    ck_assert_int_eq(save("first"), 0);
    profile_target_finish(&target);
    ck_assert_int_eq(chdir(directory), 0);
    settle(NULL, false);
    ck_assert_int_eq(save("second"), 0);
    ck_assert_int_eq(save("third"), 0); /* replaces its own */
    ck_assert_str_eq(text_of("osprof.out"), "third");
    ck_assert_str_eq(text_of("osprof.out.old"), "first");
    ck_assert_int_eq(chdir(directory), 0);
    ck_assert_int_eq(stat("osprof.out", &attr), 0);
    ck_assert_uint_eq(attr.st_mode, S_IFREG | 0640);
}

TEST(text_with_paths_is_for_its_owner_alone) {
    const struct control_text private = {.text = (char[]){"private"}, .size_bytes = 7, .has_paths = true};
    settle(NULL, false);
    ck_assert_int_eq(save("public"), 0);
    ck_assert_int_eq(profile_target_save(&target, &private), 0);
    ck_assert_uint_eq(mode_of("osprof.out"), 0600); /* though it replaces one for others */
    ck_assert_int_eq(profile_target_save_as(&target, "saved", 0, &private), 0);
    ck_assert_uint_eq(mode_of("saved"), 0600);
    profile_target_finish(&target);
    ck_assert_int_eq(chdir(directory), 0);
    settle(NULL, false);
    ck_assert_int_eq(save("public"), 0);
    ck_assert_uint_eq(mode_of("osprof.out"), 0640);
    ck_assert_uint_eq(mode_of("osprof.out.old"), 0600);
}

TEST(file_may_be_named, .to = 2) {
    ck_assert_int_eq(mkdir("inner", 0755), 0);
    settle("inner/saved", _i);
    ck_assert_int_eq(save("first"), 0);
    ck_assert_int_eq(save("second"), 0);
    ck_assert_str_eq(text_of("inner/saved"), "second");
    ck_assert_ptr_nonnull(strstr(target.shown, "inner/saved"));
}

/* Settles on standard output while that is memory without a name, whose descriptor this returns. */
static int settle_on_memory(const char *file, bool foreground) {
    int memory_fd = memfd_create("stdout", MFD_CLOEXEC);
    ck_assert_int_eq(dup2(memory_fd, STDOUT_FILENO), STDOUT_FILENO);
    settle(file, foreground);
    close(STDOUT_FILENO); /* what was opened stays open */
    return memory_fd;
}

/* "-", and the foreground's default */
TEST(standard_output_is_written_to, .to = 2) {
    char text[16] = "";
    int memory_fd = settle_on_memory(_i ? "-" : NULL, true);
    ck_assert_int_eq(save("profile"), 0);
    ck_assert_int_eq(pread(memory_fd, text, sizeof(text), 0), 7);
    ck_assert_str_eq(text, "profile");
    close(memory_fd);
}

/* As osprof run does it: memory that nobody else can open */
TEST(what_nobody_can_read_any_more_is_not_saved) {
    int memory_fd = settle_on_memory("-", true);
    ck_assert_int_eq(target.reader, getppid());
    target.reader = 1 << 30; /* no process has such a number */
    ck_assert_int_eq(save("# osprof 1\nOP_READ 1 1000\n 0 9 1\n"), -EPIPE);
    ck_assert_int_eq(save("# osprof 1\n# layer: fs\n"), 0); /* nothing to lose */
    ck_assert_int_eq(lseek(memory_fd, 0, SEEK_END), 0);
    close(memory_fd);
}

TEST(unnamed_file_outlives_who_starts_a_background) {
    int memory_fd = settle_on_memory("-", false);
    ck_assert_int_eq(target.reader, 0);
    close(memory_fd);
}

TEST(fifo_with_a_reader_is_written_to) {
    char text[16] = "";
    ck_assert_int_eq(mkfifo("fifo", 0600), 0);
    ck_assert_int_eq(profile_target_init(&target, "fifo", false), -ENXIO); /* nobody reads: told now */
    ck_assert_uint_eq(said_lines(), 1);
    profile_target_finish(&target);
    CLEANUP_FD int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    ck_assert_int_eq(profile_target_init(&target, "fifo", false), 0);
    ck_assert_int_eq(save("profile"), 0);
    ck_assert_int_eq(read(reader, text, sizeof(text)), 7);
}

static const struct {
    const char *file;
    int status;
} bad_files[] = {{"missing/saved", -ENOENT}, {"inner", -EISDIR}, {"inner/", -EISDIR}, {"", -EINVAL}, {"/", -EISDIR}};

TEST(place_that_cannot_work_is_told_at_the_start, .to = (int)ARRAY_SIZE(bad_files)) {
    ck_assert_int_eq(mkdir("inner", 0755), 0);
    ck_assert_int_eq(profile_target_init(&target, bad_files[_i].file, false), bad_files[_i].status);
    ck_assert_uint_eq(said_lines(), 1);
    ck_assert_ptr_nonnull(strstr(said(), "profile="));
}

TEST(directory_that_must_not_be_written_is_told_at_the_start) {
    ck_assert_int_eq(mkdir("inner", 0555), 0);
    ck_assert_int_eq(chmod(directory, 0755), 0);
    bool is_root = geteuid() == 0;
    if (is_root)
        ck_assert_int_eq(seteuid(65534), 0);
    int status = profile_target_init(&target, "inner/saved", false);
    if (is_root)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(status, -EACCES);
    ck_assert_uint_eq(said_lines(), 1);
}

TEST(another_file_is_relative_to_the_start) {
    ck_assert_int_eq(mkdir("inner", 0755), 0);
    settle(NULL, false);
    ck_assert_int_eq(save_as("saved", 0), 0);
    ck_assert_str_eq(text_of("saved"), "elsewhere");
    ck_assert_int_eq(save_as("inner//saved", 0), 0);
    ck_assert_str_eq(text_of("inner/saved"), "elsewhere");
    ck_assert_int_eq(save_as("inner/../saved", 0), 0);
    ck_assert_int_eq(save_as("inner/", 0), -EISDIR);
    ck_assert_int_eq(save_as("inner/..", 0), -EISDIR);
    ck_assert_int_eq(save_as("missing/saved", 0), -ENOENT);
}

TEST(other_file_lies_neither_behind_a_symlink_nor_in_the_own_mount) {
    struct stat attr;
    ck_assert_int_eq(mkdir("inner", 0755), 0);
    ck_assert_int_eq(stat("inner", &attr), 0);
    ck_assert_int_eq(symlink("inner", "symlink"), 0);
    settle(NULL, false);
    int status = save_as("symlink/saved", 0);
    ck_assert(status == -ELOOP || status == -ENOTDIR);
    ck_assert_int_eq(save_as("inner/saved", attr.st_dev), -ELOOP);
    ck_assert_int_eq(save_as("inner/saved", attr.st_dev + 1), 0);
}

static int open_new(const char *file, const char *expected_name) {
    CLEANUP_FD int dir_fd = -1;
    const char *name = NULL;
    int err = profile_target_open_new(&target, file, 0, &dir_fd, &name);
    if (err == 0)
        ck_assert_str_eq(name, expected_name);
    return err;
}

/* The names of the final profile, and of the older profile kept beside it, are busy: both would be overwritten. */
TEST(new_file_is_neither_there_nor_where_the_final_profile_goes) {
    ck_assert_int_eq(mkdir("inner", 0755), 0);
    ck_assert_int_eq(symlink("nowhere", "saved"), 0);
    settle(NULL, false);
    ck_assert_int_eq(open_new("span", "span"), 0);
    ck_assert_int_eq(open_new("inner/osprof.out", "osprof.out"), 0);
    ck_assert_int_eq(open_new("osprof.out", NULL), -EBUSY);
    ck_assert_int_eq(open_new("inner/../osprof.out", NULL), -EBUSY);
    ck_assert_int_eq(open_new("osprof.out.old", NULL), -EBUSY);
    ck_assert_int_eq(open_new("osprof.out.older", "osprof.out.older"), 0);
    ck_assert_int_eq(open_new("inner", NULL), -EEXIST);
    ck_assert_int_eq(open_new("saved", NULL), -EEXIST);
    ck_assert_int_eq(open_new("missing/span", NULL), -ENOENT);
    ck_assert_int_eq(open_new("inner/", NULL), -EISDIR);
}
