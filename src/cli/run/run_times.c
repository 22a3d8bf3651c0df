/* The kernel adds up the CPU time of processes that have been waited for, but not how long they waited for a CPU. That
 * is known of the command's first thread alone: if it was the only one, its CPU time is that of all. */
#include "run_times.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>

#include "base.h"

#define IS_ALL 0.98 /* of the CPU time: the rest is what shells and loaders take before they become the command */

void run_times_begin(struct run_times *times) {
    *times = (struct run_times){0};
    getrusage(RUSAGE_CHILDREN, &times->before);
    times->knows_io = proc_io_read("self", &times->before_io);
}

void run_times_note(struct run_times *times, pid_t command) {
    char path[64];
    char text[64];
    char *end;
    snprintf(path, sizeof(path), "/proc/%ld/schedstat", (long)command);
    if (!read_beginning(AT_FDCWD, path, text, sizeof(text)))
        return;
    times->ran_ns += strtoull(text, &end, 10);
    times->queued_ns += strtoull(end, NULL, 10);
}

static uint64_t nanoseconds_between(struct timeval from, struct timeval to) {
    struct timeval difference;
    timersub(&to, &from, &difference);
    return difference.tv_sec < 0 ? 0 : (uint64_t)difference.tv_sec * 1000000000 + (uint64_t)difference.tv_usec * 1000;
}

static void set_storage_read(const struct run_times *times, struct aggstats_profile *profile) {
    struct proc_io io;
    profile->has_storage_read = times->knows_io && proc_io_read("self", &io);
    profile->storage_read_bytes =
        profile->has_storage_read ? io.storage_read_bytes - times->before_io.storage_read_bytes : 0;
}

void run_times_add(const struct run_times *times, bool is_mounted, struct aggstats_profile *profile) {
    struct rusage now;
    getrusage(RUSAGE_CHILDREN, &now);
    profile->has_cpu = true;
    profile->user_ns = nanoseconds_between(times->before.ru_utime, now.ru_utime);
    profile->system_ns = nanoseconds_between(times->before.ru_stime, now.ru_stime);
    const double all_ns = (double)profile->user_ns + (double)profile->system_ns;
    profile->has_queue = times->ran_ns > 0 && (double)times->ran_ns >= IS_ALL * all_ns;
    profile->queue_ns = profile->has_queue ? times->queued_ns : 0;
    if (!is_mounted)
        set_storage_read(times, profile);
    profile->has_page_faults = true;
    profile->page_faults.minor = (uint64_t)(now.ru_minflt - times->before.ru_minflt);
    profile->page_faults.major = (uint64_t)(now.ru_majflt - times->before.ru_majflt);
}
