/* Times that few files have: before 1970, and beyond what 32 bits hold. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "behaviour.h"

static const struct timespec times[] = {
    {.tv_sec = 0, .tv_nsec = 0},
    {.tv_sec = 0, .tv_nsec = 1},
    {.tv_sec = -1, .tv_nsec = 0},
    {.tv_sec = -1, .tv_nsec = 999999999},
    {.tv_sec = -1000003, .tv_nsec = 5},
    {.tv_sec = INT32_MIN, .tv_nsec = 0},
    {.tv_sec = INT32_MIN, .tv_nsec = 999999999},
    {.tv_sec = INT32_MIN - 1LL, .tv_nsec = 7},
    {.tv_sec = -62135596800, .tv_nsec = 0}, /* the year 1 */
    {.tv_sec = INT32_MAX, .tv_nsec = 999999999},
    {.tv_sec = INT32_MAX + 1LL, .tv_nsec = 3},
    {.tv_sec = UINT32_MAX, .tv_nsec = 0},
    {.tv_sec = UINT32_MAX + 1LL, .tv_nsec = 0},
    {.tv_sec = 15032385535, .tv_nsec = 999999999}, /* the last second of ext4 */
    {.tv_sec = 15032385536, .tv_nsec = 0},
    {.tv_sec = 253402300799, .tv_nsec = 0}, /* the year 9999 */
    {.tv_sec = INT64_MAX / 1000000000, .tv_nsec = 0},
    {.tv_sec = INT64_MIN, .tv_nsec = 0},
    {.tv_sec = INT64_MAX, .tv_nsec = 999999999},
};
enum { COUNT = sizeof(times) / sizeof(times[0]) };

static void print_times(const char *what, int dir_fd, const char *name) {
    struct statx st;
    if (statx(dir_fd, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &st) < 0)
        probe_note("%s: %s: %s", what, name, strerrorname_np(errno));
    else
        probe_note("%s: %s: atime %lld.%09u mtime %lld.%09u", what, name, (long long)st.stx_atime.tv_sec,
                   st.stx_atime.tv_nsec, (long long)st.stx_mtime.tv_sec, st.stx_mtime.tv_nsec);
}

static const char *kinds[] = {"file", "directory", "symlink", "fifo"};

static void make(const char *name, int kind) {
    int results[] = {kind == 0 ? mknod(name, S_IFREG | 0644, 0) : 0, kind == 1 ? mkdir(name, 0755) : 0,
                     kind == 2 ? symlink("nowhere", name) : 0, kind == 3 ? mkfifo(name, 0644) : 0};
    behaviour_must(results[kind] == 0, "make a name");
}

static void set(int below_fd, const char *name, const struct timespec *atime, const struct timespec *mtime) {
    const struct timespec both[] = {*atime, *mtime};
    probe_note("%s = %lld, %lld", name, (long long)atime->tv_sec, (long long)mtime->tv_sec);
    TRY(utimensat(AT_FDCWD, name, both, AT_SYMLINK_NOFOLLOW));
    print_times("here", AT_FDCWD, name);
    print_times("below", below_fd, name);
}

/* Each as time of access beside another as time of modification. They are shown later too: show_times. */
void behaviour_old_times(void) {
    int below_fd = behaviour_below("old_times");
    char name[32];
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "%s-%d", kinds[i % 4], i);
        make(name, i % 4);
        set(below_fd, name, &times[i], &times[(i + 5) % COUNT]);
    }
    make("other", 0);
    int fd = TRY_FD(open("other", O_WRONLY));
    const struct timespec half[] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = -77, .tv_nsec = 123456789}};
    struct stat st;
    TRY(futimens(fd, half));
    behaviour_must(fstat(fd, &st) == 0, "stat");
    probe_note("mtime %lld.%09ld", (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    TRY(write(fd, "x", 1));
    behaviour_must(fstat(fd, &st) == 0, "stat");
    probe_note("writing brings it to now: %s", st.st_mtim.tv_sec > 1600000000 ? "yes" : "no");
    close(fd);
    close(below_fd);
}

void behaviour_show_times(void) {
    char name[64];
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "../old_times/%s-%d", kinds[i % 4], i);
        print_times("later", AT_FDCWD, name);
    }
}
