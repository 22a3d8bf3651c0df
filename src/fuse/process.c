/* /proc/N/status tells a thread's process, and the first thread of that process has its name and start (proc(5)). */
#include "process.h"

#include <stdio.h>
#include <stdlib.h>

#include "proc_stat.h"
#include "proc_status.h"

#define START_FIELD 22

bool process_identify(void *context, uint32_t thread, struct aggstats_identity *ret_identity) {
    struct aggstats_identity identity = {0};
    struct proc_stat stat;
    (void)context;
    if (!proc_status_number(thread, "Tgid", 10, &identity.id) || !proc_stat_read(identity.id, &stat))
        return false;
    const char *start = proc_stat_field(&stat, START_FIELD);
    if (!start)
        return false;
    identity.instance = strtoull(start, NULL, 10);
    snprintf(identity.name, sizeof(identity.name), "%s", stat.name);
    *ret_identity = identity;
    return true;
}
