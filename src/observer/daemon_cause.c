#include "daemon_cause.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/slow.h"
#include "base.h"

#define THREADS_MAX 64
#define OTHER_THREAD "another thread"

/* It waits for another thread, which works on the request, or for a new request. */
static bool waits_for_thread(const struct aggstats_wait *wait) {
    return strstr(wait->stack, "futex") || strstr(wait->stack, "fuse_dev_do_read");
}

/* The activity of a thread; returns false if it waits for another one. */
static bool look_at_other(struct daemon_causes *causes, uint64_t thread, struct aggstats_wait *ret_wait) {
    uint64_t memory[2] = {0, 0};
    const struct aggstats_look look = {.thread = thread, .memory = memory};
    *ret_wait = (struct aggstats_wait){.cause = ""};
    return thread_cause(&causes->threads, &look, ret_wait) && !waits_for_thread(ret_wait);
}

/* The common activity of all other threads that wait for no thread. Returns false if there is none, or they differ. */
static bool find_other(struct daemon_causes *causes, uint64_t thread, struct aggstats_wait *ret_wait) {
    char path[64];
    unsigned looked_at = 0;
    bool is_found = false;
    bool is_same = true;
    struct aggstats_wait wait;
    snprintf(path, sizeof(path), "/proc/%ld/task", (long)causes->process);
    DIR *threads = causes->process > 0 ? opendir(path) : NULL;
    for (struct dirent *entry; threads && (entry = readdir(threads)) && looked_at < THREADS_MAX;) {
        const uint64_t other = strtoull(entry->d_name, NULL, 10);
        if (other == 0 || other == thread)
            continue;
        looked_at++;
        if (!look_at_other(causes, other, &wait))
            continue;
        is_same = is_same && (!is_found || strcmp(wait.cause, ret_wait->cause) == 0);
        *ret_wait = wait;
        is_found = true;
    }
    if (threads)
        closedir(threads);
    return is_found && is_same;
}

bool daemon_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait) {
    struct daemon_causes *causes = context;
    struct aggstats_wait other = {.cause = ""};
    bool is_known = thread_cause(&causes->threads, look, ret_wait);
    if (is_known && waits_for_thread(ret_wait)) {
        const bool has_other = find_other(causes, look->thread, &other);
        snprintf(ret_wait->cause, AGGSTATS_CAUSE_SIZE, has_other ? OTHER_THREAD ": %.*s" : "waiting for " OTHER_THREAD,
                 (int)(AGGSTATS_CAUSE_SIZE - sizeof(OTHER_THREAD ": ")), other.cause);
        if (has_other)
            memcpy(ret_wait->stack, other.stack, sizeof(other.stack));
    }
    if (causes->catch_up)
        causes->catch_up(causes->catch_up_context);
    return is_known;
}
