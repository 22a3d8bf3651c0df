/* Looking for holders costs from some 10 us to some 100 ms, and the thread that looks has calls to watch meanwhile.
 * The cost is CPU time: on a busy machine a look takes many times as long, and a rest by the time that passed would leave
 * calls without holders for minutes. */
#include "slow_holders.h"

#include "base.h"
#include "holders.h"
#include "proc.h"

#define SHARE 11                    /* a look's cost times that passes between looks, on average */
#define SAVED_NS INT64_C(100000000) /* the time that may be used up at once, by the looks at several calls */
#define SCAN_AGE_NS 1e8             /* from this age on descriptors of all processes are read */

void slow_holders_find(struct slow_holders *holders, const struct aggstats_look *look,
                       const struct thread_reading *reading, dev_t device, struct aggstats_wait *wait) {
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    const int64_t begin_ns = read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const struct holders_options options = {.causes = holders->causes, .may_scan = look->age_ns >= SCAN_AGE_NS};
    struct holders_waiter waiter = {.thread = look->thread, .reading = reading, .device = device};
    wait->is_put_off = now_ns < holders->next_ns;
    if (!look->wants_holder || wait->is_put_off)
        return;
    if (!proc_status_number(look->thread, "Tgid", 10, &waiter.process) ||
        !holders_find(&options, &waiter, &wait->chain) || !thread_reading_holds(reading, look->thread))
        wait->chain = (struct aggstats_chain){.count = 0};
    const int64_t saved_ns = now_ns - holders->next_ns < SAVED_NS ? now_ns - holders->next_ns : SAVED_NS;
    holders->next_ns = now_ns - saved_ns + SHARE * (read_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
}

bool slow_holders_look(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait) {
    struct slow_holders *holders = context;
    struct thread_reading reading;
    const bool is_known = thread_read(holders->causes, look, &reading);
    thread_reading_wait(&reading, ret_wait);
    slow_holders_find(holders, look, &reading, 0, ret_wait);
    return is_known;
}
