/* Which characteristic times explain a peak, and what was seen of it: what its calls waited for, and what was read from
 * storage. */
#include "peak_cause.h"

#include <string.h>

#include "base.h"
#include "layers.h"

enum waits { WAITS_FOR_NONE, WAITS_FOR_READS, WAITS_FOR_WRITES, WAITS_FOR_FLUSHES };

/* Operations of all layers. */
static const struct row {
    const char *op;
    enum waits waits;
    bool is_read; /* of bytes: if it has got none, it has not waited for them */
} rows[] = {
    {"READ", WAITS_FOR_READS, true},
    {"READV", WAITS_FOR_READS, true},
    {"PREAD", WAITS_FOR_READS, true},
    {"PREADV", WAITS_FOR_READS, true},
    {"FREAD", WAITS_FOR_READS, true},
    {"FGETS", WAITS_FOR_READS, true},
    {"FGETC", WAITS_FOR_READS, true},
    {"FSCANF", WAITS_FOR_READS, true},
    {"FSEEK", WAITS_FOR_READS, true},
    {"COPY_FILE_RANGE", WAITS_FOR_READS, true},
    {"SENDFILE", WAITS_FOR_READS, true},
    {"SPLICE", WAITS_FOR_READS, true},
    {"READDIR", WAITS_FOR_READS, false},
    {"READDIRPLUS", WAITS_FOR_READS, false},
    {"GETDENTS", WAITS_FOR_READS, false},
    {"LOOKUP", WAITS_FOR_READS, false},
    {"GETATTR", WAITS_FOR_READS, false},
    {"STAT", WAITS_FOR_READS, false},
    {"STATX", WAITS_FOR_READS, false},
    {"ACCESS", WAITS_FOR_READS, false},
    {"OPEN", WAITS_FOR_READS, false},
    {"FOPEN", WAITS_FOR_READS, false},
    {"OPENDIR", WAITS_FOR_READS, false},
    {"GETXATTR", WAITS_FOR_READS, false},
    {"LISTXATTR", WAITS_FOR_READS, false},
    {"READLINK", WAITS_FOR_READS, false},
    {"WRITE", WAITS_FOR_WRITES, false},
    {"WRITEV", WAITS_FOR_WRITES, false},
    {"PWRITE", WAITS_FOR_WRITES, false},
    {"PWRITEV", WAITS_FOR_WRITES, false},
    {"FWRITE", WAITS_FOR_WRITES, false},
    {"FPUTS", WAITS_FOR_WRITES, false},
    {"FPUTC", WAITS_FOR_WRITES, false},
    {"FPRINTF", WAITS_FOR_WRITES, false},
    {"FFLUSH", WAITS_FOR_WRITES, false},
    {"FCLOSE", WAITS_FOR_WRITES, false},
    {"SYNC_FILE_RANGE", WAITS_FOR_WRITES, false}, /* does not flush the disk */
    {"FSYNC", WAITS_FOR_FLUSHES, false},
    {"FDATASYNC", WAITS_FOR_FLUSHES, false},
    {"FSYNCDIR", WAITS_FOR_FLUSHES, false},
    {"SYNCFS", WAITS_FOR_FLUSHES, false},
    {"MSYNC", WAITS_FOR_FLUSHES, false},
    {NULL, WAITS_FOR_NONE, false}, /* all others */
};

static const struct row *row_of(const char *op) {
    const struct row *row = rows;
    while (row->op && strcmp(row->op, op) != 0)
        row++;
    return row;
}

/* ---- Causes of the calls in a range of buckets ---- */

/* Inserts the cause, unless PEAK_WAITS_MAX others have more calls. */
static void add_cause(struct peak_waits *waits, const struct aggstats_cause *cause, uint64_t calls) {
    size_t place = waits->count;
    while (place > 0 && waits->waits[place - 1].calls < calls)
        place--;
    if (place == PEAK_WAITS_MAX)
        return;
    waits->count += waits->count < PEAK_WAITS_MAX;
    memmove(&waits->waits[place + 1], &waits->waits[place], (waits->count - 1 - place) * sizeof(waits->waits[0]));
    waits->waits[place] = (struct peak_wait){.cause = cause, .calls = calls};
}

