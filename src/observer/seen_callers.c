#include "seen_callers.h"

#include <stdio.h>
#include <string.h>

#include "aggstats/caller_groups.h"
#include "process.h"

void seen_callers_init(struct seen_callers *seen) {
    memset(seen, 0, sizeof(*seen));
    pthread_mutex_init(&seen->lock, NULL);
}

void seen_callers_finish(struct seen_callers *seen) {
    pthread_mutex_destroy(&seen->lock);
}

void seen_callers_add(struct seen_callers *seen, uint32_t thread, uint32_t process, const char *program) {
    struct seen_caller *caller = &seen->callers[thread % SEEN_CALLERS_MAX];
    pthread_mutex_lock(&seen->lock);
    *caller = (struct seen_caller){.thread = thread, .process = process};
    snprintf(caller->program, sizeof(caller->program), "%s", program);
    pthread_mutex_unlock(&seen->lock);
}

bool seen_callers_identify_first(void *context, uint32_t thread, struct aggstats_identity *ret_identity) {
    struct seen_callers *seen = context;
    pthread_mutex_lock(&seen->lock);
    const struct seen_caller caller = seen->callers[thread % SEEN_CALLERS_MAX];
    pthread_mutex_unlock(&seen->lock);
    if (thread == 0 || caller.thread != thread)
        return process_identify_first(NULL, thread, ret_identity);
    *ret_identity = (struct aggstats_identity){.id = caller.process};
    snprintf(ret_identity->name, sizeof(ret_identity->name), "%s", caller.program);
    return true;
}
