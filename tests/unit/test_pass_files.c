/* The pass layer's open files: data, appending, direct access, attributes, extended attributes, running out. */
#include <errno.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base.h"
#include "stage.h"

static size_t write_at(struct stage_file open, const char *text, off_t offset, unsigned flags) {
    size_t written_bytes = 0;
    ck_assert_int_eq(STAGE(write, open.ino, open.file, text, strlen(text), offset, flags, &written_bytes), 0);
    return written_bytes;
}

static const char *read_at(struct stage_file open, size_t size_bytes, off_t offset) {
    static char text[4096];
    size_t read_bytes = 0;
    ck_assert_uint_lt(size_bytes, sizeof(text));
    struct fs_read_into into = {.memory = text, .pipe_fd = -1};
    ck_assert_int_eq(STAGE(read, open.ino, open.file, &into, size_bytes, offset, &read_bytes), 0);
    text[read_bytes] = '\0';
    return text;
}

/* ---- Data ---- */

STAGE_CASE();

TEST(what_is_written_is_read) {
    stage_write("file", "");
    struct stage_file open = stage_open("file", O_RDWR);
    ck_assert_uint_eq(write_at(open, "abcdef", 0, O_RDWR), 6);
    ck_assert_uint_eq(write_at(open, "XY", 2, O_RDWR), 2);
    ck_assert_str_eq(read_at(open, 100, 0), "abXYef");
    ck_assert_str_eq(read_at(open, 2, 1), "bX");
    ck_assert_str_eq(read_at(open, 100, 6), "");
    ck_assert_str_eq(read_at(open, 100, 4711), "");
    ck_assert_int_eq(STAGE(fsync, open.ino, open.file, false), 0);
    ck_assert_int_eq(STAGE(fsync, open.ino, open.file, true), 0);
    ck_assert_int_eq(STAGE(flush, open.ino, open.file, 1), 0);
    stage_close(open);
    ck_assert_str_eq(stage_text("file"), "abXYef");
}

/* ---- Data through a pipe ---- */

#define PIPED_BYTES 200003

static char piped[PIPED_BYTES + 1];

/* Reads the file "piped" of that many bytes through a pipe of that capacity. */
static struct fs_read_into read_piped(int ends[2], int capacity_bytes, size_t size_bytes, off_t offset,
                                      size_t *ret_read_bytes) {
    for (size_t i = 0; i < PIPED_BYTES; i++)
        piped[i] = (char)('a' + i % 23);
    stage_write("piped", piped);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_ge(fcntl(ends[1], F_SETPIPE_SZ, capacity_bytes), capacity_bytes);
    memset(piped, 0, sizeof(piped));
    struct fs_read_into into = {.memory = piped, .pipe_fd = ends[1]};
    struct stage_file open = stage_open("piped", O_RDONLY);
    ck_assert_int_eq(STAGE(read, open.ino, open.file, &into, size_bytes, offset, ret_read_bytes), 0);
    stage_close(open);
    close(ends[1]);
    return into;
}

static void check_content(const char *content, size_t size_bytes, size_t offset) {
    for (size_t i = 0; i < size_bytes; i++)
        ck_assert_int_eq(content[i], 'a' + (char)((offset + i) % 23));
}

static void read_all(int fd, char *content, size_t size_bytes) {
    for (size_t done_bytes = 0; done_bytes < size_bytes;) {
        ssize_t read_bytes = read(fd, content + done_bytes, size_bytes - done_bytes);
        ck_assert_int_gt(read_bytes, 0);
        done_bytes += (size_t)read_bytes;
    }
    char more;
    ck_assert_int_eq(read(fd, &more, 1), 0);
    close(fd);
}

/* Offset, size wanted, size read: in the middle, across the end, all of it. */
static const size_t piped_reads[][3] = {
    {4096, 65536, 65536}, {131, 70001, 70001}, {199003, 65536, 1000}, {0, 262144, 200003}};

