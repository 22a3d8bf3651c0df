/* /proc/N/cgroup has a line for each hierarchy: "0::/system.slice/cron.service", of version 1 "4:memory:/path" and
 * "1:name=systemd:/path" (cgroups(7)). Paths are as the daemon's cgroup namespace shows them. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "aggstats/caller_groups.h"
#include "base.h"
#include "path.h"
#include "process.h"

#define CGROUP_BYTES_MAX 16384 /* of all lines */

static const char deleted[] = " (deleted)"; /* the kernel appends this to the path of a removed one */

/* The path of the line that begins with "<number>:<name>:"; name NULL: any name. Returns NULL if there is none. Cuts
 * the text behind it. */
static char *path_in(char *text, const char *name) {
    size_t length = name ? strlen(name) : 0;
    for (char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char *field = strchr(line, ':');
        char *path = field ? strchr(field + 1, ':') : NULL;
        if (path && (!name || ((size_t)(path - field - 1) == length && strncmp(field + 1, name, length) == 0))) {
            path[1 + strcspn(path + 1, "\n")] = '\0';
            return path + 1;
        }
    }
    return NULL;
}

static void copy_path(char *path, char ret_name[AGGSTATS_GROUP_NAME_SIZE]) {
    size_t length = strlen(path);
    size_t deleted_length = strlen(deleted);
    if (length > deleted_length && strcmp(path + length - deleted_length, deleted) == 0)
        path[length - deleted_length] = '\0';
    path_copy_end(path, ret_name, AGGSTATS_GROUP_NAME_SIZE);
}

bool process_identify_cgroup(void *context, uint32_t thread, struct aggstats_identity *ret_identity) {
    char file[32];
    char text[CGROUP_BYTES_MAX];
    (void)context;
    snprintf(file, sizeof(file), "/proc/%u/cgroup", thread);
    if (!read_beginning(AT_FDCWD, file, text, sizeof(text)))
        return false;
    char *path = path_in(text, "");
    if (!path)
        path = path_in(text, "name=systemd");
    if (!path)
        path = path_in(text, NULL);
    if (!path)
        return false;
    *ret_identity = (struct aggstats_identity){.id = thread};
    copy_path(path, ret_identity->name);
    return true;
}

aggstats_identify_fn process_identify_by(enum aggstats_grouping grouping) {
    static const aggstats_identify_fn ways[AGGSTATS_GROUPINGS] = {[AGGSTATS_BY_PROCESS] = process_identify,
                                                                  [AGGSTATS_BY_PROGRAM] = process_identify,
                                                                  [AGGSTATS_BY_CGROUP] = process_identify_cgroup};
    return ways[grouping];
}
