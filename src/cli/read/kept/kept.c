/* Keeping results, and finding them by name. */
#include "kept.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "command.h"
#include "state_dir.h"

#define ENDING ".osprof"
#define STAMP_LENGTH (KEPT_STAMP_SIZE - 1)
#define NAME_SIZE (STAMP_LENGTH + sizeof(ENDING) + 24)

/* ---- Names of files ----------------------------------------------------------------------------- */

/* STAMP.osprof, or STAMP.PART.osprof */
static void format_name(const char *stamp, size_t part, char ret_name[NAME_SIZE]) {
    if (part == 0)
        snprintf(ret_name, NAME_SIZE, "%s" ENDING, stamp);
    else
        snprintf(ret_name, NAME_SIZE, "%s.%zu" ENDING, stamp, part);
}

static bool is_stamp(const char *name) {
    static const char shape[] = "ddddddddTdddddd.dddddddddZ";
    for (size_t i = 0; i < STAMP_LENGTH; i++) {
        bool fits = shape[i] == 'd' ? name[i] >= '0' && name[i] <= '9' : name[i] == shape[i];
        if (!fits) /* as the end of the name does not */
            return false;
    }
    return true;
}

/* False if no time has that stamp. */
static bool parse_stamp(const char *stamp, int64_t *ret_unix_ns) {
    struct tm time = {0};
    const char *rest = strptime(stamp, "%Y%m%dT%H%M%S", &time);
    if (!rest || *rest != '.')
        return false;
    const int64_t seconds = timegm(&time);
    if (seconds < 0 || seconds >= INT64_MAX / NS_PER_S)
        return false;
    *ret_unix_ns = seconds * NS_PER_S + strtol(rest + 1, NULL, 10);
    return true;
}

static bool parse_name(const char *name, size_t *ret_part) {
    const char *rest = name + STAMP_LENGTH;
    char *end = NULL;
    if (!is_stamp(name))
        return false;
    *ret_part = 0;
    if (strcmp(rest, ENDING) == 0)
        return true;
    if (rest[0] != '.' || rest[1] < '1' || rest[1] > '9')
        return false;
    *ret_part = strtoul(rest + 1, &end, 10);
    return strcmp(end, ENDING) == 0;
}

/* ---- All that is kept --------------------------------------------------------------------------- */

struct kept_file {
    char stamp[KEPT_STAMP_SIZE];
    size_t part;
};

/* The latest run first; parts of a run in order. */
struct kept_files {
    struct kept_file *files;
    size_t count;
};

static int compare_files(const void *a, const void *b) {
    const struct kept_file *left = a;
    const struct kept_file *right = b;
    int order = strcmp(right->stamp, left->stamp);
    return order != 0 ? order : (left->part > right->part) - (left->part < right->part);
}

/* Owner: the caller frees ret_files->files, also after an error. */
static int list_files(int dir_fd, struct kept_files *ret_files) {
    struct kept_files *files = ret_files;
    *files = (struct kept_files){.count = 0};
    int list_fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = list_fd < 0 ? NULL : fdopendir(list_fd);
    int error = dir ? 0 : negative_errno();
    if (!dir) {
        close_fd(&list_fd);
        return error;
    }
    const struct dirent *entry;
    while (error == 0 && (entry = readdir(dir))) {
        struct kept_file file;
        int64_t unix_ns;
        if (!parse_name(entry->d_name, &file.part) || !parse_stamp(entry->d_name, &unix_ns))
            continue;
        memcpy(file.stamp, entry->d_name, STAMP_LENGTH);
        file.stamp[STAMP_LENGTH] = '\0';
        error = grow_array(&files->files, files->count, sizeof(file));
        if (error == 0)
            files->files[files->count++] = file;
    }
    closedir(dir);
    if (files->count > 0)
        qsort(files->files, files->count, sizeof(*files->files), compare_files);
    return error;
}

/* The index of a run's first file; the number of files if there are fewer runs. number: from 1, the last run */
static size_t find_run(const struct kept_files *files, size_t number) {
    size_t runs = 0;
    for (size_t i = 0; i < files->count; i++) {
        runs += i == 0 || strcmp(files->files[i].stamp, files->files[i - 1].stamp) != 0;
        if (runs == number)
            return i;
    }
    return files->count;
}

/* ---- Keeping ------------------------------------------------------------------------------------ */

