/* Probes: directory streams: complete, without duplicates, also while the directory changes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "posix_probe.h"

enum { MANY = 3001, FEWER = 2003 };

static DIR *open_stream(const char *path) {
    DIR *stream = opendir(path);
    if (!stream) {
        fprintf(stderr, "probe: cannot read %s: %s\n", path, strerror(errno));
        exit(2);
    }
    return stream;
}

static void make_files(int count) {
    char name[32];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "many/%d", i);
        close(open(name, O_CREAT | O_WRONLY, 0644));
    }
}

/* Counts each number's appearances; what is no number goes under others. */
struct census {
    unsigned char seen[MANY];
    int others;
    int wrong_types;
};

static void census_add(struct census *census, const struct dirent *entry) {
    char *end;
    long number = strtol(entry->d_name, &end, 10);
    if (*end != '\0' || number < 0 || number >= MANY) {
        census->others++;
        return;
    }
    census->seen[number]++;
    census->wrong_types += entry->d_type != DT_REG;
}

static void census_print(const struct census *census, int count) {
    int missing = 0;
    int twice = 0;
    for (int i = 0; i < count; i++) {
        missing += census->seen[i] == 0;
        twice += census->seen[i] > 1;
    }
    probe_note("%d entries: %d missing, %d more than once; %d others, %d of wrong type", count, missing, twice,
               census->others, census->wrong_types);
}

static void count_all(DIR *stream) {
    static struct census census;
    memset(&census, 0, sizeof(census));
    for (const struct dirent *entry; (entry = readdir(stream));)
        census_add(&census, entry);
    census_print(&census, MANY);
}

static void print_types(void) {
    const char *const names[] = {".", "..", "regular", "directory", "fifo", "symlink", "socket"};
    mkdir("types", 0755);
    mkdir("types/directory", 0755);
    probe_make("types/regular", "x");
    mknod("types/fifo", S_IFIFO | 0644, 0);
    mknod("types/socket", S_IFSOCK | 0644, 0);
    TRY(symlink("x", "types/symlink"));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        DIR *stream = open_stream("types");
        for (const struct dirent *entry; (entry = readdir(stream));)
            if (strcmp(entry->d_name, names[i]) == 0)
                probe_note("%s: type %d", names[i], entry->d_type);
        closedir(stream);
    }
    probe_stat("types");
}

/* Compares the inode numbers of readdir(3) and stat(2). */
static void compare_inodes(void) {
    DIR *stream = open_stream("types");
    int differing = 0;
    for (const struct dirent *entry; (entry = readdir(stream));) {
        struct stat st;
        if (strcmp(entry->d_name, "..") != 0 && fstatat(dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            differing += st.st_ino != entry->d_ino;
    }
    closedir(stream);
    probe_note("inode numbers that differ: %d", differing);
}

void probe_readdir(void) {
    TRY(mkdir("many", 0755));
    make_files(MANY);
    DIR *stream = open_stream("many");
    count_all(stream);
    rewinddir(stream);
    close(open("many/new", O_CREAT | O_WRONLY, 0644));
    unlink("many/0");
    rewinddir(stream);
    count_all(stream);
    closedir(stream);
    print_types();
    compare_inodes();
    probe_stat("many");
    TRY(rmdir("many"));
    errno = 0;
    probe_note("opendir of a file: %s", opendir("types/regular") ? "yes" : strerrorname_np(errno));
}

static void skip_entries(DIR *stream, int count) {
    while (count > 0 && readdir(stream))
        count--;
}

/* Every remembered place leads back to the entry that followed it. */
static void return_to_places(DIR *stream) {
    enum { PLACES = 47 };
    static long places[PLACES];
    static char names[PLACES][256];
    rewinddir(stream);
    for (int i = 0; i < PLACES; i++) {
        skip_entries(stream, 40);
        places[i] = telldir(stream);
        const struct dirent *entry = readdir(stream);
        snprintf(names[i], sizeof(names[i]), "%s", entry ? entry->d_name : "(end)");
    }
    int wrong = 0;
    for (int i = PLACES - 1; i >= 0; i--) {
        seekdir(stream, places[i]);
        const struct dirent *entry = readdir(stream);
        wrong += !entry || strcmp(entry->d_name, names[i]) != 0;
    }
    probe_note("places that lead elsewhere: %d", wrong);
}

/* Deletes what it reads, going on from a remembered place each time, as rm -r of some systems does. */
static void delete_while_reading(DIR *stream) {
    static struct census census;
    memset(&census, 0, sizeof(census));
    rewinddir(stream);
    int deleted = 0;
    for (const struct dirent *entry; (entry = readdir(stream));) {
        long place = telldir(stream);
        census_add(&census, entry);
        if (entry->d_name[0] != '.')
            deleted += unlinkat(dirfd(stream), entry->d_name, 0) == 0;
        if (deleted % 97 == 0)
            seekdir(stream, place);
    }
    census_print(&census, FEWER);
    probe_note("deleted %d", deleted);
}

void probe_seekdir(void) {
    TRY(mkdir("many", 0755));
    make_files(FEWER);
    DIR *stream = open_stream("many");
    return_to_places(stream);
    delete_while_reading(stream);
    rewinddir(stream);
    int left = 0;
    while (readdir(stream))
        left++;
    probe_note("entries left: %d", left);
    closedir(stream);
    TRY(rmdir("many"));
}
