/* Probes: contents: sizes, holes, copies, mappings. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "posix_probe.h"

enum { KIB = 1024, BLOCK = 4096 };

static int filled(const char *path, size_t size) {
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || probe_fill(fd, 0, size) != (ssize_t)size) {
        fprintf(stderr, "probe: cannot fill %s: %s\n", path, strerror(errno));
        exit(2);
    }
    return fd;
}

static void beyond_the_limit(int fd) {
    struct rlimit old;
    getrlimit(RLIMIT_FSIZE, &old);
    struct rlimit small = {.rlim_cur = 64L * KIB, .rlim_max = old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    TRY(ftruncate(fd, 65L * KIB));
    TRY(pwrite(fd, "x", 1, 64L * KIB));
    TRY(pwrite(fd, "x", 1, 64L * KIB - 1));
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_DFL);
}

void probe_truncate(void) {
    int fd = filled("file", 10007);
    TRY(ftruncate(fd, 5003));
    probe_content("file");
    TRY(ftruncate(fd, 20011));
    probe_content("file");
    TRY(truncate("file", 4099));
    probe_fstat(fd);
    TRY(truncate("file", -1));
    TRY(truncate("missing", 1));
    TRY(truncate(".", 1));
    TRY(truncate("file", 1L << 62));
    TRY(truncate("file", 1L << 33));
    probe_stat("file");
    TRY(pwrite(fd, "end", 3, (1L << 33) + 5));
    probe_stat("file");
    TRY(truncate("file", 0));
    beyond_the_limit(fd);
    probe_content("file");
    TRY(pwrite(fd, "", 0, 1L << 20));
    probe_fstat(fd);
    close(fd);
}

/* Blocks are only told apart as none, some, all: their exact number is the file system's. */
static void print_space(int fd) {
    struct stat st;
    if (fsync(fd) < 0 || fstat(fd, &st) < 0)
        return;
    long long allocated_bytes = 512LL * st.st_blocks;
    probe_note("size %lld, space %s", (long long)st.st_size,
               allocated_bytes == 0            ? "none"
               : allocated_bytes >= st.st_size ? "for all"
                                               : "for some");
}

void probe_fallocate(void) {
    int fd = filled("file", 256 * KIB);
    TRY(fallocate(fd, 0, 0, 300 * KIB));
    print_space(fd);
    TRY(fallocate(fd, FALLOC_FL_KEEP_SIZE, 300 * KIB, 100 * KIB));
    print_space(fd);
    TRY(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 64 * KIB, 128 * KIB));
    TRY(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 10007, 5003));
    TRY(fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, BLOCK));
    print_space(fd);
    probe_content("file");
    TRY(fallocate(fd, FALLOC_FL_ZERO_RANGE, 200 * KIB, 5003));
    TRY(fallocate(fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, 400 * KIB, 64 * KIB));
    print_space(fd);
    TRY(fallocate(fd, FALLOC_FL_ZERO_RANGE, 400 * KIB, 64 * KIB));
    print_space(fd);
    probe_content("file");
    TRY(fallocate(fd, 0, 0, 0));
    TRY(fallocate(fd, 0, -1, 5));
    TRY(posix_fallocate(fd, 500 * KIB, BLOCK));
    print_space(fd);
    close(fd);
    fd = open("file", O_RDONLY);
    TRY(fallocate(fd, 0, 0, 1));
    close(fd);
}

/* FUSE has no way to say these; kept apart because a mount may refuse them where the lower file system does not. */
void probe_fallocate_shift(void) {
    int fd = filled("file", 64 * KIB);
    TRY(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 8 * KIB, 16 * KIB));
    TRY(fallocate(fd, FALLOC_FL_INSERT_RANGE, 8 * KIB, 16 * KIB));
    close(fd);
    probe_content("file");
}

