/* Reading /proc/N/task/N/stat: "4711 (name) S 1 ..." */
#include "proc_stat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base.h"

#define STATE_FIELD 3

/* The name may hold blanks and parentheses: it ends at the last one. */
bool proc_stat_read(uint64_t thread, struct proc_stat *ret_stat) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/task/%" PRIu64 "/stat", thread, thread);
    if (!read_beginning(AT_FDCWD, path, ret_stat->text, sizeof(ret_stat->text)))
        return false;
    const char *name = strchr(ret_stat->text, '(');
    char *name_end = strrchr(ret_stat->text, ')');
    if (!name || !name_end || name_end[1] != ' ')
        return false;
    *name_end = '\0';
    ret_stat->name = name + 1;
    ret_stat->state = name_end + 2;
    return true;
}

const char *proc_stat_field(const struct proc_stat *stat, unsigned number) {
    const char *field = stat->state;
    for (unsigned at = STATE_FIELD; field && at < number; at++) {
        field = strchr(field, ' ');
        field = field ? field + 1 : NULL;
    }
    return field;
}
