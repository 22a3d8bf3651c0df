/* Holders of what slow calls wait for, as the recorder's watcher of slow calls asks for them. */
#ifndef SLOW_HOLDERS_H
#define SLOW_HOLDERS_H

#include <sys/types.h>

#include "aggstats.h"
#include "aggstats/slow.h"
#include "thread_cause.h"

struct slow_holders {
    struct thread_causes *causes; /* borrowed */
    int64_t next_ns;              /* not looked for before, by CLOCK_MONOTONIC; 0 at first */
    /* The file system that a thread's call by name is on. Returns 0 if it is unknown. NULL: it always is
     * Threads: that of slow_holders_find() */
    dev_t (*device_of)(void *context, uint64_t thread);
    void *device_context;
};

/* An aggstats_holder_fn; context: a struct slow_holders. For threads of this process and others. It takes at most about
 * a tenth of the time: a machine with many processes or mounts is looked at less often. */
bool slow_holders_find(void *context, const struct aggstats_look *look, const char *cause,
                       char ret_holder[AGGSTATS_HOLDER_SIZE]);

#endif
