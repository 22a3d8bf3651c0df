/* Characteristic times: what a machine takes for the things that latencies are made of, so that a peak which lies near
 * one suggests what it is (thesis §3.1.2). */
#ifndef CHARACTERISTIC_H
#define CHARACTERISTIC_H

#include <stddef.h>
#include <stdint.h>

enum characteristic_kind {
    CHARACTERISTIC_SYSTEM_CALL,
    CHARACTERISTIC_CACHE_READ,      /* 4 KiB copied from the page cache */
    CHARACTERISTIC_CONTEXT_SWITCH,  /* to another process of the same CPU, through a pipe */
    CHARACTERISTIC_TIMER_INTERRUPT, /* for how long the tick takes the CPU away */
    CHARACTERISTIC_TIMER_TICK,      /* from one to the next */
    CHARACTERISTIC_SLEEP,           /* the shortest sleep */
    CHARACTERISTIC_QUANTUM,         /* CPU time until another thread has its turn */
    CHARACTERISTIC_DEVICE_READ,     /* 4 KiB, one at a time */
    CHARACTERISTIC_DEVICE_WRITE,
    CHARACTERISTIC_DEVICE_FLUSH,
    CHARACTERISTIC_ROUND_TRIP, /* over the network */
    CHARACTERISTIC_COUNT,
};

/* What a time is a property of. */
enum characteristic_scope { SCOPE_MACHINE, SCOPE_DEVICE, SCOPE_NETWORK };

enum characteristic_scope characteristic_scope(enum characteristic_kind kind);

/* As a file has it, "device_read", and as people read it, "device read". */
const char *characteristic_key(enum characteristic_kind kind);
const char *characteristic_title(enum characteristic_kind kind);

/* The kind of that key; -1: none. */
int characteristic_of_key(const char *key);

struct quartiles {
    double lower;
    double median;
    double upper;
};

/* Quartiles of a sample, between the two nearest values in proportion. Sorts values.
 * count:   at least 1 */
struct quartiles quartiles_of(double *values, size_t count);

/* Makes long values weigh more: afterwards each value stands there as often as is its part of the sum of all, so that
 * quartiles are of the time spent, not of the number. Sorts values. values:  not negative */
void weigh_by_value(double *values, size_t count);

struct characteristic {
    enum characteristic_kind kind;
    char *place; /* the device, or HOST:PORT; NULL: of the machine */
    struct quartiles ns;
    uint64_t sample_count;
    int64_t taken_s; /* Unix time */
};

#define CHARACTERISTIC_NEAR_MAX 3

/* The times that are near a latency: more than half of it and less than twice, one bucket to either side at
 * resolution 1. Those of devices and networks come first, since they explain what a file system waits for; within
 * each sort the nearest by ratio, and among equals the earlier one. Beyond CHARACTERISTIC_NEAR_MAX the last are left
 * out. latency_ns: of a peak, the mean latency of its mode Shape:   ret_near[CHARACTERISTIC_NEAR_MAX] Returns how many
 */
size_t characteristic_near(const struct characteristic *times, size_t count, double latency_ns,
                           const struct characteristic **ret_near);

#endif
