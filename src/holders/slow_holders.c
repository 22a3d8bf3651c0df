/* Looking for holders costs from some 10 us to some 100 ms, and the thread that looks has calls to watch meanwhile. */
#include "slow_holders.h"

#include "base.h"
#include "holders.h"
#include "proc.h"

#define REST 10         /* times what the last look took */
#define SCAN_AGE_NS 1e8 /* from this age on descriptors of all processes are read */

void slow_holders_find(struct slow_holders *holders, const struct aggstats_look *look,
                       const struct thread_reading *reading, dev_t device, struct aggstats_wait *wait) {
    const int64_t begin_ns = read_clock_ns(CLOCK_MONOTONIC);
    const struct holders_options options = {.causes = holders->causes, .may_scan = look->age_ns >= SCAN_AGE_NS};
    struct holders_waiter waiter = {.thread = look->thread, .reading = reading, .device = device};
    if (!look->wants_holder || begin_ns < holders->next_ns)
        return;
    wait->has_looked = true;
    if (!proc_status_number(look->thread, "Tgid", 10, &waiter.process) ||
        !holders_find(&options, &waiter, &wait->chain))
        wait->chain.count = 0;
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC);
    holders->next_ns = end_ns + REST * (end_ns - begin_ns);
}

bool slow_holders_look(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait) {
    struct slow_holders *holders = context;
    struct thread_reading reading;
    const bool is_known = thread_read(holders->causes, look, &reading);
    thread_reading_wait(&reading, ret_wait);
    slow_holders_find(holders, look, &reading, 0, ret_wait);
    return is_known;
}
