/* Making directories, and writing profiles into them. */
#include "versus.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "command.h"
#include "output.h"
#include "path.h"
#include "run_report.h"

static int check_empty(int fd) {
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (!stream) {
        int err = negative_errno();
        close_fd(&copy);
        return err;
    }
    int err = 0;
    const struct dirent *entry;
    while (!err && (entry = readdir(stream)))
        err = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 ? -ENOTEMPTY : 0;
    closedir(stream);
    return err;
}

/* A directory that another user has made is not trusted. */
static int open_directory(int parent_fd, const char *name, int *ret_fd) {
    struct stat attr;
    bool is_new = mkdirat(parent_fd, name, 0777) == 0;
    if (!is_new && errno != EEXIST)
        return negative_errno();
    *ret_fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*ret_fd < 0 || fstat(*ret_fd, &attr) < 0)
        return negative_errno();
    if (attr.st_uid != geteuid())
        return -EPERM;
    return is_new ? 0 : check_empty(*ret_fd);
}

static int name_directory(struct run_sets *sets, size_t index, const char *name) {
    char number[24] = "";
    if (sets->count > 1)
        snprintf(number, sizeof(number), ".%zu", index + 1);
    if (asprintf(&sets->names[index], "%s%s", name, number) < 0) {
        sets->names[index] = NULL;
        return -ENOMEM;
    }
    return 0;
}

static int open_directories(struct run_sets *sets) {
    CLEANUP_FREE char *path = strdup(sets->given);
    const char *name;
    sets->names = calloc(sets->count, sizeof(*sets->names));
    sets->fds = calloc(sets->count, sizeof(*sets->fds));
    if (!path || !sets->names || !sets->fds)
        return -ENOMEM;
    for (size_t i = 0; i < sets->count; i++)
        sets->fds[i] = -1;
    for (size_t length = strlen(path); length > 1 && path[length - 1] == '/'; length--)
        path[length - 1] = '\0';
    int err = open_parent(AT_FDCWD, path, &sets->parent_fd, &name);
    for (size_t i = 0; !err && i < sets->count; i++) {
        err = name_directory(sets, i, name);
        if (!err)
            err = open_directory(sets->parent_fd, sets->names[i], &sets->fds[i]);
    }
    return err;
}

int run_sets_open(struct run_sets *ret_sets, const char *given, size_t count) {
    *ret_sets = (struct run_sets){.given = given, .count = count, .parent_fd = -1};
    int err = given ? open_directories(ret_sets) : 0;
    if (err == -ENOTEMPTY)
        complain("cannot keep profiles in %s: it is not empty; name a new directory", given);
    else if (err)
        complain("cannot keep profiles in %s: %s", given, strerror(-err));
    return err;
}

void run_sets_finish(struct run_sets *sets) {
    for (size_t i = 0; sets->names && sets->fds && i < sets->count; i++) {
        if (sets->fds[i] >= 0 && check_empty(sets->fds[i]) == 0)
            unlinkat(sets->parent_fd, sets->names[i], AT_REMOVEDIR);
        close_fd(&sets->fds[i]);
        free(sets->names[i]);
    }
    free(sets->names);
    free(sets->fds);
    close_fd(&sets->parent_fd);
}

int run_sets_save(const struct run_sets *sets, size_t directory, size_t side, size_t run,
                  const struct aggstats_profile *profile) {
    char name[32];
    CLEANUP_FREE char *shown = NULL;
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    snprintf(name, sizeof(name), "%c-%02zu.osprof", side == 0 ? 'a' : 'b', run);
    int err = aggstats_profile_format(profile, &text, &size_bytes);
    if (!err)
        err = replace_file(sets->fds[directory], name, NULL, output_mode(profile), text, size_bytes);
    if (err) {
        shown = path_join(sets->given, name);
        run_report_not_written(shown ? shown : name, err, text);
    }
    return err;
}