void probe_seek(void) {
    int fd = open("sparse", O_RDWR | O_CREAT, 0644);
    probe_fill(fd, 256L * KIB, 64L * KIB);
    probe_fill(fd, 1024L * KIB, 4L * KIB);
    TRY(ftruncate(fd, 2048L * KIB));
    TRY(fsync(fd));
    const long offsets[] = {0,          10007,      256 * KIB, 300 * KIB, 320 * KIB, 1024 * KIB + 5,
                            1100 * KIB, 2048 * KIB, 3000 * KIB};
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        probe_note("from %ld", offsets[i]);
        TRY(lseek(fd, offsets[i], SEEK_DATA));
        TRY(lseek(fd, offsets[i], SEEK_HOLE));
    }
    TRY(lseek(fd, -5, SEEK_DATA));
    TRY(lseek(fd, -5, SEEK_END));
    TRY(lseek(fd, 5, SEEK_END));
    TRY(lseek(fd, 0, 77));
    close(fd);
    probe_content("sparse");
}

static void copy_ranges(int in, int out) {
    loff_t from = 10007;
    loff_t to = 5003;
    TRY(copy_file_range(in, &from, out, &to, 50021, 0));
    probe_note("offsets now %lld %lld", (long long)from, (long long)to);
    from = 256L * KIB - 100;
    TRY(copy_file_range(in, &from, out, &to, 50021, 0)); /* cut short by the end of the file */
    from = 0;
    to = 100;
    TRY(copy_file_range(in, &from, in, &to, 50021, 0)); /* overlapping */
    TRY(copy_file_range(in, NULL, out, NULL, 17, 0));
    TRY(copy_file_range(in, NULL, out, NULL, 17, 1));
}

void probe_copy(void) {
    int in = filled("in", 256 * KIB);
    int out = TRY_FD(open("out", O_RDWR | O_CREAT | O_TRUNC, 0644));
    copy_ranges(in, out);
    probe_content("out");
    off_t offset = 20011;
    TRY(lseek(out, 1000, SEEK_SET));
    TRY(sendfile(out, in, &offset, 70001));
    probe_note("offset now %lld", (long long)offset);
    probe_content("out");
    int pipe_fds[2];
    if (pipe(pipe_fds) == 0) {
        TRY(splice(in, &(loff_t){7}, pipe_fds[1], NULL, 4099, 0));
        TRY(splice(pipe_fds[0], NULL, out, &(loff_t){300L * KIB}, 4099, 0));
        close(pipe_fds[0]);
        close(pipe_fds[1]);
    }
    close(in);
    close(out);
    probe_content("out");
}

static void private_mapping(int fd) {
    char *map = mmap(NULL, 64L * KIB, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    probe_note("private mapping: %s", map == MAP_FAILED ? strerrorname_np(errno) : "yes");
    if (map == MAP_FAILED)
        return;
    memset(map + 5003, 'P', 10007);
    probe_content("file");
    munmap(map, 64L * KIB);
    probe_content("file");
}

/* Reads, writes and a shared mapping see one and the same file. */
void probe_mmap_shared(void) {
    int fd = filled("file", 64 * KIB);
    char *map = mmap(NULL, 64L * KIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    probe_note("shared mapping: %s", map == MAP_FAILED ? strerrorname_np(errno) : "yes");
    if (map == MAP_FAILED) {
        close(fd);
        return;
    }
    memset(map + 5003, 'S', 10007);
    char seen[8] = "";
    TRY(pread(fd, seen, 7, 6000)); /* read and mapping agree */
    probe_note("read sees %s", seen);
    TRY(pwrite(fd, "written", 7, 30011));
    probe_note("mapping sees %.7s", map + 30011);
    TRY(msync(map, 64L * KIB, MS_SYNC));
    TRY(ftruncate(fd, 40L * KIB));
    munmap(map, 64L * KIB);
    close(fd);
    probe_content("file");
}

void probe_mmap_private(void) {
    int fd = filled("file", 64 * KIB);
    private_mapping(fd);
    close(fd);
    fd = open("file", O_RDONLY);
    errno = 0;
    probe_note("shared writable mapping of a reader: %s",
               mmap(NULL, BLOCK, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? strerrorname_np(errno) : "yes");
    void *map = mmap(NULL, BLOCK, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    probe_note("executable mapping: %s", map == MAP_FAILED ? strerrorname_np(errno) : "yes");
    close(fd);
}
