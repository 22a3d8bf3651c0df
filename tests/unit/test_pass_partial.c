/* The pass layer above a file system that reads and writes less than it is asked for, and then fails. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"
#include "stage.h"

/* What the next calls of pread() and pwrite() do, one after the other; behind the last they are the system's. */
struct part {
    size_t size_bytes; /* moves so many at most; 0: fails */
    int error;
};

static const struct part *parts;

static bool take_part(size_t *size_bytes) {
    if (!parts || (parts->size_bytes == 0 && parts->error == 0))
        return true;
    const struct part *part = parts++;
    if (*size_bytes > part->size_bytes)
        *size_bytes = part->size_bytes;
    errno = part->error;
    return part->size_bytes > 0;
}

/* In place of the C library's. */
/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library names them otherwise */
ssize_t pwrite(int fd, const void *data, size_t size_bytes, off_t offset) {
    return take_part(&size_bytes) ? syscall(SYS_pwrite64, fd, data, size_bytes, offset) : -1;
}

static unsigned reads_done;

ssize_t pread(int fd, void *data, size_t size_bytes, off_t offset) {
    reads_done++;
    return take_part(&size_bytes) ? syscall(SYS_pread64, fd, data, size_bytes, offset) : -1;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

#define TEXT "abcdefghij"
#define TEXT_BYTES (sizeof(TEXT) - 1)

static int write_parts(const struct part *wanted, unsigned flags, size_t *ret_written_bytes) {
    stage_write("file", "");
    struct stage_file open = stage_open("file", O_RDWR);
    parts = wanted;
    int status = STAGE(write, open.ino, open.file, TEXT, TEXT_BYTES, 0, O_RDWR | flags, ret_written_bytes);
    parts = NULL;
    stage_close(open);
    return status;
}

/* ---- From the page cache ---- */

STAGE_CASE();

TEST(page_cache_is_written_whole_in_parts) {
    static const struct part wanted[] = {{3, 0}, {0, EINTR}, {1, 0}, {0, EINTR}, {0, EINTR}, {4, 0}, {0, 0}};
    size_t written_bytes = 0;
    ck_assert_int_eq(write_parts(wanted, FS_WRITE_FROM_CACHE, &written_bytes), 0);
    ck_assert_uint_eq(written_bytes, TEXT_BYTES);
    ck_assert_str_eq(stage_text("file"), TEXT);
}

static const int errors[] = {ENOSPC, EDQUOT, EFBIG, EIO};

TEST(error_behind_a_part_is_the_answer_to_the_page_cache, .to = (int)ARRAY_SIZE(errors)) {
    const struct part wanted[] = {{3, 0}, {0, errors[_i]}, {0, 0}};
    size_t written_bytes = 4711;
    ck_assert_int_eq(write_parts(wanted, FS_WRITE_FROM_CACHE, &written_bytes), -errors[_i]);
    ck_assert_uint_eq(written_bytes, 4711);
}

TEST(signal_ends_a_write_back_while_the_mount_ends) {
    static const struct part wanted[] = {{3, 0}, {0, EINTR}, {0, 0}};
    size_t written_bytes = 0;
    pass_end(stage.pass);
    ck_assert_int_eq(write_parts(wanted, FS_WRITE_FROM_CACHE, &written_bytes), -EINTR);
}

/* ---- From and for programs ---- */

TEST(program_is_told_of_a_part) {
    static const struct part wanted[] = {{3, 0}, {0, ENOSPC}, {0, 0}};
    size_t written_bytes = 0;
    ck_assert_int_eq(write_parts(wanted, 0, &written_bytes), 0);
    ck_assert_uint_eq(written_bytes, 3);
    ck_assert_str_eq(stage_text("file"), "abc");
}

#define PAGE 4096
#define FILE_BYTES (3 * PAGE + 5)

/* Of a file of three pages and a little. */
static int read_parts(const struct part *wanted, size_t *ret_read_bytes) {
    static char text[FILE_BYTES + 1], found[4 * PAGE];
    struct fs_read_into into = {.memory = found, .pipe_fd = -1};
    memset(text, 'a', FILE_BYTES);
    memset(text + PAGE, 'b', PAGE);
    stage_write("file", text);
    struct stage_file open = stage_open("file", O_RDONLY);
    parts = wanted;
    reads_done = 0;
    int status = STAGE(read, open.ino, open.file, &into, sizeof(found), 0, ret_read_bytes);
    parts = NULL;
    stage_close(open);
    if (status == 0)
        ck_assert_mem_eq(found, text, *ret_read_bytes);
    return status;
}

TEST(read_in_parts_is_whole) {
    static const struct part wanted[] = {{PAGE, 0}, {PAGE, 0}, {0, 0}};
    size_t read_bytes = 0;
    ck_assert_int_eq(read_parts(wanted, &read_bytes), 0);
    ck_assert_uint_eq(read_bytes, FILE_BYTES);
    ck_assert_uint_eq(reads_done, 3);
}

TEST(end_of_a_file_is_not_asked_for_twice) {
    static const struct part wanted[] = {{0, 0}};
    size_t read_bytes = 0;
    ck_assert_int_eq(read_parts(wanted, &read_bytes), 0);
    ck_assert_uint_eq(read_bytes, FILE_BYTES);
    ck_assert_uint_eq(reads_done, 1);
}

/* A short answer would say that the file ends there. */
TEST(error_behind_a_part_that_was_read_is_the_answer, .to = 2) {
    static const int read_errors[] = {EIO, EINTR};
    const struct part wanted[] = {{PAGE, 0}, {0, read_errors[_i]}, {0, 0}};
    size_t read_bytes = 0;
    ck_assert_int_eq(read_parts(wanted, &read_bytes), -read_errors[_i]);
}
