/* Reading files below /proc/N. */
#include "proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

#define STATE_FIELD 3
#define FLAGS_FIELD 9
#define KERNEL_THREAD 0x00200000U /* PF_KTHREAD */

void proc_name_read(uint64_t pid, char *ret_name, size_t size_bytes) {
    char path[48];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/comm", pid);
    read_beginning(AT_FDCWD, path, ret_name, size_bytes);
    size_t length = strlen(ret_name);
    if (length > 0 && ret_name[length - 1] == '\n')
        ret_name[length - 1] = '\0';
}

/* "4711 (name) S 1 ...". The name may hold blanks and parentheses: it ends at the last one. */
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

bool proc_stat_is_of_kernel(const struct proc_stat *stat) {
    const char *flags = proc_stat_field(stat, FLAGS_FIELD);
    return flags && strtoull(flags, NULL, 10) & KERNEL_THREAD;
}

/* Lines are of the form "Name:\tcat"; one of them may be very long. */
bool proc_status_number(uint64_t thread, const char *name, int base, uint64_t *ret_number) {
    char path[64];
    size_t length = strlen(name);
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/task/%" PRIu64 "/status", thread, thread);
    CLEANUP_STREAM FILE *status = fopen(path, "re");
    CLEANUP_FREE char *line = NULL;
    size_t size_bytes = 0;
    while (status && getline(&line, &size_bytes, status) >= 0) {
        if (strncmp(line, name, length) == 0 && line[length] == ':') {
            *ret_number = strtoull(line + length + 1, NULL, base);
            return true;
        }
    }
    return false;
}

bool proc_io_read(const char *who, struct proc_io *ret_io) {
    static const char *const names[] = {
        "rchar: ", "\nwchar: ", "\nsyscr: ", "\nsyscw: ", "\nread_bytes: ", "\nwrite_bytes: "};
    uint64_t numbers[sizeof(names) / sizeof(names[0])];
    char path[64];
    char text[256];
    snprintf(path, sizeof(path), "/proc/%s/io", who);
    read_beginning(AT_FDCWD, path, text, sizeof(text));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *line = strstr(text, names[i]);
        if (!line)
            return false;
        numbers[i] = strtoull(line + strlen(names[i]), NULL, 10);
    }
    *ret_io = (struct proc_io){numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    return true;
}