TEST(a_pipe_holds_all_that_was_read, .to = (int)ARRAY_SIZE(piped_reads)) {
    int ends[2];
    size_t read_bytes = 0;
    const size_t *wanted = piped_reads[_i];
    struct fs_read_into into = read_piped(ends, 1048576, wanted[1], (off_t)wanted[0], &read_bytes);
    ck_assert_int_eq(into.pipe_state, FS_PIPE_HOLDS_ALL);
    ck_assert_uint_eq(read_bytes, wanted[2]);
    read_all(ends[0], piped, read_bytes);
    check_content(piped, read_bytes, wanted[0]);
}

TEST(a_pipe_too_small_is_spoilt_and_memory_holds_all) {
    int ends[2];
    size_t read_bytes = 0;
    struct fs_read_into into = read_piped(ends, 4096, 70001, 131, &read_bytes);
    ck_assert_int_eq(into.pipe_state, FS_PIPE_SPOILT);
    ck_assert_uint_eq(read_bytes, 70001);
    check_content(piped, read_bytes, 131);
    close(ends[0]);
}

TEST(behind_the_end_a_pipe_stays_empty) {
    int ends[2];
    size_t read_bytes = 4711;
    struct fs_read_into into = read_piped(ends, 65536, 65536, PIPED_BYTES, &read_bytes);
    ck_assert_int_eq(into.pipe_state, FS_PIPE_UNTOUCHED);
    ck_assert_uint_eq(read_bytes, 0);
    read_all(ends[0], piped, 0);
}

TEST(access_mode_is_the_lower_files) {
    size_t size_bytes = 4711;
    char byte = 'x';
    struct fs_read_into into = {.memory = &byte, .pipe_fd = -1};
    stage_write("file", "text");
    struct stage_file reader = stage_open("file", O_RDONLY);
    struct stage_file writer = stage_open("file", O_WRONLY);
    ck_assert_int_eq(STAGE(write, reader.ino, reader.file, &byte, 1, 0, O_RDONLY, &size_bytes), -EBADF);
    ck_assert_int_eq(STAGE(read, writer.ino, writer.file, &into, 1, 0, &size_bytes), -EBADF);
    ck_assert_uint_eq(size_bytes, 4711);
    ck_assert_int_eq(STAGE(read, reader.ino, reader.file, &into, 1, -1, &size_bytes), -EINVAL);
    stage_close(reader);
    stage_close(writer);
}

TEST(open_truncates_when_asked_and_only_then) {
    stage_write("file", "text");
    stage_close(stage_open("file", O_WRONLY));
    ck_assert_str_eq(stage_text("file"), "text");
    stage_close(stage_open("file", O_WRONLY | O_CREAT));
    ck_assert_str_eq(stage_text("file"), "text");
    stage_close(stage_open("file", O_WRONLY | O_TRUNC));
    ck_assert_str_eq(stage_text("file"), "");
}

/* The offset that comes with an append was right when the writer looked; another one may have written since. */
TEST(appending_writers_never_overwrite_each_other) {
    stage_write("file", "");
    struct stage_file first = stage_open("file", O_WRONLY | O_APPEND);
    struct stage_file second = stage_open("file", O_WRONLY | O_APPEND);
    for (int round = 0; round < 3; round++) {
        write_at(first, "1", 0, O_WRONLY | O_APPEND);
        write_at(second, "2", 0, O_WRONLY | O_APPEND);
    }
    ck_assert_str_eq(stage_text("file"), "121212");
    stage_close(first);
    stage_close(second);
}

TEST(append_flag_may_come_and_go_while_the_file_is_open) {
    stage_write("file", "abc");
    struct stage_file open = stage_open("file", O_WRONLY);
    write_at(open, "d", 0, O_WRONLY | O_APPEND); /* after fcntl(F_SETFL) above */
    write_at(open, "A", 0, O_WRONLY);
    ck_assert_str_eq(stage_text("file"), "Abcd");
    stage_close(open);
}

