/* Reading names, and recognising files. An endless list takes no memory, unless all of it is wanted. */
#include "name_set.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "command.h"
#include "kept.h"
#include "path.h"

#define PROFILE_ENDING ".osprof"
#define SLOTS_MIN 64

/* ---- A list, one name at a time ----------------------------------------------------------------- */

int name_list_open(struct name_list *ret_list, const char *name) {
    const bool is_stdin = strcmp(name, "-") == 0;
    FILE *stream = is_stdin ? stdin : fopen(name, "re");
    if (!stream) {
        int error = negative_errno();
        complain("cannot open the list of profiles %s: %s", name, strerror(-error));
        return error;
    }
    *ret_list = (struct name_list){.stream = stream, .name = is_stdin ? "standard input" : name};
    return 0;
}

void name_list_close(struct name_list *list) {
    if (list->stream && list->stream != stdin)
        fclose(list->stream);
    *list = (struct name_list){0};
}

/* 1: ret_line is the next line; 0: end of the list.
 * Errors:  -ENAMETOOLONG, -EINVAL it is no name, and those of reading */
static int read_line(FILE *stream, char ret_line[PATH_MAX]) {
    size_t length = 0;
    int c;
    errno = 0;
    while ((c = getc(stream)) != EOF && c != '\n') {
        if (c == '\0')
            return -EINVAL;
        if (length == PATH_MAX - 1)
            return -ENAMETOOLONG;
        ret_line[length++] = (char)c;
    }
    if (ferror(stream))
        return negative_errno();
    ret_line[length] = '\0';
    return c != EOF || length > 0;
}

int name_list_next(struct name_list *list, char ret_name[PATH_MAX]) {
    int more;
    do {
        list->line_number++;
        more = read_line(list->stream, ret_name);
    } while (more > 0 && !ret_name[0]);
    if (more == -EINVAL)
        complain("%s is not a list of profiles: line %zu: expected a name, found a NUL byte", list->name,
                 list->line_number);
    else if (more == -ENAMETOOLONG)
        complain("%s is not a list of profiles: line %zu: expected a name of at most %d bytes", list->name,
                 list->line_number, PATH_MAX - 1);
    else if (more < 0)
        complain("cannot read the list of profiles %s: %s", list->name, strerror(-more));
    return more;
}

/* ---- All names ---------------------------------------------------------------------------------- */

static int append(struct name_set *set, const char *name) {
    char *copy = name ? strdup(name) : NULL;
    if (!copy || grow_array(&set->names, set->count, sizeof(*set->names)) != 0) {
        free(copy);
        return -ENOMEM;
    }
    set->names[set->count++] = copy;
    return 0;
}

/* Errors: reported to the user, except -ENOMEM */
static int append_list(struct name_set *set, const char *list_name) {
    struct name_list list = {.stream = NULL};
    char name[PATH_MAX] = "";
    int err = name_list_open(&list, list_name);
    if (err)
        return err;
    int more;
    while (!err && (more = name_list_next(&list, name)) != 0)
        err = more < 0 ? more : append(set, name);
    name_list_close(&list);
    return err;
}

int name_set_of(char *const *arguments, size_t count, struct name_set *ret_set) {
    *ret_set = (struct name_set){0};
    int err = 0;
    for (size_t i = 0; !err && i < count; i++)
        err = arguments[i][0] == '@' && !kept_is_name(arguments[i]) ? append_list(ret_set, arguments[i] + 1)
                                                                    : append(ret_set, arguments[i]);
    if (err == -ENOMEM)
        complain("no memory for the names of profiles");
    return err;
}

/* Hidden files never match. */
int name_set_in(const char *directory, const char *prefix, struct name_set *ret_set) {
    struct dirent **entries = NULL;
    const size_t ending = strlen(PROFILE_ENDING);
    int count = scandir(directory, &entries, NULL, alphasort);
    int err = count < 0 ? negative_errno() : 0;
    *ret_set = (struct name_set){0};
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        const size_t length = strlen(name);
        if (!err && name[0] != '.' && strncmp(name, prefix, strlen(prefix)) == 0 && length > ending &&
            strcmp(name + length - ending, PROFILE_ENDING) == 0) {
            CLEANUP_FREE char *path = path_join(directory, name);
            err = append(ret_set, path);
        }
        free(entries[i]);
    }
    free(entries);
    return err;
}

int name_set_second(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            return i + 1;
    }
    return argc;
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

/* ---- Files --------------------------------------------------------------------------------------- */

static size_t slot_of(const struct file_set *set, const struct file_id *file) {
    uint64_t hash = ((uint64_t)file->inode + (uint64_t)file->device * 31) * UINT64_C(0x9e3779b97f4a7c15);
    size_t slot = (size_t)(hash >> 32) & (set->slot_count - 1);
    for (; set->files[slot].inode != 0; slot = (slot + 1) & (set->slot_count - 1))
        if (set->files[slot].inode == file->inode && set->files[slot].device == file->device)
            break;
    return slot;
}

/* At least a quarter stays free. */
static int grow(struct file_set *set) {
    struct file_set grown = {.slot_count = set->slot_count > 0 ? 2 * set->slot_count : SLOTS_MIN, .count = set->count};
    if (set->slot_count > 0 && set->count + 1 <= set->slot_count - set->slot_count / 4)
        return 0;
    grown.files = calloc(grown.slot_count, sizeof(*grown.files));
    if (!grown.files)
        return -ENOMEM;
    for (size_t i = 0; i < set->slot_count; i++)
        if (set->files[i].inode != 0)
            grown.files[slot_of(&grown, &set->files[i])] = set->files[i];
    free(set->files);
    *set = grown;
    return 0;
}

int file_set_add(struct file_set *set, dev_t device, ino_t inode) {
    const struct file_id file = {.device = device, .inode = inode};
    if (inode == 0)
        return 1;
    int error = grow(set);
    if (error)
        return error;
    size_t slot = slot_of(set, &file);
    if (set->files[slot].inode != 0)
        return 0;
    set->files[slot] = file;
    set->count++;
    return 1;
}

void file_set_finish(struct file_set *set) {
    free(set->files);
    *set = (struct file_set){.files = NULL};
}
