/* Measuring characteristic times (thesis §3.1.2). All are taken unprivileged, and many times each: on a machine with
 * other users single ones may be anything, but half of them are seldom disturbed.
 *
 * Functions return 0, or -errno if the time cannot be measured; ret_samples is valid only with 0. */
#ifndef MEASURE_H
#define MEASURE_H

#include "aggstats.h"

#define SAMPLES_MAX 1024U

struct samples {
    double ns[SAMPLES_MAX];
    size_t count;
};

/* How long to measure. */
struct effort {
    struct aggstats_clock clock;
    size_t sample_count; /* up to SAMPLES_MAX */
    double seconds_max;  /* for each time; sampling ends after that */
    size_t file_bytes;   /* size of the file on a device */
};

/* ---- The times ---------------------------------------------------------------------------------- */

/* A system call that does nothing: getppid. */
int measure_system_call(const struct effort *effort, struct samples *ret_samples);

/* pread of 4 KiB in the page cache. */
int measure_cache_read(const struct effort *effort, struct samples *ret_samples);

/* Two processes on one CPU pass a byte back and forth through pipes; half a round trip, including a write and a
 * read. */
int measure_context_switch(const struct effort *effort, struct samples *ret_samples);

/* The timer's interrupts, seen as gaps in the readings of the clock by a thread that does nothing else: how long each
 * takes, and the time between them.
 * Errors:  -ENODATA they cannot be distinguished from other gaps
 * Source:  thesis §3.3.1 */
int measure_timer(const struct effort *effort, struct samples *ret_interrupt, struct samples *ret_tick);

/* A sleep of 1 ns: the timer's slack, and waking up. */
int measure_sleep(const struct effort *effort, struct samples *ret_samples);

/* Two threads on one CPU that never wait: the CPU time of a thread before the other runs. Other threads that wake up
 * cut turns short. So samples are weighted by time (half of it is spent in turns of the median and longer), and of
 * several contests the one with the longest turns counts.
 * Errors:  -ENODATA too few turns */
int measure_quantum(const struct effort *effort, struct samples *ret_samples);

/* A file on a device: without a name, so that it vanishes when it is closed, for whatever reason. */
struct device_file {
    int fd;
    size_t size_bytes;
    void *block; /* aligned for direct I/O */
};

/* Makes the file in a directory and fills it, past the page cache.
 * Owner:   the caller finishes *ret_file
 * Errors:  -EINVAL the file system has no direct I/O; others: the failed call's */
int device_file_create(const char *directory, size_t size_bytes, struct device_file *ret_file);
void device_file_finish(struct device_file *file);

/* Reads of 4 KiB in random places, one at a time.
 * Errors:  -ENODATA the kernel counted no reads from a device: they were answered from memory */
int measure_device_read(const struct effort *effort, struct device_file *file, struct samples *ret_samples);

/* Overwrites 4 KiB, one at a time, and after each, timed separately, a flush (fdatasync). */
int measure_device_write(const struct effort *effort, struct device_file *file, struct samples *ret_write,
                         struct samples *ret_flush);

/* The peer of round trips. */
struct peer;

/* Looks HOST:PORT or [ADDRESS]:PORT up.
 * Owner:   the caller frees *ret_peer with peer_destroy()
 * Errors:  those of getaddrinfo(), see gai_strerror(); EAI_SYSTEM: see errno; EAI_NONAME also for a text of another
 *          form */
int peer_find(const char *name, struct peer **ret_peer);
void peer_destroy(struct peer *peer);

/* Connecting by TCP, which takes a round trip; a refusal also takes one.
 * Errors:  -ETIMEDOUT no answer within two seconds; others: those of connect(2) */
int measure_round_trip(const struct effort *effort, const struct peer *peer, struct samples *ret_samples);

#endif