TEST(page_cache_writes_where_it_says_though_the_file_appends) {
    stage_write("file", "abcdef");
    struct stage_file open = stage_open("file", O_WRONLY | O_APPEND);
    write_at(open, "XY", 1, O_WRONLY | O_APPEND | FS_WRITE_FROM_CACHE);
    ck_assert_str_eq(stage_text("file"), "aXYdef");
    stage_close(open);
}

/* ---- Direct ---- */

static bool can_open_direct(const char *name, struct stage_file *ret_open) {
    ret_open->ino = stage_look_up(name).ino;
    int status = STAGE(open, ret_open->ino, O_RDWR | O_DIRECT, &ret_open->file);
    if (status == -EINVAL)
        fprintf(stderr, "skipped, the file system lacks it: O_DIRECT\n");
    else
        ck_assert_int_eq(status, 0);
    return status == 0;
}

TEST(direct_writes_work_from_unaligned_memory) {
    enum { BLOCK = 4096 };
    static char block[BLOCK + 64] __attribute__((aligned(4096)));
    static char below[2 * BLOCK];
    struct stage_file open;
    size_t written_bytes;
    stage_write("file", "");
    if (!can_open_direct("file", &open))
        return;
    for (size_t shift = 0; shift <= 64; shift += 16) {
        for (size_t i = 0; i < BLOCK; i++)
            block[shift + i] = (char)('a' + (shift + i) % 23);
        ck_assert_int_eq(
            STAGE(write, open.ino, open.file, block + shift, BLOCK, BLOCK, O_RDWR | O_DIRECT, &written_bytes), 0);
        ck_assert_uint_eq(written_bytes, BLOCK);
        CLEANUP_FD int fd = openat(stage.fd, "file", O_RDONLY);
        ck_assert_int_eq(read(fd, below, sizeof(below)), 2 * BLOCK);
        ck_assert_mem_eq(below + BLOCK, block + shift, BLOCK);
    }
    stage_close(open);
}

TEST(page_cache_may_write_any_size_to_a_direct_file) {
    struct stage_file open;
    stage_write("file", "abcdef");
    if (!can_open_direct("file", &open))
        return;
    write_at(open, "XYZ", 1, O_RDWR | O_DIRECT | FS_WRITE_FROM_CACHE);
    ck_assert_str_eq(stage_text("file"), "aXYZef");
    stage_close(open);
}

/* ---- Other ops on data ---- */

TEST(holes_are_made_found_and_copied) {
    enum { BLOCK = 65536 };
    off_t offset;
    size_t copied_bytes;
    stage_write("from", "");
    stage_write("to", "");
    struct stage_file from = stage_open("from", O_RDWR);
    struct stage_file to = stage_open("to", O_RDWR);
    write_at(from, "data", 2 * BLOCK, O_RDWR);
    ck_assert_int_eq(STAGE(lseek, from.ino, from.file, 0, SEEK_DATA, &offset), 0);
    ck_assert_int_eq(offset, 2 * BLOCK);
    ck_assert_int_eq(STAGE(lseek, from.ino, from.file, 0, SEEK_HOLE, &offset), 0);
    ck_assert_int_eq(offset, 0);
    ck_assert_int_eq(STAGE(lseek, from.ino, from.file, 4 * BLOCK, SEEK_DATA, &offset), -ENXIO);
    ck_assert_int_eq(STAGE(copy_file_range, from.ino, from.file, 2 * BLOCK, to.ino, to.file, 1, 3, 0, &copied_bytes),
                     0);
    ck_assert_uint_eq(copied_bytes, 3);
    ck_assert_mem_eq(stage_text("to"), "\0dat", 5);
    ck_assert_int_eq(STAGE(copy_file_range, from.ino, from.file, 0, to.ino, to.file, 0, 1, 1U << 30, &copied_bytes),
                     -EINVAL);
    stage_close(from);
    stage_close(to);
}