struct peak_waits peak_waits_find(const struct aggstats_profile *profile, const struct aggstats_op_profile *op,
                                  const struct peak *peak) {
    struct peak_waits waits = {.count = 0};
    for (size_t i = 0; i < profile->cause_count; i++) {
        const struct aggstats_cause *cause = &profile->causes[i];
        uint64_t calls = 0;
        if (strcmp(cause->op, op->name) != 0 || cause->why.kind == AGGSTATS_CAUSE_UNKNOWN)
            continue;
        for (unsigned bucket = peak->first; cause->buckets && bucket <= peak->last; bucket++)
            calls += cause->buckets[bucket];
        waits.known_calls += calls;
        if (calls > 0 && cause->why.kind != AGGSTATS_CAUSE_REST) /* the rest is of causes that did not fit */
            add_cause(&waits, cause, calls);
    }
    for (size_t i = 0; i < waits.count; i++)
        waits.waits[i].share = (double)waits.waits[i].calls / (double)waits.known_calls;
    while (waits.count > 0 && waits.waits[waits.count - 1].share < PEAK_WAITS_SHARE_MIN)
        waits.count--;
    if (waits.known_calls > peak->calls)
        waits.known_calls = peak->calls;
    return waits;
}

/* ---- Evidence ---- */

struct evidence {
    const struct aggstats_op_profile *op;
    const struct peak *peak;
    const struct peak_times *times;
    struct peak_reason nearest; /* of those tried, without a cause */
};

