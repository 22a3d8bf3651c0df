/* Reading names. */
#include "name_list.h"

#include <string.h>

#include "base.h"
#include "command.h"

static int append(struct name_list *list, const char *name) {
    char **grown = reallocarray(list->names, list->count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    list->names = grown;
    list->names[list->count] = strdup(name);
    if (!list->names[list->count])
        return -ENOMEM;
    list->count++;
    return 0;
}

static int append_lines(struct name_list *list, FILE *stream) {
    CLEANUP_FREE char *line = NULL;
    size_t size = 0;
    ssize_t length;
    while ((length = getline(&line, &size, stream)) >= 0) {
        if (length > 0 && line[length - 1] == '\n')
            line[--length] = '\0';
        int err = length > 0 ? append(list, line) : 0;
        if (err)
            return err;
    }
    return ferror(stream) ? negative_errno() : 0;
}

static int append_file(struct name_list *list, const char *path) {
    if (strcmp(path, "-") == 0)
        return append_lines(list, stdin);
    CLEANUP_STREAM FILE *stream = fopen(path, "re");
    return stream ? append_lines(list, stream) : negative_errno();
}

int name_list_of(char *const *arguments, size_t count, struct name_list *ret_list) {
    *ret_list = (struct name_list){0};
    for (size_t i = 0; i < count; i++) {
        bool is_file = arguments[i][0] == '@';
        int err = is_file ? append_file(ret_list, arguments[i] + 1) : append(ret_list, arguments[i]);
        if (err) {
            complain("cannot read the names in %s: %s", arguments[i] + is_file, strerror(-err));
            return err;
        }
    }
    return 0;
}

void name_list_finish(struct name_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct name_list){0};
}
