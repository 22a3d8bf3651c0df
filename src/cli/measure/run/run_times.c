/* The kernel adds up the CPU time of processes that have been waited for, but not how long they waited for a CPU. That
 * is known of the command's first thread alone: if it was the only one, its CPU time is that of all. */
#include "run_times.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>

#include "base.h"
#include "bytes.h"
#include "proc.h"

/* For each read that was not seen: to execute a program, the kernel and ld.so make reads of at most 832 bytes. */
#define UNSEEN_BYTES 832
#define IS_ALL 0.98 /* of the CPU time: the rest is what shells and loaders take before they become the command */

/* Its own reading between the two is the same each time, and falls out of differences. */
static struct run_witness read_witness(void) {
    struct proc_io all;
    struct proc_io own;
    if (!proc_io_read("self", &all) || !proc_io_read("thread-self", &own))
        return (struct run_witness){.is_known = false};
    return (struct run_witness){true, all.read_bytes - own.read_bytes, all.written_bytes - own.written_bytes,
                                all.reads - own.reads};
}

void run_times_begin(struct run_times *times) {
    *times = (struct run_times){0};
    getrusage(RUSAGE_CHILDREN, &times->before);
    times->knows_io = proc_io_read("self", &times->before_io);
    times->witness = read_witness();
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

void run_times_add(const struct run_times *times, bool is_mounted, struct aggstats_profile *profile) {
    struct rusage now;
    struct proc_io io;
    getrusage(RUSAGE_CHILDREN, &now);
    profile->has_cpu = true;
    profile->user_ns = nanoseconds_between(times->before.ru_utime, now.ru_utime);
    profile->system_ns = nanoseconds_between(times->before.ru_stime, now.ru_stime);
    const double all_ns = (double)profile->user_ns + (double)profile->system_ns;
    profile->has_queue = times->ran_ns > 0 && (double)times->ran_ns >= IS_ALL * all_ns;
    profile->queue_ns = profile->has_queue ? times->queued_ns : 0;
    if (!is_mounted) {
        profile->has_storage_read = times->knows_io && proc_io_read("self", &io);
        profile->storage_read_bytes =
            profile->has_storage_read ? io.storage_read_bytes - times->before_io.storage_read_bytes : 0;
    }
    profile->has_page_faults = true;
    profile->page_faults.minor = (uint64_t)(now.ru_minflt - times->before.ru_minflt);
    profile->page_faults.major = (uint64_t)(now.ru_majflt - times->before.ru_majflt);
}

static uint64_t less(uint64_t number, uint64_t more) {
    return number > more ? number - more : 0;
}

void run_times_add_witness(const struct run_times *times, const struct run_witness *other, bool is_narrowed,
                           struct aggstats_profile *profile) {
    const struct run_witness *before = &times->witness;
    const struct run_witness after = read_witness();
    if (!before->is_known || !after.is_known)
        return;
    const struct bytes_seen seen = bytes_seen(profile);
    const uint64_t unseen_reads = less(after.reads - before->reads, seen.reads + other->reads);
    profile->has_witness = true;
    profile->bytes_seen = (struct aggstats_bytes){seen.read, seen.written};
    profile->bytes_kernel =
        (struct aggstats_bytes){less(after.read - before->read, other->read + unseen_reads * UNSEEN_BYTES),
                                less(after.written - before->written, other->written)};
    profile->has_elsewhere = is_narrowed;
    if (is_narrowed)
        profile->bytes_elsewhere = (struct aggstats_bytes){other->read, other->written};
}
