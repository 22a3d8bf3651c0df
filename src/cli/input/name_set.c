/* Reading names. */
#include "name_set.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "command.h"
#include "name_list.h"
#include "path.h"

#define PROFILE_ENDING ".osprof"

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

/* Hidden files are none. */
static bool is_called(const char *name, const char *prefix) {
    size_t length = strlen(name);
    size_t ending = strlen(PROFILE_ENDING);
    return name[0] != '.' && strncmp(name, prefix, strlen(prefix)) == 0 && length > ending &&
           strcmp(name + length - ending, PROFILE_ENDING) == 0;
}

static int append_in(struct name_set *set, const char *directory, const char *name) {
    CLEANUP_FREE char *path = path_join(directory, name);
    return path ? append(set, path) : -ENOMEM;
}

int name_set_in(const char *directory, const char *prefix, struct name_set *ret_set) {
    struct dirent **entries = NULL;
    int count = scandir(directory, &entries, NULL, alphasort);
    int err = count < 0 ? negative_errno() : 0;
    *ret_set = (struct name_set){0};
    for (int i = 0; i < count; i++) {
        if (!err && is_called(entries[i]->d_name, prefix))
            err = append_in(ret_set, directory, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return err;
}

bool name_is_directory(const char *name) {
    struct stat attr;
    return stat(name, &attr) == 0 && S_ISDIR(attr.st_mode);
}

void name_set_finish(struct name_set *set) {
    for (size_t i = 0; i < set->count; i++)
        free(set->names[i]);
    free(set->names);
    *set = (struct name_set){0};
}
