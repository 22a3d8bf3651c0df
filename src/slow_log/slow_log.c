/* The queue, and the thread that writes. */
#include "slow_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "log.h"
#include "quiet_thread.h"
#include "slow_log_file.h"
#include "slow_log_line.h"
#include "user_shares.h"
#include "waiting.h"

#define QUEUE_MAX 512
#define END_WAIT_S 2

struct slow_log {
    struct slow_log_options options;
    bool is_system;
    bool is_failing;  /* used by the thread, like the next three */
    uint64_t missing; /* calls without a line since the last one written */
    struct slow_log_file file;
    struct slow_log_rate rate;
    pthread_t thread;
    bool has_thread;
    pthread_cond_t changed;
    pthread_mutex_t lock; /* of what follows */
    bool has_ended;
    struct slow_log_call *queue[QUEUE_MAX]; /* number i in i % QUEUE_MAX */
    uint64_t added_count;
    uint64_t taken_count;
    struct user_shares queued; /* calls in the queue */
    uint64_t lost;             /* calls that found no place, since the last that did not */
};

/* ---- The queue ---- */

/* The lock is never held while anything is written. */
void slow_log_take(void *context, const struct aggstats_call *call, uint64_t lost) {
    struct slow_log *log = context;
    struct slow_log_call *copy = slow_log_call_copy(call);
    pthread_mutex_lock(&log->lock);
    log->lost += lost;
    if (copy && user_shares_are_left(&log->queued, call->uid)) {
        user_shares_take(&log->queued, call->uid, 1);
        copy->missing = log->lost;
        log->lost = 0;
        log->queue[log->added_count++ % QUEUE_MAX] = steal_pointer(&copy);
        pthread_cond_signal(&log->changed);
    } else {
        log->lost++;
    }
    pthread_mutex_unlock(&log->lock);
    free(copy);
}

/* Waits for the next call. Returns NULL when a minute of the system log's is over, and when the log ends. */
static struct slow_log_call *next_call(struct slow_log *log, bool *ret_has_ended) {
    struct slow_log_call *call = NULL;
    int64_t until_ns = slow_log_rate_until(&log->rate);
    const struct timespec until = timespec_of(until_ns);
    int err = 0;
    pthread_mutex_lock(&log->lock);
    while (log->added_count == log->taken_count && !log->has_ended && err != ETIMEDOUT)
        err = until_ns < 0 ? pthread_cond_wait(&log->changed, &log->lock)
                           : pthread_cond_timedwait(&log->changed, &log->lock, &until);
    if (log->added_count > log->taken_count) {
        call = log->queue[log->taken_count++ % QUEUE_MAX];
        user_shares_give(&log->queued, call->call.uid, 1);
    }
    *ret_has_ended = !call && log->has_ended;
    if (*ret_has_ended) { /* also counts the calls lost after the last one queued */
        log->missing += log->lost;
        log->lost = 0;
    }
    pthread_mutex_unlock(&log->lock);
    return call;
}

/* ---- Writing ---- */

/* Prints a message when writing fails for the first time, and when it works again. */
static void tell(struct slow_log *log, int err) {
    if (err < 0 && !log->is_failing)
        log_message("slowlog=%s: cannot write: %s; slow calls are counted until it can be written again",
                    log->options.target, strerror(-err));
    if (err == 0 && log->is_failing)
        log_message("slowlog=%s: can be written again; %" PRIu64 " slow calls are not in it", log->options.target,
                    log->missing);
    log->is_failing = err < 0;
}

static int write_line(struct slow_log *log, const char *line, size_t size_bytes) {
    if (!log->is_system)
        return slow_log_file_write(&log->file, line, size_bytes);
    log_to_system("@cee: %.*s", (int)size_bytes - 1, line); /* without its newline */
    return 0;
}

static void log_call(struct slow_log *log, struct slow_log_call *call) {
    CLEANUP_FREE char *line = NULL;
    size_t size_bytes = 0;
    if (log->is_system && !slow_log_rate_allows(&log->rate, call->call.uid, read_clock_ns(CLOCK_MONOTONIC))) {
        log->missing += call->missing + 1;
        return;
    }
    call->missing += log->missing;
    int err = slow_log_line(call, log->options.mountpoint, &log->options.clock, &line, &size_bytes);
    if (err == 0)
        err = write_line(log, line, size_bytes);
    tell(log, err);
    log->missing = err == 0 ? 0 : call->missing + 1;
}

/* Reports the calls missing after the last line. */
static void say_missing(struct slow_log *log) {
    if (log->missing > 0 && log->is_system)
        log_to_system("%" PRIu64 " slow calls of %s are left out here: more than %u a minute (slowlog_rate)",
                      log->missing, log->options.mountpoint, log->options.rate_max);
    else if (log->missing > 0)
        log_message("slowlog=%s: %" PRIu64 " slow calls are not in it", log->options.target, log->missing);
    log->missing = 0;
}

static void *run(void *argument) {
    struct slow_log *log = argument;
    bool has_ended = false;
    while (!has_ended) {
        struct slow_log_call *call = next_call(log, &has_ended);
        if (slow_log_rate_is_over(&log->rate, read_clock_ns(CLOCK_MONOTONIC)) || has_ended)
            say_missing(log);
        if (call)
            log_call(log, call);
        free(call);
    }
    return NULL;
}

/* ---- Life cycle ---- */

static int open_target(struct slow_log *log) {
    log->is_system = strcmp(log->options.target, SLOW_LOG_SYSTEM) == 0;
    if (!log->is_system)
        return slow_log_file_open(&log->file, log->options.target, log->options.size_bytes_max);
    int err = log_open_system();
    if (err < 0)
        log_message("slowlog=%s: there is no system log here (/dev/log); log to a file, with slowlog=FILE",
                    SLOW_LOG_SYSTEM);
    return err;
}

int slow_log_start(const struct slow_log_options *options, struct slow_log **ret_log) {
    struct slow_log *log = calloc(1, sizeof(*log));
    if (!log)
        return -ENOMEM;
    *log = (struct slow_log){.options = *options, .file = SLOW_LOG_FILE_NONE, .rate = {.lines_max = options->rate_max}};
    user_shares_init(&log->queued, QUEUE_MAX, 0);
    pthread_mutex_init(&log->lock, NULL);
    cond_init_monotonic(&log->changed);
    int err = open_target(log);
    if (err == 0) {
        err = quiet_thread_start(&log->thread, run, log);
        log->has_thread = err == 0;
        if (err < 0)
            log_message("slowlog=%s: cannot start its thread: %s", log->options.target, strerror(-err));
    }
    if (err < 0)
        slow_log_destroy(log);
    else
        *ret_log = log;
    return err;
}

bool slow_log_end(struct slow_log *log) {
    if (!log || !log->has_thread)
        return true;
    pthread_mutex_lock(&log->lock);
    log->has_ended = true;
    pthread_cond_signal(&log->changed);
    pthread_mutex_unlock(&log->lock);
    log->has_thread = !join_within(log->thread, END_WAIT_S);
    if (log->has_thread)
        log_message("slowlog=%s: writing hangs; the last slow calls are not in it", log->options.target);
    return !log->has_thread;
}

void slow_log_destroy(struct slow_log *log) {
    if (!log || !slow_log_end(log))
        return;
    while (log->taken_count < log->added_count)
        free(log->queue[log->taken_count++ % QUEUE_MAX]);
    slow_log_file_close(&log->file);
    pthread_mutex_destroy(&log->lock);
    pthread_cond_destroy(&log->changed);
    free(log);
}
