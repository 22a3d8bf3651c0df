/* Counting calls in the kernel: a histogram for each slot and CPU, of two windows. The collector has all programs count
 * in the other window, waits until no program uses the old one, and reads that: so no call is lost or read twice.
 *
 * #define COUNTING_SLOTS before. A program may be interrupted by another that counts in the same slot, so all additions
 * are atomic. */
#ifndef CALL_COUNTS_H
#define CALL_COUNTS_H

#include "collected.h"
#include "kernel.h"

struct counts {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, COUNTING_SLOTS);
    __type(key, __u32);
    __type(value, struct collected);
} counts_a SEC(".maps"), counts_b SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, COLLECTED_WINDOWS);
    __type(key, __u32);
    __array(values, struct counts);
} counts_of_windows SEC(".maps") = {.values = {&counts_a, &counts_b}};

/* The number of the window in which is counted. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} current_window SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} lost SEC(".maps");

/* In which slots calls were counted since the collector last looked. */
bool is_used[COUNTING_SLOTS] SEC(".data.used");

/* NULL: there is none, which does not happen. */
static __always_inline const __u32 *window_in_use(void) {
    const __u32 first = 0;
    return bpf_map_lookup_elem(&current_window, &first);
}

/* A call is not counted. */
static __always_inline void lose(void) {
    const __u32 first = 0;
    __u64 *count = bpf_map_lookup_elem(&lost, &first);
    if (count)
        __sync_fetch_and_add(count, 1);
}

struct outcome {
    int error; /* an errno value; 0: success */
    __u64 asked_bytes;
    __u64 moved_bytes;
    struct collected_reads reads;
};

static __always_inline void add_reads(struct collected_reads *sum, const struct collected_reads *reads) {
    if (reads->unjudged_bytes > 0)
        __sync_fetch_and_add(&sum->unjudged_bytes, reads->unjudged_bytes);
    if (reads->cached_bytes > 0)
        __sync_fetch_and_add(&sum->cached_bytes, reads->cached_bytes);
    if (reads->missed_bytes > 0)
        __sync_fetch_and_add(&sum->missed_bytes, reads->missed_bytes);
}

/* A function that is not static is verified once: else what follows would be for each path through it. */
__noinline __u32 bucket_of(__u64 ns) {
    return collected_bucket(ns);
}

/* Counts a call that has ended. */
static __always_inline void count(__u32 slot, __u64 ns, const struct outcome *outcome) {
    const __u32 *window = window_in_use();
    void *counts = window ? bpf_map_lookup_elem(&counts_of_windows, window) : NULL;
    struct collected *collected = counts ? bpf_map_lookup_elem(counts, &slot) : NULL;
    if (!collected || slot >= COUNTING_SLOTS)
        return;
    if (!is_used[slot])
        is_used[slot] = true;
    const __u32 bucket = bucket_of(ns);
    if (bucket < COLLECTED_BUCKETS)
        __sync_fetch_and_add(&collected->buckets[bucket], 1);
    __sync_fetch_and_add(&collected->total_ns, ns);
    if (ns > collected->longest_ns)
        collected->longest_ns = ns;
    if (outcome->asked_bytes > 0 || outcome->moved_bytes > 0) {
        __sync_fetch_and_add(&collected->asked_bytes, outcome->asked_bytes);
        __sync_fetch_and_add(&collected->moved_bytes, outcome->moved_bytes);
    }
    add_reads(&collected->reads, &outcome->reads);
    if (outcome->error != 0) {
        __u64 error = (__u32)outcome->error;
        barrier_var(error); /* kernels such as 6.1 do not know bounds of its lower half alone */
        __sync_fetch_and_add(&collected->failures[error < COLLECTED_ERRORS ? error : 0], 1);
    }
}

#endif
