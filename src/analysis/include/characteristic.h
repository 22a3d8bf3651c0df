/* Characteristic times: how long a machine takes for the things that latencies consist of, so that a peak near one of
 * them suggests its cause (thesis §3.1.2). */
#ifndef CHARACTERISTIC_H
#define CHARACTERISTIC_H

#include <stddef.h>
#include <stdint.h>

enum characteristic_kind {
    CHARACTERISTIC_SYSTEM_CALL,
    CHARACTERISTIC_CACHE_READ,      /* 4 KiB copied from the page cache */
    CHARACTERISTIC_CONTEXT_SWITCH,  /* to another process on the same CPU, through a pipe */
    CHARACTERISTIC_TIMER_INTERRUPT, /* how long a tick takes the CPU away */
    CHARACTERISTIC_TIMER_TICK,      /* from one to the next */
    CHARACTERISTIC_SLEEP,           /* the shortest sleep */
    CHARACTERISTIC_QUANTUM,         /* CPU time until another thread runs */
    CHARACTERISTIC_DEVICE_READ,     /* 4 KiB, one at a time */
    CHARACTERISTIC_DEVICE_WRITE,
    CHARACTERISTIC_DEVICE_FLUSH,
    CHARACTERISTIC_ROUND_TRIP, /* over the network */
    CHARACTERISTIC_COUNT,
};

/* What a time is a property of. */
enum characteristic_scope { SCOPE_MACHINE, SCOPE_DEVICE, SCOPE_NETWORK };

enum characteristic_scope characteristic_scope(enum characteristic_kind kind);

/* The key in files, "device_read", and for people, "device read". */
const char *characteristic_key(enum characteristic_kind kind);
const char *characteristic_title(enum characteristic_kind kind);

/* The kind of that key; -1: none. */
int characteristic_of_key(const char *key);

struct quartiles {
    double lower;
    double median;
    double upper;
};

/* Quartiles of a sample, interpolated between the two nearest values. Sorts values.
 * count:   at least 1 */
struct quartiles quartiles_of(double *values, size_t count);

/* Weighs values by themselves: afterwards each value occurs in proportion to its part of the sum of all, so that
 * quartiles are of the time spent, not of the number. Sorts values.
 * values:  not negative */
void weigh_by_value(double *values, size_t count);

struct characteristic {
    enum characteristic_kind kind;
    char *place; /* the device, or HOST:PORT; NULL: the machine */
    struct quartiles ns;
    uint64_t sample_count;
    int64_t taken_s; /* Unix time */
};

#define CHARACTERISTIC_NEAR_MAX 3

/* The times near a latency: more than half of it and less than twice, which is one bucket to either side at resolution
 * 1. Times of devices and networks come first, since a file system waits for these; then the nearest by ratio, then the
 * earlier in the list. Only the first CHARACTERISTIC_NEAR_MAX are returned.
 * latency_ns: of a peak, the mean latency of its mode
 * Shape:   ret_near[CHARACTERISTIC_NEAR_MAX]
 * Returns how many */
size_t characteristic_near(const struct characteristic *times, size_t count, double latency_ns,
                           const struct characteristic **ret_near);

#endif
