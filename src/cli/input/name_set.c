/* Reading names. */
#include "name_set.h"

#include <dirent.h>
#include <string.h>

#include "base.h"
#include "command.h"

static int append(struct name_set *set, const char *name) {
    char **grown = reallocarray(set->names, set->count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    set->names = grown;
    set->names[set->count] = strdup(name);
    if (!set->names[set->count])
        return -ENOMEM;
    set->count++;
    return 0;
}

static int append_lines(struct name_set *set, FILE *stream) {
    CLEANUP_FREE char *line = NULL;
    size_t size = 0;
    ssize_t length;
    while ((length = getline(&line, &size, stream)) >= 0) {
        if (length > 0 && line[length - 1] == '\n')
            line[--length] = '\0';
        int err = length > 0 ? append(set, line) : 0;
        if (err)
            return err;
    }
    return ferror(stream) ? negative_errno() : 0;
}

static int append_file(struct name_set *set, const char *path) {
    if (strcmp(path, "-") == 0)
        return append_lines(set, stdin);
    CLEANUP_STREAM FILE *stream = fopen(path, "re");
    return stream ? append_lines(set, stream) : negative_errno();
}

int name_set_of(char *const *arguments, size_t count, struct name_set *ret_set) {
    *ret_set = (struct name_set){0};
    for (size_t i = 0; i < count; i++) {
        bool is_file = arguments[i][0] == '@';
        int err = is_file ? append_file(ret_set, arguments[i] + 1) : append(ret_set, arguments[i]);
        if (err) {
            complain("cannot read the names in %s: %s", arguments[i] + is_file, strerror(-err));
            return err;
        }
    }
    return 0;
}

static bool is_called(const char *name, const char *prefix, const char *suffix) {
    size_t length = strlen(name);
    return length >= strlen(prefix) + strlen(suffix) && strncmp(name, prefix, strlen(prefix)) == 0 &&
           strcmp(name + length - strlen(suffix), suffix) == 0;
}

static int append_entries(struct name_set *set, const char *directory, DIR *stream, const char *prefix,
                          const char *suffix) {
    const struct dirent *entry;
    while (errno = 0, (entry = readdir(stream))) {
        CLEANUP_FREE char *path = NULL;
        if (!is_called(entry->d_name, prefix, suffix))
            continue;
        if (asprintf(&path, "%s/%s", directory, entry->d_name) < 0)
            return -ENOMEM;
        int err = append(set, path);
        if (err)
            return err;
    }
    return -errno;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int name_set_in(const char *directory, const char *prefix, const char *suffix, struct name_set *ret_set) {
    *ret_set = (struct name_set){0};
    DIR *stream = opendir(directory);
    int err = stream ? append_entries(ret_set, directory, stream, prefix, suffix) : negative_errno();
    if (stream)
        closedir(stream);
    if (err)
        complain("cannot read directory %s: %s", directory, strerror(-err));
    else if (ret_set->count > 0)
        qsort(ret_set->names, ret_set->count, sizeof(*ret_set->names), by_name);
    return err;
}

void name_set_finish(struct name_set *set) {
    for (size_t i = 0; i < set->count; i++)
        free(set->names[i]);
    free(set->names);
    *set = (struct name_set){0};
}