/* The share of the peak's calls in buckets whose mean is between two latencies. */
static double part_between(const struct evidence *it, double from_ns, double to_ns) {
    const double cycles_per_ns = (double)it->times->profile->clock.frequency_hz / 1e9;
    uint64_t calls = 0;
    for (unsigned bucket = it->peak->first; bucket <= it->peak->last; bucket++) {
        double ns = aggstats_bucket_mean(bucket, it->times->profile->resolution) / cycles_per_ns;
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
        it->nearest = (struct peak_reason){.time = time, .near_part = part};
    if (!time || part < PEAK_CAUSE_NEAR_MIN)
        return false;
    *ret_reason = (struct peak_reason){.cause = cause, .time = time, .near_part = part};
    return true;
}

static bool is_of(const struct evidence *it, enum layer layer) {
    return layers_of_name(layers_name(it->times->profile)) == layer;
}

/* Faster than the device. A write, or a flush, may be faster than a read if the device has a cache. */
static bool is_memory(const struct evidence *it, struct peak_reason *ret_reason) {
    const enum waits waits = row_of(it->op->name)->waits;
    const struct characteristic *fastest = time_of(it, CHARACTERISTIC_DEVICE_READ);
    const struct characteristic *write = time_of(it, CHARACTERISTIC_DEVICE_WRITE);
    const struct characteristic *flush = time_of(it, CHARACTERISTIC_DEVICE_FLUSH);
    if (!fastest || is_of(it, LAYER_IS_BLOCK))
        return false;
    if (write && (waits == WAITS_FOR_WRITES || waits == WAITS_FOR_FLUSHES) && write->ns.lower < fastest->ns.lower)
        fastest = write;
    if (flush && waits == WAITS_FOR_FLUSHES && flush->ns.lower < fastest->ns.lower)
        fastest = flush;
    double part = part_between(it, -1, fastest->ns.lower / PEAK_CAUSE_MEMORY_FACTOR);
    if (part < PEAK_CAUSE_MEMORY_MIN)
        return false;
    *ret_reason = (struct peak_reason){.cause = PEAK_CAUSE_MEMORY, .time = fastest, .near_part = part};
    return true;
}

static bool is_device(struct evidence *it, struct peak_reason *ret_reason) {
    const enum waits waits = row_of(it->op->name)->waits;
    if (waits == WAITS_FOR_NONE)
        return false;
    if (waits == WAITS_FOR_READS)
        return is_near(it, CHARACTERISTIC_DEVICE_READ, PEAK_CAUSE_DEVICE_READ, ret_reason);
    bool is_write = is_near(it, CHARACTERISTIC_DEVICE_WRITE, PEAK_CAUSE_DEVICE_WRITE, ret_reason);
    bool is_flush =
        waits == WAITS_FOR_FLUSHES && is_near(it, CHARACTERISTIC_DEVICE_FLUSH, PEAK_CAUSE_DEVICE_FLUSH, ret_reason);
    if (is_write && is_flush)
        ret_reason->cause = PEAK_CAUSE_DEVICE_WRITE_OR_FLUSH;
    return is_write || is_flush;
}

/* ---- The page cache ---- */

/* types: with ", " between them. True if each reads disks itself, by way of the page cache: what it reads is in
 * storage_read_bytes. */
static bool all_read_disks(const char *types) {
    static const char *const known[] = {"ext2",  "ext3",  "ext4", "xfs",     "btrfs",    "f2fs",  "vfat",
                                        "exfat", "ntfs3", "jfs",  "iso9660", "squashfs", "erofs", "tmpfs"};
    while (*types) {
        const size_t length = strcspn(types, ",");
        size_t i = 0;
        while (i < ARRAY_SIZE(known) && (strlen(known[i]) != length || strncmp(known[i], types, length) != 0))
            i++;
        if (i == ARRAY_SIZE(known))
            return false;
        types += length;
        types += strspn(types, ", ");
    }
    return true;
}

/* True if all file systems below are such, or if the types are not known, and a disk's time applies: only if it is below. */
static bool has_disks_below(const struct evidence *it) {
    const struct characteristic *read = time_of(it, CHARACTERISTIC_DEVICE_READ);
    const char *given = aggstats_profile_label(it->times->profile, "fstype");
    if (!given || !given[0])
        return read && read->place && strncmp(read->place, "/dev/", strlen("/dev/")) == 0;
    return all_read_disks(given);
}

static bool is_page_cache(const struct evidence *it, struct peak_reason *ret_reason) {
    const struct aggstats_profile *profile = it->times->profile;
    const struct aggstats_op_profile *op = it->op;
    const char *cache = aggstats_profile_label(profile, "cache");
    const double calls = (double)it->peak->calls;
    double failed = 0;
    if (!is_of(it, LAYER_IS_FS) || strcmp(op->name, "READ") != 0 || !profile->has_storage_read ||
        profile->storage_read_bytes > 0 || op->asked_bytes == 0 || (double)op->moved_bytes < calls)
        return false;
    for (unsigned i = 0; i < AGGSTATS_FAILURES; i++)
        failed += (double)op->failures[i];
    const double copy_ns =
        PEAK_CAUSE_COPY_NS + (double)op->moved_bytes / (double)op->calls / PEAK_CAUSE_COPY_BYTES_PER_NS;
    const double part = part_between(it, -1, copy_ns);
    if (part < PEAK_CAUSE_MEMORY_MIN || calls - failed < PEAK_CAUSE_MEMORY_MIN * calls)
        return false;
    const bool may_be_ends = (!cache || strcmp(cache, "none") == 0) && op->moved_bytes != op->asked_bytes;
    *ret_reason = (struct peak_reason){.cause = PEAK_CAUSE_PAGE_CACHE,
                                       .near_part = part,
                                       .copy_ns = copy_ns,
                                       .witness = !has_disks_below(it) ? PEAK_WITNESS_BELOW
                                                  : may_be_ends        ? PEAK_WITNESS_ENDS
                                                                       : PEAK_WITNESS_STORAGE};
    return true;
}

/* ---- What was seen of a disk -------------------------------------------------------------------- */

/* Whether these calls must have read from storage: other calls cannot have read so many bytes, even if all of other ops
 * that took as long as a disk may take have read. At the layer user the bytes also include executed and mapped files, so
 * the answer is false. */
static bool must_be_theirs(const struct evidence *it, const struct peak_reason *reason, double bytes) {
    const struct aggstats_profile *profile = it->times->profile;
    const double slow_cycles =
        reason->time->ns.lower / PEAK_CAUSE_MEMORY_FACTOR * (double)profile->clock.frequency_hz / 1e9;
    const double calls = reason->near_part * (double)it->peak->calls;
    double others = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++)
            if (strcmp(profile->ops[i].name, it->op->name) != 0 &&
                aggstats_bucket_upper(bucket, profile->resolution) > slow_cycles)
                others += (double)profile->ops[i].buckets[bucket];
    return row_of(it->op->name)->is_read && !is_of(it, LAYER_IS_USER) &&
           bytes >= calls * PEAK_CAUSE_SECTOR_BYTES + others * PEAK_CAUSE_OTHERS_BYTES;
}

static enum peak_witness storage_says(const struct evidence *it, const struct peak_reason *reason) {
    const struct aggstats_profile *profile = it->times->profile;
    const double calls = reason->near_part * (double)it->peak->calls;
    const double bytes = (double)profile->storage_read_bytes;
    if (row_of(it->op->name)->is_read && it->op->asked_bytes > 0 && (double)it->op->moved_bytes < calls)
        return PEAK_WITNESS_NOTHING_MOVED;
    if (!profile->has_storage_read)
        return PEAK_WITNESS_NONE;
    if (bytes < calls * PEAK_CAUSE_SECTOR_BYTES)
        return PEAK_WITNESS_TOO_FEW_BYTES;
    return must_be_theirs(it, reason, bytes) ? PEAK_WITNESS_STORAGE : PEAK_WITNESS_OTHERS;
}

