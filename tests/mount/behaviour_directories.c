/* Directories that are read while they change: each entry that stays is seen once, and none twice. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "behaviour.h"

enum { MOST = 20000, SOME = 5003, KEPT_OF = 97 };

struct census {
    unsigned char seen[MOST];
    int others;
};

static struct census census;

/* Returns the entry's number, -1 for one of no number. */
static int census_add(const struct dirent *entry) {
    char *end;
    long number = strtol(entry->d_name, &end, 10);
    if (*end != '\0' || number < 0 || number >= MOST) {
        census.others++;
        return -1;
    }
    census.seen[number]++;
    return (int)number;
}

static void census_read(DIR *stream) {
    memset(&census, 0, sizeof(census));
    for (const struct dirent *entry; (entry = readdir(stream));)
        census_add(entry);
}

/* step: only each so many-th was to stay */
static void census_print(const char *what, int count, int step) {
    int missing = 0;
    int twice = 0;
    for (int i = 0; i < count; i++) {
        missing += i % step == 0 && census.seen[i] == 0;
        twice += census.seen[i] > 1;
    }
    probe_note("%s: %d missing, %d more than once", what, missing, twice);
}

/* Below, which is faster, and which the mount has to find. */
static int make_files(const char *topic, int count) {
    int below_fd = behaviour_below(topic);
    char name[16];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%d", i);
        int fd = openat(below_fd, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        behaviour_must(fd >= 0, "make a file");
        close(fd);
    }
    return below_fd;
}

static int remove_number(int dir_fd, int number) {
    char name[16];
    snprintf(name, sizeof(name), "%d", number);
    return unlinkat(dir_fd, name, 0);
}

static DIR *open_stream(void) {
    DIR *stream = opendir(".");
    behaviour_must(stream != NULL, "read the directory");
    return stream;
}

/* As rm -r does it. */
void behaviour_remove_while_reading(void) {
    close(make_files("remove_while_reading", MOST));
    DIR *stream = open_stream();
    memset(&census, 0, sizeof(census));
    int removed = 0;
    for (const struct dirent *entry; (entry = readdir(stream));)
        removed += entry->d_name[0] != '.' && census_add(entry) >= 0 && unlink(entry->d_name) == 0;
    census_print("read and removed", MOST, 1);
    probe_note("removed %d", removed);
    rewinddir(stream);
    census_read(stream);
    probe_note("left: %d", census.others);
    closedir(stream);
}

/* What is removed ahead may still be seen, and what is made may be seen or not; but nothing twice. */
void behaviour_change_while_reading(void) {
    int below_fd = make_files("change_while_reading", SOME);
    DIR *stream = open_stream();
    memset(&census, 0, sizeof(census));
    for (int read = 0; read < SOME / 5; read++)
        census_add(readdir(stream));
    for (int i = 0; i < SOME; i++)
        if (i % KEPT_OF != 0)
            behaviour_must(remove_number(i % 2 ? below_fd : dirfd(stream), i) == 0, "remove a file");
    for (const struct dirent *entry; (entry = readdir(stream));)
        census_add(entry);
    census_print("what stays", SOME, KEPT_OF);
    rewinddir(stream);
    memset(&census, 0, sizeof(census));
    int made = SOME;
    for (const struct dirent *entry; (entry = readdir(stream));) {
        char name[16];
        census_add(entry);
        snprintf(name, sizeof(name), "%d", made++);
        if (made < 2 * SOME)
            close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    }
    census_print("what was there", SOME, KEPT_OF);
    closedir(stream);
    close(below_fd);
}

static void count_entries(const char *what, DIR *stream) {
    int count = 0;
    while (readdir(stream))
        count++;
    probe_note("%s: %d entries", what, count);
}

/* A rewound stream shows the current entries, also after changes by other processes. */
void behaviour_rewind(void) {
    int below_fd = make_files("rewind", 1009);
    DIR *stream = open_stream();
    count_entries("first", stream);
    count_entries("at the end", stream);
    close(open("made", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    count_entries("still at the end", stream);
    rewinddir(stream);
    count_entries("rewound", stream);
    close(openat(below_fd, "made below", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    for (int i = 0; i < 500; i++)
        remove_number(i % 2 ? below_fd : dirfd(stream), i);
    rewinddir(stream);
    count_entries("after changes below", stream);
    for (int i = 0; i < 100; i++)
        (void)!readdir(stream);
    remove_number(below_fd, 1000);
    rewinddir(stream);
    count_entries("rewound in the middle", stream);
    DIR *second = open_stream();
    count_entries("another stream", second);
    closedir(second);
    closedir(stream);
    close(below_fd);
}

/* A place leads to the entry that followed it, also when most others are gone. */
void behaviour_places(void) {
    static long places[SOME];
    int below_fd = make_files("places", SOME);
    DIR *stream = open_stream();
    for (;;) {
        long place = telldir(stream);
        const struct dirent *entry = readdir(stream);
        if (!entry)
            break;
        int number = census_add(entry);
        if (number >= 0)
            places[number] = place;
    }
    long end = telldir(stream);
    for (int i = 0; i < SOME; i++)
        if (i % KEPT_OF != 0)
            remove_number(i % 2 ? below_fd : dirfd(stream), i);
    int wrong = 0;
    for (int i = (SOME - 1) / KEPT_OF * KEPT_OF; i >= 0; i -= KEPT_OF) {
        seekdir(stream, places[i]);
        const struct dirent *entry = readdir(stream);
        wrong += !entry || strtol(entry->d_name, NULL, 10) != i;
    }
    probe_note("places that lead elsewhere: %d", wrong);
    seekdir(stream, end);
    count_entries("at the end", stream);
    seekdir(stream, 0);
    count_entries("from 0", stream);
    closedir(stream);
    close(below_fd);
}

/* Reads a piece of the directory with a buffer of this size; returns how many entries, or -1. */
static long read_entries(int fd, size_t size) {
    static _Alignas(8) char buffer[65536];
    long bytes = syscall(SYS_getdents64, fd, buffer, size);
    long count = 0;
    for (long at = 0; at < bytes; count++)
        at += *(unsigned short *)(buffer + at + 16); /* d_reclen */
    return bytes < 0 ? -1 : count;
}

static void read_on_in_a_child(int fd) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        read_entries(fd, 1024);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* Descriptors of directories: several positions at once, shared ones, buffers of all sizes, and odd seeks. */
void behaviour_streams(void) {
    close(make_files("streams", 1009));
    int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int copy = dup(fd);
    int other = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long alone = 0;
    long together = 0;
    for (long count; (count = read_entries(other, 300)) > 0;)
        alone += count;
    for (long count; (count = read_entries(together % 2 ? fd : copy, 300)) > 0;)
        together += count;
    probe_note("%ld entries, %ld by two descriptors of one position", alone, together);
    TRY(lseek(fd, 0, SEEK_SET));
    read_on_in_a_child(fd);
    probe_note("a child has moved the position: %s", lseek(fd, 0, SEEK_CUR) > 0 ? "yes" : "no");
    TRY(lseek(fd, 0, SEEK_SET));
    TRY(read_entries(fd, 8));
    TRY(read_entries(fd, 0));
    TRY(read(fd, (char[8]){0}, 8));
    TRY(lseek(fd, -1, SEEK_SET));
    TRY(lseek(fd, 0, 77));
    TRY(pread(fd, (char[8]){0}, 8, 0));
    TRY(write(fd, "x", 1));
    TRY(ftruncate(fd, 0));
    TRY(fsync(fd));
    TRY(fdatasync(fd));
    close(fd);
    close(copy);
    close(other);
}
