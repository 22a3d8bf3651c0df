/* Reading names. */
#include "name_set.h"

#include <dirent.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "name_list.h"

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

/* Errors: told to the user, but for -ENOMEM */
static int append_list(struct name_set *set, const char *list_name) {
    struct name_list list;
    char name[PATH_MAX];
    int err = name_list_open(&list, list_name);
    if (err)
        return err;
    int more;
    while (!err && (more = name_list_next(&list, name)) != 0)
        err = more < 0 ? more : append(set, name);
    name_list_close(&list);
    return err;
}

static int complain_no_memory(int err) {
    if (err == -ENOMEM)
        complain("no memory for the names of profiles");
    return err;
}

int name_set_of(char *const *arguments, size_t count, struct name_set *ret_set) {
    *ret_set = (struct name_set){0};
    int err = 0;
    for (size_t i = 0; !err && i < count; i++)
        err = arguments[i][0] == '@' ? append_list(ret_set, arguments[i] + 1) : append(ret_set, arguments[i]);
    return complain_no_memory(err);
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
