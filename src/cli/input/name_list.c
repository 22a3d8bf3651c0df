/* Lists of profiles. A list that never ends takes no memory. */
#include "name_list.h"

#include <string.h>

#include "base.h"
#include "command.h"

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

static int complain_of(const struct name_list *list, int error) {
    if (error == -EINVAL)
        complain("%s is not a list of profiles: line %zu: expected a name, found a NUL byte", list->name,
                 list->line_number);
    else if (error == -ENAMETOOLONG)
        complain("%s is not a list of profiles: line %zu: expected a name of at most %d bytes", list->name,
                 list->line_number, PATH_MAX - 1);
    else
        complain("cannot read the list of profiles %s: %s", list->name, strerror(-error));
    return error;
}

int name_list_next(struct name_list *list, char ret_name[PATH_MAX]) {
    int more;
    do {
        list->line_number++;
        more = read_line(list->stream, ret_name);
        if (more < 0)
            return complain_of(list, more);
    } while (more > 0 && !ret_name[0]);
    return more;
}
