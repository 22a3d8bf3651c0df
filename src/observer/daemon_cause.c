#include "daemon_cause.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/slow.h"
#include "base.h"

#define THREADS_MAX 64

/* It waits for another thread, which works on the request, or for a new request. */
static bool waits_for_thread(const struct thread_reading *reading) {
    return reading->why.kind == AGGSTATS_CAUSE_THREAD || reading->why.kind == AGGSTATS_CAUSE_REQUESTS;
}

/* The activity of a thread; returns false if it waits for another one. */
static bool look_at_other(const struct daemon_causes *causes, uint64_t thread, struct thread_reading *ret_reading) {
    uint64_t memory[2] = {0, 0};
    const struct aggstats_look look = {.thread = thread, .memory = memory};
    return thread_read(causes->holders.causes, &look, ret_reading) && !waits_for_thread(ret_reading);
}

/* The common activity of all other threads that wait for no thread. Returns false if there is none, or they differ. */
static bool find_other(const struct daemon_causes *causes, uint64_t thread, struct thread_reading *ret_reading) {
    char path[64];
    unsigned looked_at = 0;
    bool is_found = false;
    bool is_same = true;
    struct thread_reading reading;
    snprintf(path, sizeof(path), "/proc/%ld/task", (long)causes->process);
    DIR *threads = causes->process > 0 ? opendir(path) : NULL;
    for (struct dirent *entry; threads && (entry = readdir(threads)) && looked_at < THREADS_MAX;) {
        const uint64_t other = strtoull(entry->d_name, NULL, 10);
        if (other == 0 || other == thread)
            continue;
        looked_at++;
        if (!look_at_other(causes, other, &reading))
            continue;
        is_same = is_same && (!is_found || aggstats_why_is_same(&reading.why, &ret_reading->why));
        *ret_reading = reading;
        is_found = true;
    }
    if (threads)
        closedir(threads);
    return is_found && is_same;
}

/* If that is unknown, the thread's own stack stays. */
static void name_other(const struct daemon_causes *causes, uint64_t thread, struct aggstats_wait *wait) {
    static const struct aggstats_why unknown = {
        .kind = AGGSTATS_CAUSE_THREAD, .id = "other_thread", .words = "waiting for another thread"};
    struct thread_reading other;
    if (!find_other(causes, thread, &other)) {
        wait->cause = unknown;
        return;
    }
    thread_reading_wait(&other, wait);
    wait->cause.flags |= AGGSTATS_WHY_OTHER_THREAD;
}

bool daemon_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait) {
    struct daemon_causes *causes = context;
    struct thread_reading reading;
    const bool is_known = thread_read(causes->holders.causes, look, &reading);
    thread_reading_wait(&reading, ret_wait);
    if (is_known && waits_for_thread(&reading))
        name_other(causes, look->thread, ret_wait);
    else
        slow_holders_find(&causes->holders, look, &reading, 0, ret_wait);
    if (causes->catch_up)
        causes->catch_up(causes->catch_up_context);
    return is_known;
}
