/* Whether attaching could work for a process that has the capabilities, for advice: it asks what the process may
 * get, not what it has, and loads nothing. */
#include <linux/capability.h>
#include <sys/prctl.h>

#include "collector.h"

static bool may_get(unsigned capability) {
    return prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1;
}

bool collector_is_possible(void) {
    return (may_get(CAP_SYS_ADMIN) || (may_get(CAP_BPF) && may_get(CAP_PERFMON))) &&
           !collector_is_in_user_namespace() && !collector_is_locked_down() && collector_counts(COLLECTOR_CALLS);
}
