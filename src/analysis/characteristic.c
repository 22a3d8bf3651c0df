/* The kinds of times, and finding those near a latency. */
#include "characteristic.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct kind {
    const char *key;
    const char *title;
    enum characteristic_scope scope;
} kinds[CHARACTERISTIC_COUNT] = {
    [CHARACTERISTIC_SYSTEM_CALL] = {"system_call", "system call", SCOPE_MACHINE},
    [CHARACTERISTIC_CACHE_READ] = {"cache_read", "page cache read", SCOPE_MACHINE},
    [CHARACTERISTIC_CONTEXT_SWITCH] = {"context_switch", "context switch", SCOPE_MACHINE},
    [CHARACTERISTIC_TIMER_INTERRUPT] = {"timer_interrupt", "timer interrupt", SCOPE_MACHINE},
    [CHARACTERISTIC_TIMER_TICK] = {"timer_tick", "timer tick", SCOPE_MACHINE},
    [CHARACTERISTIC_SLEEP] = {"sleep", "shortest sleep", SCOPE_MACHINE},
    [CHARACTERISTIC_QUANTUM] = {"quantum", "scheduler quantum", SCOPE_MACHINE},
    [CHARACTERISTIC_DEVICE_READ] = {"device_read", "device read", SCOPE_DEVICE},
    [CHARACTERISTIC_DEVICE_WRITE] = {"device_write", "device write", SCOPE_DEVICE},
    [CHARACTERISTIC_DEVICE_FLUSH] = {"device_flush", "device flush", SCOPE_DEVICE},
    [CHARACTERISTIC_ROUND_TRIP] = {"round_trip", "network round trip", SCOPE_NETWORK},
};

enum characteristic_scope characteristic_scope(enum characteristic_kind kind) {
    return kinds[kind].scope;
}

const char *characteristic_key(enum characteristic_kind kind) {
    return kinds[kind].key;
}

const char *characteristic_title(enum characteristic_kind kind) {
    return kinds[kind].title;
}

int characteristic_of_key(const char *key) {
    for (int kind = 0; kind < CHARACTERISTIC_COUNT; kind++)
        if (strcmp(kinds[kind].key, key) == 0)
            return kind;
    return -1;
}

/* ---- Quartiles ---------------------------------------------------------------------------------- */

static int compare_values(const void *a, const void *b) {
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

static double quantile(const double *sorted, size_t count, double part) {
    double position = part * (double)(count - 1);
    size_t below = (size_t)position;
    double rest = position - (double)below;
    return below + 1 < count ? sorted[below] + rest * (sorted[below + 1] - sorted[below]) : sorted[below];
}

struct quartiles quartiles_of(double *values, size_t count) {
    qsort(values, count, sizeof(*values), compare_values);
    return (struct quartiles){quantile(values, count, 0.25), quantile(values, count, 0.5),
                              quantile(values, count, 0.75)};
}

void weigh_by_value(double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    qsort(values, count, sizeof(*values), compare_values);
    double seen = count > 0 ? values[0] : 0;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        double wanted = sum * ((double)i + 0.5) / (double)count;
        while (seen < wanted && at + 1 < count)
            seen += values[++at];
        values[i] = values[at]; /* at is never below i: values up to i have the smallest part of the sum */
    }
}

/* ---- Near --------------------------------------------------------------------------------------- */

/* The distance of two times, in powers of two. */
static double distance(double a_ns, double b_ns) {
    return fabs(log2(a_ns / b_ns));
}

/* True if a is the likelier explanation of a latency: calls that wait for a device or a network have mostly waited for
 * just that, while a machine's own times are part of every call. */
static bool is_likelier(const struct characteristic *a, const struct characteristic *b, double latency_ns) {
    bool a_outside = kinds[a->kind].scope != SCOPE_MACHINE;
    bool b_outside = kinds[b->kind].scope != SCOPE_MACHINE;
    if (a_outside != b_outside)
        return a_outside;
    return distance(a->ns.median, latency_ns) < distance(b->ns.median, latency_ns);
}

size_t characteristic_near(const struct characteristic *times, size_t count, double latency_ns,
                           const struct characteristic **ret_near) {
    size_t near_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(distance(times[i].ns.median, latency_ns) < 1)) /* also false for NAN */
            continue;
        size_t rank = near_count;
        while (rank > 0 && is_likelier(&times[i], ret_near[rank - 1], latency_ns))
            rank--;
        if (rank == CHARACTERISTIC_NEAR_MAX)
            continue;
        near_count += near_count < CHARACTERISTIC_NEAR_MAX;
        for (size_t at = near_count - 1; at > rank; at--)
            ret_near[at] = ret_near[at - 1];
        ret_near[rank] = &times[i];
    }
    return near_count;
}
