/* Writes and checks files through shared mappings, for real_mmap.sh.
 *
 *     mmap_writer write FILE PAGES SEED      makes FILE and fills it, from the last page to the first
 *     mmap_writer update FILE PAGES SEED     fills the FILE that exists
 *     mmap_writer verify FILE PAGES SEED     reads it with read(2) and through a mapping
 *     mmap_writer coherent FILE              mapping, read(2) and write(2) of one file agree at once
 *
 * Exit status 0, or 1 with a message. */
#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, PAGE_WORDS = PAGE_BYTES / sizeof(uint64_t) };

/* The word that belongs at an index: different for neighbours and for seeds. */
static uint64_t word_at(size_t index, uint64_t seed) {
    return (index + seed) * 0x9e3779b97f4a7c15U ^ seed;
}

static int open_file(const char *path, int flags) {
    int fd = open(path, flags | O_CLOEXEC, 0644);
    if (fd < 0)
        err(1, "cannot open %s", path);
    return fd;
}

static uint64_t *map_file(const char *path, int fd, size_t size_bytes, int protection) {
    void *words = mmap(NULL, size_bytes, protection, MAP_SHARED, fd, 0);
    if (words == MAP_FAILED)
        err(1, "cannot map %s", path);
    return words;
}

static void fill(const char *path, size_t page_count, uint64_t seed, int flags) {
    size_t size_bytes = page_count * PAGE_BYTES;
    int fd = open_file(path, O_RDWR | flags);
    if (ftruncate(fd, (off_t)size_bytes) < 0)
        err(1, "cannot set the size of %s", path);
    uint64_t *words = map_file(path, fd, size_bytes, PROT_READ | PROT_WRITE);
    for (size_t index = page_count * PAGE_WORDS; index-- > 0;)
        words[index] = word_at(index, seed);
    if (msync(words, size_bytes, MS_SYNC) < 0 || munmap(words, size_bytes) < 0 || close(fd) < 0)
        err(1, "cannot write back %s", path);
}

static void expect_page(const char *how, const char *path, const uint64_t *words, size_t page, uint64_t seed) {
    for (size_t i = 0; i < PAGE_WORDS; i++) {
        if (words[i] != word_at(page * PAGE_WORDS + i, seed))
            errx(1, "%s: page %zu is wrong when %s", path, page, how);
    }
}

static void verify(const char *path, size_t page_count, uint64_t seed) {
    uint64_t page_words[PAGE_WORDS];
    int fd = open_file(path, O_RDONLY);
    uint64_t *words = map_file(path, fd, page_count * PAGE_BYTES, PROT_READ);
    for (size_t page = 0; page < page_count; page++) {
        if (pread(fd, page_words, PAGE_BYTES, (off_t)(page * PAGE_BYTES)) != PAGE_BYTES)
            err(1, "cannot read page %zu of %s", page, path);
        expect_page("read", path, page_words, page, seed);
        expect_page("mapped", path, words + page * PAGE_WORDS, page, seed);
    }
    if (munmap(words, page_count * PAGE_BYTES) < 0 || close(fd) < 0)
        err(1, "cannot close %s", path);
}

static void coherent(const char *path) {
    uint64_t word = 1;
    int fd = open_file(path, O_RDWR | O_CREAT | O_TRUNC);
    int other_fd = open_file(path, O_RDWR);
    if (ftruncate(fd, PAGE_BYTES) < 0)
        err(1, "cannot set the size of %s", path);
    volatile uint64_t *words = map_file(path, fd, PAGE_BYTES, PROT_READ | PROT_WRITE);
    words[0] = 47;
    if (pread(other_fd, &word, sizeof word, 0) != sizeof word || word != 47)
        errx(1, "%s: read(2) does not see what was written through the mapping", path);
    word = 53;
    if (pwrite(other_fd, &word, sizeof word, 0) != sizeof word || words[0] != 53)
        errx(1, "%s: the mapping does not see what write(2) wrote", path);
    close(other_fd);
    close(fd);
}

static size_t number(const char *text) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*text == '\0' || *end != '\0')
        errx(1, "not a number: %s", text);
    return value;
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "write") == 0)
        fill(argv[2], number(argv[3]), number(argv[4]), O_CREAT | O_EXCL);
    else if (argc == 5 && strcmp(argv[1], "update") == 0)
        fill(argv[2], number(argv[3]), number(argv[4]), 0);
    else if (argc == 5 && strcmp(argv[1], "verify") == 0)
        verify(argv[2], number(argv[3]), number(argv[4]));
    else if (argc == 3 && strcmp(argv[1], "coherent") == 0)
        coherent(argv[2]);
    else
        errx(1, "usage: mmap_writer write|update|verify FILE PAGES SEED, or coherent FILE");
    return 0;
}
