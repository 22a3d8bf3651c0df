/* /proc/N/status tells a thread's process, and the first thread of that process has its name and start (proc(5)). */
#include "process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "proc_stat.h"

#define START_FIELD 22

/* "Tgid:" stands a few lines down; the lines before it have no newline in their values. */
static bool find_process(uint32_t thread, uint64_t *ret_process) {
    char path[32];
    char status[512];
    static const char key[] = "\nTgid:";
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", thread);
    const char *line = read_beginning(AT_FDCWD, path, status, sizeof(status)) ? strstr(status, key) : NULL;
    if (!line)
        return false;
    *ret_process = strtoull(line + strlen(key), NULL, 10);
    return *ret_process > 0;
}

bool process_identify(void *context, uint32_t thread, struct aggstats_identity *ret_identity) {
    struct aggstats_identity identity = {0};
    struct proc_stat stat;
    (void)context;
    if (!find_process(thread, &identity.id) || !proc_stat_read(identity.id, &stat))
        return false;
    const char *start = proc_stat_field(&stat, START_FIELD);
    if (!start)
        return false;
    identity.instance = strtoull(start, NULL, 10);
    snprintf(identity.name, sizeof(identity.name), "%s", stat.name);
    *ret_identity = identity;
    return true;
}