TEST(fallocate_modes_are_passed_on) {
    stage_write("file", "text");
    struct stage_file open = stage_open("file", O_RDWR);
    ck_assert_int_eq(STAGE(fallocate, open.ino, open.file, FALLOC_FL_KEEP_SIZE, 0, 8192), 0);
    ck_assert_int_eq(stage_stat("file").st_size, 4);
    ck_assert_int_eq(STAGE(fallocate, open.ino, open.file, 0, 0, 8192), 0);
    ck_assert_int_eq(stage_stat("file").st_size, 8192);
    ck_assert_int_eq(STAGE(fallocate, open.ino, open.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 2), 0);
    ck_assert_mem_eq(stage_text("file"), "\0\0xt", 4);
    ck_assert_int_eq(STAGE(fallocate, open.ino, open.file, 0, 0, 0), -EINVAL);
    ck_assert_int_eq(STAGE(fallocate, open.ino, open.file, 1 << 20, 0, 1), -EOPNOTSUPP);
    stage_close(open);
}

TEST(inode_flags_are_read_and_other_ioctls_refused) {
    int flags = -1;
    int expected = -1;
    int result = -1;
    struct fs_ioctl call = {.command = (unsigned)FS_IOC_GETFLAGS, .out = &flags, .out_size_bytes = sizeof(flags)};
    stage_write("file", "");
    struct stage_file open = stage_open("file", O_RDONLY);
    CLEANUP_FD int fd = openat(stage.fd, "file", O_RDONLY);
    if (ioctl(fd, FS_IOC_GETFLAGS, &expected) < 0) {
        ck_assert_int_eq(STAGE(ioctl, open.ino, open.file, &call, &result), -errno);
    } else {
        ck_assert_int_eq(STAGE(ioctl, open.ino, open.file, &call, &result), 0);
        ck_assert_int_eq(flags, expected);
        ck_assert_int_eq(result, 0);
    }
    call.command = (unsigned)FIBMAP;
    ck_assert_int_eq(STAGE(ioctl, open.ino, open.file, &call, &result), -ENOTTY);
    stage_close(open);
}

TEST(what_the_kernel_does_itself_is_not_implemented) {
    uint64_t block = 0;
    unsigned events;
    stage_write("file", "");
    struct stage_file open = stage_open("file", O_RDONLY);
    ck_assert_int_eq(STAGE(bmap, open.ino, 512, &block), -ENOSYS);
    ck_assert_int_eq(STAGE(poll, open.ino, open.file, &events), -ENOSYS);
    stage_close(open);
}

TEST(statistics_are_the_lower_file_systems) {
    struct statvfs seen;
    struct statvfs below;
    ck_assert_int_eq(fstatvfs(stage.fd, &below), 0);
    ck_assert_int_eq(STAGE(statfs, FS_ROOT_INO, &seen), 0);
    ck_assert_uint_eq(seen.f_blocks, below.f_blocks);
    ck_assert_uint_eq(seen.f_bsize, below.f_bsize);
    ck_assert_uint_eq(seen.f_namemax, below.f_namemax);
}

/* ---- What must not be opened ---- */

TEST(fifos_sockets_and_devices_are_never_opened) {
    struct fs_entry entry;
    fs_file file;
    static const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDONLY | O_NONBLOCK};
    static const mode_t types[] = {S_IFIFO, S_IFSOCK, S_IFCHR};
    for (size_t type = 0; type < ARRAY_SIZE(types); type++) {
        if (types[type] == S_IFCHR && !stage_is_root("opening devices"))
            continue;
        ck_assert_int_eq(STAGE(mknod, FS_ROOT_INO, "node", types[type] | 0666, makedev(1, 3), &entry), 0);
        for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
            ck_assert_int_eq(STAGE(open, entry.ino, flags[i], &file), -ENXIO);
            ck_assert_int_eq(STAGE(create, FS_ROOT_INO, "node", 0644, flags[i], &entry, &file), -ENXIO);
        }
        ck_assert_int_eq(STAGE(unlink, FS_ROOT_INO, "node"), 0);
    }
}

