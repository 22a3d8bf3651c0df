/* Causes of slow calls, and holders of what they wait for, as the recorder's watcher of slow calls asks for them. */
#ifndef SLOW_HOLDERS_H
#define SLOW_HOLDERS_H

#include <sys/types.h>

#include "aggstats.h"
#include "aggstats/slow.h"
#include "thread_cause.h"

struct slow_holders {
    const struct thread_causes *causes; /* borrowed */
    int64_t next_ns;                    /* put off until then, by CLOCK_MONOTONIC; 0 at first */
};

/* An aggstats_cause_fn, for threads of this process and others; context: a struct slow_holders. */
bool slow_holders_look(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait);

/* Finds the holder for a thread that has been read, if that is wanted; of a thread that has changed its wait since, none
 * is found. It takes at most about a tenth of a CPU: a machine with many processes or mounts is looked at less often.
 * device: of the file system that the call is on; 0: unknown, is read if possible */
void slow_holders_find(struct slow_holders *holders, const struct aggstats_look *look,
                       const struct thread_reading *reading, dev_t device, struct aggstats_wait *wait);

#endif
