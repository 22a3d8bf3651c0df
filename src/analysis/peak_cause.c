/* Which characteristic times explain a peak. */
#include "peak_cause.h"

#include <string.h>

#include "base.h"

enum waits { WAITS_FOR_NONE, WAITS_FOR_READS, WAITS_FOR_WRITES, WAITS_FOR_FLUSHES };

static enum waits waits_of(const char *op) {
    static const struct {
        const char *op;
        enum waits waits;
    } rows[] = {
        {"READ", WAITS_FOR_READS},       {"READDIR", WAITS_FOR_READS}, {"READDIRPLUS", WAITS_FOR_READS},
        {"LOOKUP", WAITS_FOR_READS},     {"GETATTR", WAITS_FOR_READS}, {"STATX", WAITS_FOR_READS},
        {"OPEN", WAITS_FOR_READS},       {"OPENDIR", WAITS_FOR_READS}, {"GETXATTR", WAITS_FOR_READS},
        {"READLINK", WAITS_FOR_READS},   {"WRITE", WAITS_FOR_WRITES},  {"FSYNC", WAITS_FOR_FLUSHES},
        {"FSYNCDIR", WAITS_FOR_FLUSHES},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (strcmp(rows[i].op, op) == 0)
            return rows[i].waits;
    return WAITS_FOR_NONE;
}

struct evidence {
    const struct aggstats_op_profile *op;
    const struct peak *peak;
    const struct peak_times *times;
    struct peak_reason nearest; /* of those tried, without a cause */
};

/* The share of the peak's calls in buckets whose mean is between two latencies. */
static double part_between(const struct evidence *it, double from_ns, double to_ns) {
    const double cycles_per_ns = (double)it->times->frequency_hz / 1e9;
    uint64_t calls = 0;
    for (unsigned bucket = it->peak->first; bucket <= it->peak->last; bucket++) {
        double ns = aggstats_bucket_mean(bucket, it->times->resolution) / cycles_per_ns;
        calls += ns > from_ns && ns < to_ns ? it->op->buckets[bucket] : 0;
    }
    return it->peak->calls > 0 ? (double)calls / (double)it->peak->calls : 0;
}

static const struct characteristic *time_of(const struct evidence *it, enum characteristic_kind kind) {
    for (size_t i = 0; i < it->times->count; i++)
        if (it->times->times[i].kind == kind)
            return &it->times->times[i];
    return NULL;
}

/* Returns whether it is the cause, and remembers the closest one. */
static bool is_near(struct evidence *it, enum characteristic_kind kind, enum peak_cause cause,
                    struct peak_reason *ret_reason) {
    const struct characteristic *time = time_of(it, kind);
    double part = time ? part_between(it, time->ns.median / 2, time->ns.median * 2) : 0;
    if (time && (!it->nearest.time || part > it->nearest.near_part))
        it->nearest = (struct peak_reason){PEAK_CAUSE_NOT_KNOWN, time, part};
    if (!time || part < PEAK_CAUSE_NEAR_MIN)
        return false;
    *ret_reason = (struct peak_reason){cause, time, part};
    return true;
}

static const struct characteristic *faster(const struct characteristic *a, const struct characteristic *b) {
    return b && b->ns.lower < a->ns.lower ? b : a;
}

/* A write, or a flush, may be faster than a read if the device has a cache. */
static const struct characteristic *fastest_of_device(const struct evidence *it) {
    const enum waits waits = waits_of(it->op->name);
    const struct characteristic *fastest = time_of(it, CHARACTERISTIC_DEVICE_READ);
    if (fastest && (waits == WAITS_FOR_WRITES || waits == WAITS_FOR_FLUSHES))
        fastest = faster(fastest, time_of(it, CHARACTERISTIC_DEVICE_WRITE));
    if (fastest && waits == WAITS_FOR_FLUSHES)
        fastest = faster(fastest, time_of(it, CHARACTERISTIC_DEVICE_FLUSH));
    return fastest;
}

static bool is_memory(const struct evidence *it, struct peak_reason *ret_reason) {
    const struct characteristic *time = fastest_of_device(it);
    double part = time ? part_between(it, -1, time->ns.lower / PEAK_CAUSE_MEMORY_FACTOR) : 0;
    if (!time || part < PEAK_CAUSE_MEMORY_MIN)
        return false;
    *ret_reason = (struct peak_reason){PEAK_CAUSE_MEMORY, time, part};
    return true;
}

static bool is_written(struct evidence *it, bool may_flush, struct peak_reason *ret_reason) {
    bool is_write = is_near(it, CHARACTERISTIC_DEVICE_WRITE, PEAK_CAUSE_DEVICE_WRITE, ret_reason);
    bool is_flush = may_flush && is_near(it, CHARACTERISTIC_DEVICE_FLUSH, PEAK_CAUSE_DEVICE_FLUSH, ret_reason);
    if (is_write && is_flush)
        ret_reason->cause = PEAK_CAUSE_DEVICE_WRITE_OR_FLUSH;
    return is_write || is_flush;
}

static bool is_device(struct evidence *it, struct peak_reason *ret_reason) {
    const enum waits waits = waits_of(it->op->name);
    if (waits == WAITS_FOR_READS)
        return is_near(it, CHARACTERISTIC_DEVICE_READ, PEAK_CAUSE_DEVICE_READ, ret_reason);
    return waits != WAITS_FOR_NONE && is_written(it, waits == WAITS_FOR_FLUSHES, ret_reason);
}

struct peak_reason peak_reason_of(const struct aggstats_op_profile *op, const struct peak *peak,
                                  const struct peak_times *times) {
    struct evidence it = {.op = op, .peak = peak, .times = times};
    struct peak_reason reason;
    if (times->frequency_hz == 0)
        return it.nearest;
    if (is_device(&it, &reason) || is_near(&it, CHARACTERISTIC_ROUND_TRIP, PEAK_CAUSE_ROUND_TRIP, &reason) ||
        is_memory(&it, &reason))
        return reason;
    return it.nearest;
}

const char *peak_cause_text(enum peak_cause cause, const struct aggstats_op_profile *op) {
    switch (cause) {
    case PEAK_CAUSE_MEMORY:
        return strncmp(op->name, "READ", 4) == 0 ? "from memory" : "in memory";
    case PEAK_CAUSE_DEVICE_READ:
        return "one disk read";
    case PEAK_CAUSE_DEVICE_WRITE:
        return "one disk write";
    case PEAK_CAUSE_DEVICE_FLUSH:
        return "one disk flush";
    case PEAK_CAUSE_DEVICE_WRITE_OR_FLUSH:
        return "one disk write or flush";
    case PEAK_CAUSE_ROUND_TRIP:
        return "one network round trip";
    case PEAK_CAUSE_NOT_KNOWN:
        break;
    }
    return "";
}