/* ---- Create ---- */

TEST(create_makes_a_file_and_opens_it) {
    struct fs_entry entry;
    struct stage_file open;
    ck_assert_int_eq(STAGE(create, FS_ROOT_INO, "file", 0640, O_RDWR | O_EXCL, &entry, &open.file), 0);
    open.ino = entry.ino;
    ck_assert_uint_eq(entry.attr.st_mode, S_IFREG | 0640);
    ck_assert_uint_eq(stage_lookup_count(entry.ino), 1);
    write_at(open, "text", 0, O_RDWR);
    ck_assert_str_eq(stage_text("file"), "text");
    stage_close(open);
}

TEST(created_file_may_forbid_what_it_was_opened_for) {
    struct fs_entry entry;
    struct stage_file open;
    ck_assert_int_eq(STAGE(create, FS_ROOT_INO, "file", 0, O_RDWR, &entry, &open.file), 0);
    open.ino = entry.ino;
    write_at(open, "text", 0, O_RDWR);
    ck_assert_str_eq(read_at(open, 10, 0), "text");
    stage_close(open);
}

TEST(create_of_an_existing_file_opens_it) {
    struct fs_entry entry;
    fs_file file;
    stage_write("file", "text");
    ck_assert_int_eq(STAGE(create, FS_ROOT_INO, "file", 0600, O_RDWR | O_EXCL, &entry, &file), -EEXIST);
    ck_assert_int_eq(STAGE(create, FS_ROOT_INO, "file", 0600, O_RDWR, &entry, &file), 0);
    ck_assert_uint_eq(entry.attr.st_mode, S_IFREG | 0644);
    ck_assert_uint_eq(stage_lookup_count(entry.ino), 1);
    ck_assert_str_eq(stage_text("file"), "text");
    ck_assert_int_eq(STAGE(release, entry.ino, file), 0);
    ck_assert_int_eq(STAGE(create, FS_ROOT_INO, "file", 0600, O_RDWR | O_TRUNC, &entry, &file), 0);
    ck_assert_str_eq(stage_text("file"), "");
    ck_assert_int_eq(STAGE(release, entry.ino, file), 0);
}

TEST(create_goes_through_no_symlink) {
    struct fs_entry entry;
    fs_file file;
    stage_write("file", "text");
    ck_assert_int_eq(symlinkat("file", stage.fd, "good"), 0);
    ck_assert_int_eq(symlinkat("missing", stage.fd, "dangling"), 0);
    ck_assert_int_eq(STAGE(create, FS_ROOT_INO, "good", 0644, O_RDWR | O_TRUNC, &entry, &file), -ELOOP);
    ck_assert_int_eq(STAGE(create, FS_ROOT_INO, "dangling", 0644, O_RDWR, &entry, &file), -ELOOP);
    ck_assert_int_eq(STAGE(create, FS_ROOT_INO, "good", 0644, O_RDWR | O_EXCL, &entry, &file), -EEXIST);
    ck_assert_str_eq(stage_text("file"), "text");
    ck_assert_int_eq(faccessat(stage.fd, "missing", F_OK, 0), -1);
}

TEST(create_on_a_directory_is_refused) {
    struct fs_entry entry;
    fs_file file;
    ck_assert_int_eq(mkdirat(stage.fd, "directory", 0755), 0);
    fs_ino ino = stage_look_up("directory").ino;
    ck_assert_int_eq(STAGE(create, FS_ROOT_INO, "directory", 0644, O_RDONLY, &entry, &file), -EISDIR);
    ck_assert_int_eq(STAGE(create, FS_ROOT_INO, "directory", 0644, O_RDWR, &entry, &file), -EISDIR);
    ck_assert_uint_eq(stage_lookup_count(ino), 1);
}

