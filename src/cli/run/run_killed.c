/* A file that has been reported has the sticky bit, which means nothing else for a file. It got that bit when its inode
 * last changed (ctime), unless programs of the run still count. */
#include "run_killed.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "aggstats/live.h"
#include "base.h"
#include "command.h"

#define KEPT_COUNT_MIN 10
#define KEPT_S_MIN (7L * 24 * 60 * 60)

struct kept {
    char *name;
    struct stat attr;
};

struct kept_files {
    struct kept *files;
    size_t count;
    size_t reported_count;
};

static void finish(struct kept_files *kept) {
    for (size_t i = 0; i < kept->count; i++)
        free(kept->files[i].name);
    free(kept->files);
}

/* NUMBER-user-NUMBER.live */
static bool is_name(const char *name) {
    static const char digits[] = "0123456789";
    static const char middle[] = "-user-";
    const size_t first = strspn(name, digits);
    const char *rest = name + first + sizeof(middle) - 1;
    if (first == 0 || strncmp(name + first, middle, sizeof(middle) - 1) != 0)
        return false;
    return strspn(rest, digits) > 0 && strcmp(rest + strspn(rest, digits), ".live") == 0;
}

/* An osprof that lives holds a lock on its file before it has written anything, and removes the file before it lets go. */
static bool is_left(int fd, struct stat *ret_attr) {
    return flock(fd, LOCK_SH | LOCK_NB) == 0 && fstat(fd, ret_attr) == 0 && S_ISREG(ret_attr->st_mode) &&
           ret_attr->st_uid == geteuid() && ret_attr->st_nlink > 0 && aggstats_live_is(fd);
}

static bool is_reported(const struct kept *file) {
    return file->attr.st_mode & S_ISVTX;
}

static void look_at(int dir_fd, const char *name, struct kept_files *kept) {
    CLEANUP_FD int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct kept file;
    if (fd < 0 || !is_left(fd, &file.attr))
        return;
    struct kept *grown = reallocarray(kept->files, kept->count + 1, sizeof(*grown));
    if (!grown)
        return;
    kept->files = grown;
    file.name = strdup(name);
    if (!file.name)
        return;
    kept->files[kept->count++] = file;
    if (!is_reported(&file) && fchmod(fd, (file.attr.st_mode & 07777) | S_ISVTX) == 0)
        kept->reported_count++;
}

static int compare_newest_first(const void *a, const void *b) {
    const struct timespec *left = &((const struct kept *)a)->attr.st_mtim;
    const struct timespec *right = &((const struct kept *)b)->attr.st_mtim;
    if (left->tv_sec != right->tv_sec)
        return left->tv_sec < right->tv_sec ? 1 : -1;
    return left->tv_nsec < right->tv_nsec ? 1 : left->tv_nsec > right->tv_nsec ? -1 : 0;
}

/* Returns how many. */
static size_t remove_old(int dir_fd, struct kept_files *kept) {
    const time_t now = time(NULL);
    size_t count = 0;
    if (kept->count > KEPT_COUNT_MIN)
        qsort(kept->files, kept->count, sizeof(*kept->files), compare_newest_first);
    for (size_t i = KEPT_COUNT_MIN; i < kept->count; i++) {
        const struct kept *file = &kept->files[i];
        if (is_reported(file) && now - file->attr.st_ctim.tv_sec > KEPT_S_MIN && unlinkat(dir_fd, file->name, 0) == 0)
            count++;
    }
    return count;
}

static void report(size_t reported_count, size_t removed_count) {
    if (reported_count == 1)
        complain("the profile of a run whose osprof was killed is kept; 'osprof recover' lists it");
    else if (reported_count > 1)
        complain("the profiles of %zu runs whose osprof was killed are kept; 'osprof recover' lists them",
                 reported_count);
    if (removed_count == 1)
        complain("removed the profile of a run whose osprof was killed more than a week ago");
    else if (removed_count > 1)
        complain("removed the profiles of %zu runs whose osprof was killed more than a week ago", removed_count);
}

void run_killed_tidy(const char *live_path) {
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    if (open_parent(AT_FDCWD, live_path, &dir_fd, &name) != 0)
        return;
    int list_fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = list_fd < 0 ? NULL : fdopendir(list_fd);
    if (!dir) {
        close_fd(&list_fd);
        return;
    }
    struct kept_files kept = {.count = 0};
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        if (is_name(entry->d_name))
            look_at(dir_fd, entry->d_name, &kept);
    closedir(dir);
    report(kept.reported_count, remove_old(dir_fd, &kept));
    finish(&kept);
}