void kept_open(struct kept *ret_kept) {
    *ret_kept = (struct kept){.dir_fd = -1};
    ret_kept->error = state_dir_open(true, &ret_kept->dir_fd, ret_kept->path);
}

/* Other runs may be doing the same. */
static void forget_old(int dir_fd) {
    struct kept_files files;
    char name[NAME_SIZE];
    if (list_files(dir_fd, &files) == 0) {
        for (size_t i = find_run(&files, KEPT_RUNS_MAX + 1); i < files.count; i++) {
            format_name(files.files[i].stamp, files.files[i].part, name);
            unlinkat(dir_fd, name, 0);
        }
    }
    free(files.files);
}

/* Gives a file the first name that is free: of now; or just after the last run, if the clock has been set back since. */
static int give_new_name(struct kept *kept, struct nameless_file *file, size_t part) {
    struct kept_files files;
    int64_t unix_ns = read_clock_ns(CLOCK_REALTIME);
    int64_t last_ns = 0;
    int error = -EEXIST;
    if (list_files(kept->dir_fd, &files) == 0 && files.count > 0 && parse_stamp(files.files[0].stamp, &last_ns) &&
        last_ns >= unix_ns)
        unix_ns = last_ns + 1;
    free(files.files);
    for (; error == -EEXIST; unix_ns++) {
        char stamp[KEPT_STAMP_SIZE] = "";
        char utc[UTC_TEXT_SIZE];
        char name[NAME_SIZE];
        size_t length = 0;
        format_utc(unix_ns, utc);
        for (const char *at = utc; *at && length < STAMP_LENGTH; at++)
            if (*at != '-' && *at != ':')
                stamp[length++] = *at;
        format_name(stamp, part, name);
        error = nameless_file_give_name(file, name, false);
        if (error == 0)
            memcpy(kept->stamp, stamp, sizeof(stamp));
    }
    return error;
}

/* It is not synced to the disk, which may take seconds after a command that has written much. */
static int save(struct kept *kept, size_t part, const char *text, size_t size_bytes) {
    struct nameless_file file;
    char name[NAME_SIZE];
    int error = nameless_file_create(kept->dir_fd, &file);
    if (error)
        return error;
    error = allocate_blocks(file.fd, 0, size_bytes);
    if (error == 0 || error == -EOPNOTSUPP || error == -EINVAL)
        error = write_all(file.fd, text, size_bytes);
    if (error == 0 && kept->stamp[0]) {
        format_name(kept->stamp, part, name);
        error = nameless_file_give_name(&file, name, false);
    } else if (error == 0) {
        error = give_new_name(kept, &file, part);
    }
    nameless_file_finish(&file);
    return error;
}

void kept_save(struct kept *kept, size_t part, const char *text, size_t size_bytes) {
    int error = kept->dir_fd >= 0 ? save(kept, part, text, size_bytes) : kept->error;
    if (error)
        kept->error = error;
    else
        forget_old(kept->dir_fd);
}

void kept_finish(struct kept *kept) {
    close_fd(&kept->dir_fd);
    if (kept->error)
        complain("this result is not kept in %s: %s; XDG_STATE_HOME can name another directory", kept->path,
                 state_dir_reason(kept->error));
}

/* ---- Finding by name ---------------------------------------------------------------------------- */

struct kept_name {
    size_t number; /* of the run, from 1 */
    size_t part;   /* 0: none */
};

/* One or two digits. Returns the rest of the text; NULL: there is no number */
static const char *parse_number(const char *text, size_t *ret_number) {
    const size_t digits = strspn(text, "0123456789");
    if (digits < 1 || digits > 2)
        return NULL;
    *ret_number = strtoul(text, NULL, 10);
    return text + digits;
}

static bool parse_argument(const char *argument, struct kept_name *ret_name) {
    *ret_name = (struct kept_name){.part = 0};
    const char *rest = argument[0] == '@' ? parse_number(argument + 1, &ret_name->number) : NULL;
    if (rest && *rest == '.')
        rest = parse_number(rest + 1, &ret_name->part);
    return rest && *rest == '\0';
}

bool kept_is_name(const char *argument) {
    struct kept_name name;
    return parse_argument(argument, &name);
}

static void complain_none(void) {
    const char *here = access("osprof.out", R_OK) == 0 ? ", such as osprof.out, which is here" : "";
    complain("no result is kept yet: 'osprof run COMMAND' keeps what it measures; or name a profile%s", here);
}