/* ---- Attributes ---- */

TEST(size_is_changed_by_name_and_by_open_file) {
    struct stat attr = {.st_size = 3};
    stage_write("file", "abcdef");
    struct stage_file writer = stage_open("file", O_RDWR);
    struct stage_file reader = stage_open("file", O_RDONLY);
    ck_assert_int_eq(STAGE(setattr, writer.ino, FS_NO_FILE, &attr, FS_SET_SIZE, &attr), 0);
    ck_assert_str_eq(stage_text("file"), "abc");
    attr.st_size = 2;
    ck_assert_int_eq(STAGE(setattr, writer.ino, writer.file, &attr, FS_SET_SIZE, &attr), 0);
    ck_assert_str_eq(stage_text("file"), "ab");
    attr.st_size = 1;
    ck_assert_int_eq(STAGE(setattr, reader.ino, reader.file, &attr, FS_SET_SIZE, &attr), 0);
    ck_assert_str_eq(stage_text("file"), "a");
    ck_assert_int_eq(attr.st_size, 1);
    attr.st_size = -1;
    ck_assert_int_eq(STAGE(setattr, writer.ino, writer.file, &attr, FS_SET_SIZE, &attr), -EINVAL);
    attr.st_size = 0;
    ck_assert_int_eq(STAGE(setattr, FS_ROOT_INO, FS_NO_FILE, &attr, FS_SET_SIZE, &attr), -EISDIR);
    stage_close(reader);
    stage_close(writer);
}

TEST(times_are_set_one_by_one_and_left_alone) {
    const struct stat wanted = {.st_atim = {1009, 7}, .st_mtim = {2003, 11}};
    struct stat attr;
    stage_write("file", "");
    fs_ino ino = stage_look_up("file").ino;
    ck_assert_int_eq(STAGE(setattr, ino, FS_NO_FILE, &wanted, FS_SET_ATIME | FS_SET_MTIME, &attr), 0);
    ck_assert_int_eq(attr.st_atim.tv_sec, 1009);
    ck_assert_int_eq(attr.st_mtim.tv_nsec, 11);
    ck_assert_int_eq(STAGE(setattr, ino, FS_NO_FILE, &wanted, FS_SET_MTIME | FS_SET_MTIME_NOW, &attr), 0);
    ck_assert_int_eq(attr.st_atim.tv_sec, 1009);
    ck_assert_int_gt(attr.st_mtim.tv_sec, 1000000000);
    ck_assert_int_eq(STAGE(setattr, ino, FS_NO_FILE, &wanted, FS_SET_MTIME, &attr), 0);
    ck_assert_int_eq(STAGE(setattr, ino, FS_NO_FILE, &wanted, FS_SET_ATIME | FS_SET_ATIME_NOW, &attr), 0);
    ck_assert_int_gt(attr.st_atim.tv_sec, 1000000000);
    ck_assert_int_eq(attr.st_mtim.tv_sec, 2003);
    ck_assert_int_eq(stage_stat("file").st_mtim.tv_nsec, 11);
}

TEST(mode_is_changed_also_of_an_open_file) {
    const struct stat wanted = {.st_mode = 04711};
    struct stat attr;
    stage_write("file", "");
    struct stage_file open = stage_open("file", O_RDONLY);
    ck_assert_int_eq(STAGE(setattr, open.ino, open.file, &wanted, FS_SET_MODE, &attr), 0);
    ck_assert_uint_eq(attr.st_mode, S_IFREG | 04711);
    ck_assert_uint_eq(stage_stat("file").st_mode, S_IFREG | 04711);
    ck_assert_int_eq(STAGE(getattr, open.ino, open.file, &attr), 0);
    ck_assert_uint_eq(attr.st_mode, S_IFREG | 04711);
    stage_close(open);
}

