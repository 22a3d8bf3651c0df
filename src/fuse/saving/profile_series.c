/* Names of a series, and removing the oldest. */
#include "profile_series.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base.h"
#include "dir.h"

#define MS_PER_SECOND 1000
#define YEARS_END 9000     /* a later year would leave too few names to the next ones, or none */
#define HEADER_BYTES 65536 /* more than the lines up to that of the mount can take */

/* ---- Names and times ---- */

static int name_of_time(const char *name, int64_t ms, char ret_name[NAME_MAX + 1]) {
    struct tm tm;
    char text[32];
    time_t seconds = (time_t)(ms / MS_PER_SECOND);
    if (!gmtime_r(&seconds, &tm) || tm.tm_year > 9999 - 1900 || strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &tm) == 0)
        return -EOVERFLOW;
    int length = snprintf(ret_name, NAME_MAX + 1, "%s-%s.%03dZ.osprof", name, text, (int)(ms % MS_PER_SECOND));
    return length > NAME_MAX ? -ENAMETOOLONG : 0;
}

static int number_of_digits(const char *digits, int count) {
    int number = 0;
    for (int i = 0; i < count; i++)
        number = number * 10 + (digits[i] - '0');
    return number;
}

/* Returns false if that is no name of the series. */
static bool time_of_name(const char *name, const char *entry, int64_t *ret_ms) {
    static const char shape[] = "-ddddddddTdddddd.dddZ.osprof";
    size_t length = strlen(name);
    const char *text = entry + length;
    if (strncmp(entry, name, length) != 0 || strlen(text) != strlen(shape))
        return false;
    for (size_t i = 0; shape[i]; i++)
        if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i])
            return false;
    struct tm tm = {
        .tm_year = number_of_digits(text + 1, 4) - 1900,
        .tm_mon = number_of_digits(text + 5, 2) - 1,
        .tm_mday = number_of_digits(text + 7, 2),
        .tm_hour = number_of_digits(text + 10, 2),
        .tm_min = number_of_digits(text + 12, 2),
        .tm_sec = number_of_digits(text + 14, 2),
    };
    *ret_ms = (int64_t)timegm(&tm) * MS_PER_SECOND + number_of_digits(text + 17, 3);
    return tm.tm_year < YEARS_END - 1900;
}

/* ---- Existing files ---- */

/* True for a regular file of ours with the line that names the mount of the profile. */
static bool is_of_series(const struct profile_series *series, const char *entry) {
    static const char key[] = "\n# mount: ";
    struct stat attr;
    const char *line = strstr(series->text->text, key);
    const char *end = line ? strchr(line + 1, '\n') : NULL;
    CLEANUP_FREE char *header = malloc(HEADER_BYTES);
    CLEANUP_FD int fd = openat(series->dir_fd, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (!end || !header || fd < 0 || fstat(fd, &attr) < 0 || !S_ISREG(attr.st_mode) || attr.st_uid != geteuid())
        return false;
    ssize_t length = read(fd, header, HEADER_BYTES);
    return length > 0 && memmem(header, (size_t)length, line, (size_t)(end + 1 - line));
}

struct found {
    int64_t *times_ms;
    size_t count;
};

static void found_finish(struct found *found) {
    free(found->times_ms);
}

/* Finds their times, in no order. */
static int find(const struct profile_series *series, struct found *found) {
    CLEANUP_DIR DIR *directory = open_dir_at(series->dir_fd, ".");
    if (!directory)
        return negative_errno();
    errno = 0;
    for (const struct dirent *entry; (entry = readdir(directory)); errno = 0) {
        int64_t ms;
        if (!time_of_name(series->name, entry->d_name, &ms) || !is_of_series(series, entry->d_name))
            continue;
        int64_t *grown = reallocarray(found->times_ms, found->count + 1, sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        found->times_ms = grown;
        found->times_ms[found->count++] = ms;
    }
    return errno == 0 ? 0 : negative_errno();
}

/* ---- The interface ---- */

int profile_series_next(const struct profile_series *series, int64_t now_ns, int64_t *after_ms,
                        char ret_name[NAME_MAX + 1]) {
    __attribute__((cleanup(found_finish))) struct found found = {.count = 0};
    int64_t ms = now_ns / NS_PER_MS;
    int err = find(series, &found);
    if (err < 0)
        return err;
    if (ms <= *after_ms)
        ms = *after_ms + 1;
    for (size_t i = 0; i < found.count; i++)
        if (ms <= found.times_ms[i])
            ms = found.times_ms[i] + 1;
    err = name_of_time(series->name, ms, ret_name);
    if (err == 0)
        *after_ms = ms;
    return err;
}

static int compare_times(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

int profile_series_prune(const struct profile_series *series, unsigned keep) {
    __attribute__((cleanup(found_finish))) struct found found = {.count = 0};
    int err = find(series, &found);
    if (err < 0 || found.count <= keep)
        return err;
    qsort(found.times_ms, found.count, sizeof(*found.times_ms), compare_times);
    for (size_t i = 0; i < found.count - keep; i++) {
        char name[NAME_MAX + 1];
        if (name_of_time(series->name, found.times_ms[i], name) == 0 && unlinkat(series->dir_fd, name, 0) < 0 &&
            errno != ENOENT && err == 0)
            err = negative_errno();
    }
    return err;
}