static enum peak_witness witness_of(const struct evidence *it, const struct peak_reason *reason) {
    const struct aggstats_profile *profile = it->times->profile;
    const double calls = (double)it->peak->calls;
    if (reason->cause == PEAK_CAUSE_ROUND_TRIP)
        return PEAK_WITNESS_NONE;
    if (is_of(it, LAYER_IS_BLOCK))
        return PEAK_WITNESS_BLOCK;
    /* What most calls of the peak were seen to wait for, decides. */
    if (reason->cause == PEAK_CAUSE_DEVICE_READ || reason->cause == PEAK_CAUSE_PAGE_CACHE) {
        const struct peak_waits waits = peak_waits_find(profile, it->op, it->peak);
        if (waits.count == 0 || waits.waits[0].share * (double)waits.known_calls < PEAK_CAUSE_NEAR_MIN * calls)
            return reason->cause == PEAK_CAUSE_PAGE_CACHE ? reason->witness : storage_says(it, reason);
        if (reason->cause == PEAK_CAUSE_PAGE_CACHE)
            return PEAK_WITNESS_OTHER_STACKS;
        return waits.waits[0].cause->why.kind == AGGSTATS_CAUSE_DISK_READ ? PEAK_WITNESS_STACKS
                                                                          : PEAK_WITNESS_OTHER_STACKS;
    }
    /* So little was read from storage that most calls have read nothing. */
    const bool are_in_memory =
        row_of(it->op->name)->waits == WAITS_FOR_READS && profile->has_storage_read &&
        (double)profile->storage_read_bytes <= (1 - PEAK_CAUSE_MEMORY_MIN) * calls * PEAK_CAUSE_SECTOR_BYTES;
    return reason->cause == PEAK_CAUSE_MEMORY && are_in_memory ? PEAK_WITNESS_STORAGE : PEAK_WITNESS_NONE;
}

struct peak_reason peak_reason_of(const struct aggstats_op_profile *op, const struct peak *peak,
                                  const struct peak_times *times) {
    struct evidence it = {.op = op, .peak = peak, .times = times};
    struct peak_reason reason;
    if (times->is_off || times->profile->clock.frequency_hz == 0)
        return it.nearest;
    if (!is_page_cache(&it, &reason) && !is_device(&it, &reason) &&
        !is_near(&it, CHARACTERISTIC_ROUND_TRIP, PEAK_CAUSE_ROUND_TRIP, &reason) && !is_memory(&it, &reason))
        return it.nearest;
    reason.witness = witness_of(&it, &reason);
    if (reason.witness >= PEAK_WITNESS_TOO_FEW_BYTES)
        reason.cause = PEAK_CAUSE_NOT_KNOWN;
    return reason;
}

bool peak_reason_is_seen(const struct peak_reason *reason) {
    return reason->witness >= PEAK_WITNESS_STORAGE && reason->witness <= PEAK_WITNESS_BLOCK;
}

/* ---- Words -------------------------------------------------------------------------------------- */

#define MAY_BE "may be "

const char *peak_reason_text(const struct peak_reason *reason, const struct aggstats_op_profile *op) {
    static const char *const texts[] = {
        [PEAK_CAUSE_NOT_KNOWN] = "",
        [PEAK_CAUSE_MEMORY] = MAY_BE "in memory",
        [PEAK_CAUSE_PAGE_CACHE] = MAY_BE "page cache hits",
        [PEAK_CAUSE_DEVICE_READ] = MAY_BE "one disk read",
        [PEAK_CAUSE_DEVICE_WRITE] = MAY_BE "one disk write",
        [PEAK_CAUSE_DEVICE_FLUSH] = MAY_BE "one disk flush",
        [PEAK_CAUSE_DEVICE_WRITE_OR_FLUSH] = MAY_BE "one disk write or flush",
        [PEAK_CAUSE_ROUND_TRIP] = MAY_BE "one network round trip",
    };
    /* A call of stdio may have found it in the buffer of the stream. */
    const bool is_read_from_memory =
        reason->cause == PEAK_CAUSE_MEMORY && row_of(op->name)->is_read && op->name[0] != 'F';
    const char *text = texts[is_read_from_memory ? PEAK_CAUSE_PAGE_CACHE : reason->cause];
    return text[0] && peak_reason_is_seen(reason) ? text + strlen(MAY_BE) : text;
}

const char *peak_reason_name(const struct peak_reason *reason, const struct aggstats_op_profile *op) {
    const char *text = peak_reason_text(reason, op);
    return strncmp(text, MAY_BE, strlen(MAY_BE)) == 0 ? text + strlen(MAY_BE) : text;
}
