/* A job of one thread that uses files badly, or well: advised WHAT N EACH FILE [SECONDS]. It computes the same for each
 * of N items, and handles EACH of them with one call, or set of calls; then it sleeps. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ITEM_BYTES 64
#define EACH_MAX 4096

static unsigned char buffer[ITEM_BYTES * EACH_MAX];
static volatile unsigned sum;

/* About a microsecond. */
static void compute(const unsigned char *item) {
    for (unsigned round = 0; round < 16; round++)
        for (unsigned i = 0; i < ITEM_BYTES; i++)
            sum = sum * 31 + item[i];
}

static void compute_all(unsigned count) {
    for (unsigned i = 0; i < count; i++)
        compute(&buffer[(size_t)i * ITEM_BYTES]);
}

static void check(int is_right, const char *what) {
    if (is_right)
        return;
    perror(what);
    exit(1);
}

static void commit(int fd, unsigned count) {
    compute_all(count);
    check(write(fd, buffer, (size_t)count * ITEM_BYTES) > 0 && fdatasync(fd) == 0, "write");
}

/* From the beginning again, if the file has ended. */
static void read_some(int fd, unsigned count) {
    const size_t bytes = (size_t)count * ITEM_BYTES;
    check(read(fd, buffer, bytes) > 0 || (lseek(fd, 0, SEEK_SET) == 0 && read(fd, buffer, bytes) > 0), "read");
    compute_all(count);
}

static void write_some(int fd, unsigned count) {
    compute_all(count);
    check(write(fd, buffer, (size_t)count * ITEM_BYTES) > 0, "write");
}

/* The items' file is in the last of so many directories. */
static void look_up(const char *path, unsigned places) {
    char name[4096];
    struct stat attr;
    for (unsigned place = 1; place < places; place++) {
        snprintf(name, sizeof(name), "%s.%u", path, place);
        check(stat(name, &attr) < 0 && errno == ENOENT, "stat");
    }
    check(stat(path, &attr) == 0, "stat");
    compute_all(1);
}

static void reopen(const char *path, unsigned is_kept) {
    static int fd = -1;
    if (fd < 0)
        fd = open(path, O_RDONLY);
    check(fd >= 0 && pread(fd, buffer, ITEM_BYTES, 0) > 0, "open");
    if (!is_kept) {
        close(fd);
        fd = -1;
    }
    compute_all(1);
}

int main(int argc, char **argv) {
    check(argc == 5 || argc == 6, "advised WHAT N EACH FILE [SECONDS]");
    const unsigned long items = strtoul(argv[2], NULL, 10);
    const unsigned each = (unsigned)strtoul(argv[3], NULL, 10);
    const char *path = argv[4];
    const char what = argv[1][0];
    const int is_read = what == 'r';
    const int fd = open(path, is_read ? O_RDONLY : O_RDWR | O_CREAT, 0600);
    check(fd >= 0 && each <= EACH_MAX, path);
    for (unsigned long i = 0; i < items; i += what == 'm' || what == 'o' ? 1 : each) {
        if (what == 'c')
            commit(fd, each);
        else if (what == 'r')
            read_some(fd, each);
        else if (what == 'w')
            write_some(fd, each);
        else if (what == 'm')
            look_up(path, each);
        else if (what == 'o')
            reopen(path, each);
    }
    if (argc > 5)
        sleep((unsigned)strtoul(argv[5], NULL, 10));
    return 0;
}