TEST(access_asks_the_lower_file_system) {
    stage_write("file", "");
    fs_ino ino = stage_look_up("file").ino;
    ck_assert_int_eq(STAGE(access, ino, F_OK), 0);
    ck_assert_int_eq(STAGE(access, ino, R_OK | W_OK), 0);
    ck_assert_int_eq(STAGE(access, ino, X_OK), -EACCES); /* for root too */
}

/* ---- Extended attributes ---- */

static bool has_user_attributes(void) {
    CLEANUP_FD int fd = openat(stage.fd, ".", O_RDONLY);
    if (fsetxattr(fd, "user.probe", "", 0, 0) == 0)
        return true;
    fprintf(stderr, "skipped, the file system lacks them: user attributes\n");
    return false;
}

TEST(attributes_are_set_read_listed_and_removed) {
    char value[64];
    size_t size_bytes = 0;
    stage_write("file", "");
    fs_ino ino = stage_look_up("file").ino;
    if (!has_user_attributes())
        return;
    ck_assert_int_eq(STAGE(setxattr, ino, "user.key", "a\0b", 3, 0), 0);
    ck_assert_int_eq(STAGE(setxattr, ino, "user.key", "x", 1, XATTR_CREATE), -EEXIST);
    ck_assert_int_eq(STAGE(getxattr, ino, "user.key", NULL, 0, &size_bytes), 0);
    ck_assert_uint_eq(size_bytes, 3);
    ck_assert_int_eq(STAGE(getxattr, ino, "user.key", value, sizeof(value), &size_bytes), 0);
    ck_assert_mem_eq(value, "a\0b", 3);
    ck_assert_int_eq(STAGE(getxattr, ino, "user.key", value, 2, &size_bytes), -ERANGE);
    ck_assert_int_eq(STAGE(listxattr, ino, NULL, 0, &size_bytes), 0);
    ck_assert_uint_ge(size_bytes, sizeof("user.key"));
    ck_assert_int_eq(STAGE(listxattr, ino, value, 2, &size_bytes), -ERANGE);
    ck_assert_int_eq(STAGE(removexattr, ino, "user.key"), 0);
    ck_assert_int_eq(STAGE(removexattr, ino, "user.key"), -ENODATA);
    ck_assert_int_eq(STAGE(getxattr, ino, "user.key", value, sizeof(value), &size_bytes), -ENODATA);
    ck_assert_int_eq(STAGE(setxattr, ino, "nonsense.key", "x", 1, 0), -EOPNOTSUPP);
}

TEST(trusted_names_are_listed_for_root_only) {
    const struct fs_caller other = {.uid = 65534, .gid = 65534, .pid = getpid()};
    char names[256];
    size_t size_bytes;
    stage_write("file", "");
    fs_ino ino = stage_look_up("file").ino;
    if (!stage_is_root("trusted attributes") || !has_user_attributes())
        return;
    ck_assert_int_eq(STAGE(setxattr, ino, "trusted.key", "x", 1, 0), 0);
    ck_assert_int_eq(STAGE(setxattr, ino, "user.key", "x", 1, 0), 0);
    ck_assert_int_eq(STAGE(listxattr, ino, names, sizeof(names), &size_bytes), 0);
    ck_assert_ptr_nonnull(memmem(names, size_bytes, "trusted.key", sizeof("trusted.key")));
    ck_assert_int_eq(STAGE_AS(&other, listxattr, ino, names, sizeof(names), &size_bytes), 0);
    ck_assert_uint_eq(size_bytes, sizeof("user.key"));
    ck_assert_str_eq(names, "user.key");
    ck_assert_int_eq(STAGE_AS(&other, listxattr, ino, NULL, 0, &size_bytes), 0);
    ck_assert_uint_eq(size_bytes, sizeof("user.key"));
    ck_assert_int_eq(STAGE_AS(&other, listxattr, ino, names, 3, &size_bytes), -ERANGE);
}

