/* Who callers were: most commands have ended when their requests are counted, a moment later. So the daemon's preloaded
 * object reports each caller while it waits for its first answer. */
#ifndef SEEN_CALLERS_H
#define SEEN_CALLERS_H

#include <pthread.h>

#include "aggstats.h"
#include "aggstats/caller_groups.h"

#define SEEN_CALLERS_MAX 4096U

struct seen_callers {
    pthread_mutex_t lock;
    struct seen_caller {
        uint32_t thread; /* 0: none */
        uint32_t process;
        char program[AGGSTATS_PROGRAM_SIZE];
    } callers[SEEN_CALLERS_MAX]; /* thread number n is at n % SEEN_CALLERS_MAX: the last one counts */
};

void seen_callers_init(struct seen_callers *seen);
void seen_callers_finish(struct seen_callers *seen);

void seen_callers_add(struct seen_callers *seen, uint32_t thread, uint32_t process, const char *program);

/* As process_identify_first(), for a caller that may have ended by now. An aggstats_identify_fn; context: a struct
 * seen_callers.
 * Threads: any */
bool seen_callers_identify_first(void *context, uint32_t thread, struct aggstats_identity *ret_identity);

#endif
