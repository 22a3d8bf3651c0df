/* /proc/N/cgroup has a line for each hierarchy: "0::/system.slice/cron.service", of version 1 "4:memory:/path" and
 * "1:name=systemd:/path" (cgroups(7)). Paths are as the daemon's cgroup namespace shows them. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "aggstats/caller_groups.h"
#include "base.h"
#include "path.h"
#include "process.h"

/* "blkio" in "cpu,blkio" */
static bool has_controller(const char *list, size_t length, const char *controller) {
    const size_t wanted = strlen(controller);
    for (const char *at = list; at <= list + length;) {
        const char *end = memchr(at, ',', (size_t)(list + length - at));
        const size_t here = (size_t)((end ? end : list + length) - at);
        if (here == wanted && strncmp(at, controller, wanted) == 0)
            return true;
        at += here + 1;
    }
    return false;
}

char *process_cgroup_in(char *text, const char *controller) {
    for (char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char *list = strchr(line, ':');
        char *path = list ? strchr(list + 1, ':') : NULL;
        if (!path || (controller && !has_controller(list + 1, (size_t)(path - list - 1), controller)))
            continue;
        path[1 + strcspn(path + 1, "\n")] = '\0';
        return path + 1;
    }
    return NULL;
}

bool process_cgroups_read(uint32_t thread, char ret_text[PROCESS_CGROUPS_SIZE]) {
    char file[32];
    snprintf(file, sizeof(file), "/proc/%u/cgroup", thread);
    return read_beginning(AT_FDCWD, file, ret_text, PROCESS_CGROUPS_SIZE);
}

bool process_identify_cgroup(void *context, uint32_t thread, struct aggstats_identity *ret_identity) {
    static const char deleted[] = " (deleted)"; /* the kernel appends this to the path of a removed one */
    char text[PROCESS_CGROUPS_SIZE];
    (void)context;
    if (!process_cgroups_read(thread, text))
        return false;
    char *path = process_cgroup_in(text, "");
    if (!path)
        path = process_cgroup_in(text, "name=systemd");
    if (!path)
        path = process_cgroup_in(text, NULL);
    if (!path)
        return false;
    const size_t length = strlen(path);
    if (length > strlen(deleted) && strcmp(path + length - strlen(deleted), deleted) == 0)
        path[length - strlen(deleted)] = '\0';
    *ret_identity = (struct aggstats_identity){.id = thread};
    path_copy_end(path, ret_identity->name, AGGSTATS_GROUP_NAME_SIZE);
    return true;
}

aggstats_identify_fn process_identify_by(enum aggstats_grouping grouping) {
    static const aggstats_identify_fn ways[AGGSTATS_GROUPINGS] = {[AGGSTATS_BY_PROCESS] = process_identify,
                                                                  [AGGSTATS_BY_PROGRAM] = process_identify,
                                                                  [AGGSTATS_BY_CGROUP] = process_identify_cgroup};
    return ways[grouping];
}