/* ---- Running out ---- */

#define FILES 97

/* Leaves so many descriptors beyond those that are open; hard: for good. False if that is not allowed. */
static bool limit_descriptors(rlim_t count, bool hard) {
    struct rlimit limit;
    int next_fd = dup(stage.fd);
    close(next_fd);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)next_fd + count;
    if (hard)
        limit.rlim_max = limit.rlim_cur;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* Opens files until an op fails; returns how many were opened, and the error. The open ones must go on working. */
static int open_until_it_fails(fs_file *files, const struct fs_entry *entries, int *ret_count) {
    int status = 0;
    int count = 0;
    while (status == 0 && count < FILES) {
        status = STAGE(open, entries[count].ino, O_RDONLY, &files[count]);
        count += status == 0;
    }
    *ret_count = count;
    return status;
}

TEST(without_descriptors_calls_fail_and_nothing_breaks) {
    struct fs_entry entries[FILES];
    fs_file files[FILES];
    char name[16];
    int count;
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof(name), "%d", i);
        stage_write(name, "text");
        entries[i] = stage_look_up(name);
    }
    ck_assert(limit_descriptors(20, false));
    int status = open_until_it_fails(files, entries, &count);
    ck_assert(status == -EMFILE || status == -ENFILE);
    ck_assert_int_gt(count, 10);
    ck_assert_str_eq(read_at((struct stage_file){entries[0].ino, files[0]}, 10, 0), "text");
    ck_assert_int_eq(STAGE(flush, entries[0].ino, files[0], 1), 0); /* which is no fault of the file */
    struct fs_entry made;
    fs_file file;
    status = STAGE(create, FS_ROOT_INO, "new", 0644, O_RDWR | O_EXCL, &made, &file);
    ck_assert(status == -EMFILE || status == -ENFILE);
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(STAGE(release, entries[i].ino, files[i]), 0);
    stage_close(stage_open("0", O_RDONLY)); /* as if nothing had been */
}

TEST(lookups_beyond_the_budget_fail_and_recover) {
    enum { NAMES = 211 };
    struct fs_entry entries[NAMES];
    char name[16];
    if (!limit_descriptors(64, true)) {
        fprintf(stderr, "skipped, the limit of open files cannot be changed here: lookups beyond the budget\n");
        return;
    }
    stage_restart(false, 0);
    int known = 0;
    int status = 0;
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof(name), "%d", i);
        ck_assert_int_eq(mkdirat(stage.fd, name, 0755), 0);
    }
    while (status == 0 && known < NAMES) {
        snprintf(name, sizeof(name), "%d", known);
        status = STAGE(lookup, FS_ROOT_INO, name, &entries[known]);
        known += status == 0;
    }
    ck_assert(stage_has_handles() ? known == NAMES : status == -ENFILE || status == -EMFILE);
    stage.layer->ops->forget(stage.layer, entries[0].ino, 1);
    ck_assert(S_ISDIR(stage_look_up("0").attr.st_mode));
}

TEST(borrowed_file_is_closed_when_it_is_returned) {
    stage_write("file", "text");
    struct stage_file opened = stage_open("file", O_RDONLY);
    struct inode *inode;
    ck_assert_int_eq(0, pass_get_inode(stage.pass, opened.ino, &inode));
    struct open_file *borrowed = pass_borrow_open_file(stage.pass, inode);
    ck_assert_ptr_nonnull(borrowed);
    int fd = pass_file_fd(opened.file);
    stage_close(opened);
    ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
    ck_assert_ptr_null(pass_borrow_open_file(stage.pass, inode)); /* it is not open any more */
    pass_return_open_file(stage.pass, borrowed);
    ck_assert_int_eq(-1, fcntl(fd, F_GETFD));
}

/* ---- Run ---- */