/* The index of the file; -ENOENT: there is none, which is reported. */
static int find_file(const char *argument, const struct kept_files *files, const struct kept_name *name,
                     size_t *ret_index) {
    const size_t first = name->number > 0 ? find_run(files, name->number) : files->count;
    size_t runs = 0;
    size_t last = first;
    for (size_t i = first; i < files->count && strcmp(files->files[i].stamp, files->files[first].stamp) == 0; i++) {
        last = *ret_index = i;
        if (files->files[i].part == name->part)
            return 0;
    }
    while (find_run(files, runs + 1) < files->count)
        runs++;
    if (runs == 0)
        complain_none();
    else if (first == files->count && runs == 1)
        complain("there is no %s: one run is kept, @1; 'osprof show --list' says which", argument);
    else if (first == files->count)
        complain("there is no %s: %zu runs are kept, @1 is the last, @%zu the oldest; 'osprof show --list' lists them",
                 argument, runs, runs);
    else if (name->part == 0)
        complain("the run %s has a profile for each directory: name one of @%zu.%zu to @%zu.%zu", argument,
                 name->number, files->files[first].part, name->number, files->files[last].part);
    else
        complain("there is no %s: that run has not so many directories that it profiled one by one", argument);
    return -ENOENT;
}

static void format_time(const char *stamp, char ret_time[KEPT_TIME_SIZE]) {
    int64_t unix_ns = 0;
    struct tm local;
    ret_time[0] = '\0';
    if (!parse_stamp(stamp, &unix_ns))
        return;
    const time_t seconds = (time_t)(unix_ns / NS_PER_S);
    if (localtime_r(&seconds, &local))
        strftime(ret_time, KEPT_TIME_SIZE, "%Y-%m-%d %H:%M:%S", &local);
}

/* Errors: reported to the user. argument: what is looked for */
static int find_kept(const char *argument, int *ret_dir_fd, struct kept_files *ret_files) {
    char path[PATH_MAX];
    int error = state_dir_open(false, ret_dir_fd, path);
    if (error == 0)
        error = list_files(*ret_dir_fd, ret_files);
    if (error == -ENOENT)
        complain_none();
    else if (error)
        complain("cannot find %s in %s: %s", argument, path, state_dir_reason(error));
    return error;
}

int kept_list(struct kept_entry **ret_entries, size_t *ret_count) {
    CLEANUP_FD int dir_fd = -1;
    struct kept_files files = {.count = 0};
    size_t number = 0;
    int error = find_kept("results", &dir_fd, &files);
    struct kept_entry *entries = error ? NULL : calloc(files.count + 1, sizeof(*entries));
    for (size_t i = 0; entries && i < files.count; i++) {
        const struct kept_file *file = &files.files[i];
        number += i == 0 || strcmp(file->stamp, files.files[i - 1].stamp) != 0;
        if (file->part == 0)
            snprintf(entries[i].name, sizeof(entries[i].name), "@%zu", number);
        else
            snprintf(entries[i].name, sizeof(entries[i].name), "@%zu.%zu", number, file->part);
        format_time(file->stamp, entries[i].time);
    }
    if (!error && files.count == 0) {
        complain_none();
        error = -ENOENT;
    } else if (!error && !entries) {
        error = -ENOMEM;
        complain("cannot list results: %s", strerror(-error));
    }
    *ret_count = files.count;
    *ret_entries = entries;
    free(files.files);
    return error;
}

int kept_open_named(const char *argument, int *ret_fd, char ret_time[KEPT_TIME_SIZE]) {
    CLEANUP_FD int dir_fd = -1;
    struct kept_files files = {.count = 0};
    struct kept_name name;
    size_t index = 0;
    char file_name[NAME_SIZE];
    if (!parse_argument(argument, &name))
        return -EINVAL;
    int error = find_kept(argument, &dir_fd, &files);
    if (error == 0)
        error = find_file(argument, &files, &name, &index);
    if (error == 0) {
        assert(index < files.count && files.files);
        format_time(files.files[index].stamp, ret_time);
        format_name(files.files[index].stamp, files.files[index].part, file_name);
        *ret_fd = openat(dir_fd, file_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        error = *ret_fd < 0 ? negative_errno() : 0;
        if (error)
            complain("cannot open %s: %s", argument, strerror(-error));
    }
    free(files.files);
    return error;
}
