/* A program of a run that writes into the run's live file, which it may, as long as it lives.
 *
 *     overwrite_live all       overwrites every byte that has memory with random ones, again and again, for a second
 *     overwrite_live header    changes the sizes and offsets in the header
 *     overwrite_live labels    replaces the labels by that of a mount at /srv, says so, and waits for the end of its input
 *     overwrite_live cut       cuts the file short
 *     overwrite_live worker    gives up its rights without executing another program, as workers of daemons do, and then
 *                              overwrites all that the preloaded library has mapped, while its parent goes on counting
 * It ends with status 7, however the file is by then. */
#include <fcntl.h>
#include <grp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STATUS 7
#define FAILED 99
#define HEADER_BYTES 512
#define RANDOM_BYTES 4096
#define WORKER_UID 65534

static int open_live(void) {
    char path[4096];
    const char *variable = getenv("OSPROF_POSIX");
    const char *begin = variable ? strchr(variable, '/') : NULL;
    if (!begin)
        exit(FAILED);
    snprintf(path, sizeof(path), "%s", begin);
    char *end = strstr(path, "//"); /* the rest of the variable */
    if (end)
        *end = '\0';
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        perror(path);
        exit(FAILED);
    }
    return fd;
}

static void overwrite_all(unsigned char *memory, size_t size_bytes) {
    const time_t end = time(NULL) + 1;
    unsigned char random[RANDOM_BYTES];
    for (unsigned round = 0; time(NULL) < end; round++) {
        for (size_t i = 0; i < sizeof(random); i++)
            random[i] = round % 3 == 0 ? 0xff : (unsigned char)rand();
        for (size_t at = 0; at + sizeof(random) <= size_bytes; at += sizeof(random))
            memcpy(memory + at, random, sizeof(random));
    }
}

static void overwrite_file(void) {
    const int fd = open_live();
    const size_t size_bytes = 16U << 20;
    unsigned char *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        exit(FAILED);
    overwrite_all(memory, size_bytes);
}

static void overwrite_header(void) {
    const int fd = open_live();
    uint64_t numbers[HEADER_BYTES / sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        numbers[i] = UINT64_C(0x414141414140);
    if (pwrite(fd, numbers, sizeof(numbers), 0) != (ssize_t)sizeof(numbers))
        exit(FAILED);
}

/* Where the header says how many labels there are, and how long they are in all (live_file.h). */
#define LABELS_AT 36
#define LABELS_BYTES_AT 40
#define TEXT_BYTES 65536

/* As many labels, as long in all: that of a mount at /srv, some that are empty, and a long one. */
static void make_labels(uint32_t count, size_t size_bytes, char *ret_text) {
    size_t used = (size_t)sprintf(ret_text, "mount%c/srv", 0) + 1;
    for (uint32_t i = 2; i < count; i++)
        used += (size_t)sprintf(ret_text + used, "k%u%c", (unsigned)i, 0) + 1;
    used += (size_t)sprintf(ret_text + used, "x") + 1;
    if (used >= size_bytes)
        exit(FAILED);
    memset(ret_text + used, 'x', size_bytes - used - 1);
    ret_text[size_bytes - 1] = '\0';
}

static void overwrite_labels(void) {
    const int fd = open_live();
    unsigned char text[TEXT_BYTES];
    uint32_t count;
    uint64_t size_bytes;
    char byte;
    if (pread(fd, text, sizeof(text), 0) != (ssize_t)sizeof(text))
        exit(FAILED);
    memcpy(&count, text + LABELS_AT, sizeof(count));
    memcpy(&size_bytes, text + LABELS_BYTES_AT, sizeof(size_bytes));
    unsigned char *labels = memmem(text, sizeof(text), "layer\0user", sizeof("layer\0user"));
    if (!labels || size_bytes > (size_t)(text + sizeof(text) - labels))
        exit(FAILED);
    make_labels(count, size_bytes, (char *)labels);
    if (pwrite(fd, labels, size_bytes, labels - text) != (ssize_t)size_bytes)
        exit(FAILED);
    puts("overwritten");
    fflush(stdout);
    (void)!read(STDIN_FILENO, &byte, 1);
}

/* By number: the preloaded library would count the call in memory that is gone. */
static void cut_short(void) {
    const int fd = open_live();
    syscall(SYS_ftruncate, fd, 0L);
    syscall(SYS_exit_group, 0L);
}

/* The preloaded library's mappings of the file, which stay when rights are given up. */
static void overwrite_mapped(void) {
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    int found = 0;
    while (maps && fgets(line, sizeof(line), maps)) {
        unsigned long begin = 0;
        unsigned long end = 0;
        if (!strstr(line, ".live") || sscanf(line, "%lx-%lx rw-s", &begin, &end) != 2)
            continue;
        found = 1;
        const uint64_t value = UINT64_C(0x4141414141414141);
        for (unsigned long at = begin; at < end && at < begin + (1U << 20); at += sizeof(value))
            *(volatile uint64_t *)at = value; /* NOLINT: it is an address of ours */
    }
    _exit(found ? 0 : FAILED);
}

static void count(const char *file) {
    char byte;
    for (int i = 0; i < 1000; i++) {
        const int fd = open(file, O_RDONLY | O_CLOEXEC);
        (void)!read(fd, &byte, 1);
        close(fd);
    }
}

static void be_daemon(const char *file) {
    int status = 0;
    count(file);
    const pid_t worker = fork();
    if (worker == 0) {
        if (setgroups(0, NULL) < 0 || setresgid(WORKER_UID, WORKER_UID, WORKER_UID) < 0 ||
            setresuid(WORKER_UID, WORKER_UID, WORKER_UID) < 0)
            _exit(FAILED);
        overwrite_mapped();
    }
    waitpid(worker, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        exit(FAILED);
    count(file); /* root's, in memory that the worker has overwritten */
}

/* It may be killed, as it counts in memory of the file. */
static void in_child(void (*overwrite)(void)) {
    const pid_t child = fork();
    if (child == 0) {
        overwrite();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "all") == 0) {
        in_child(overwrite_file);
    } else if (strcmp(how, "header") == 0) {
        overwrite_header();
    } else if (strcmp(how, "labels") == 0) {
        overwrite_labels();
    } else if (strcmp(how, "cut") == 0) {
        in_child(cut_short);
    } else if (strcmp(how, "worker") == 0) {
        be_daemon(argv[0]);
    } else {
        return FAILED;
    }
    _exit(STATUS);
}
