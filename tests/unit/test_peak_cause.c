/* Which times are evidence of what a peak's calls waited for, and what makes it certain. */
#include <stdio.h>

#include "base.h"
#include "histograms.h"
#include "peak_cause.h"
#include "testing.h"

static struct histogram histogram;
static struct aggstats_op_profile ops[2]; /* the histogram, and another op */
static uint64_t other_buckets[AGGSTATS_BUCKETS_MAX];
static struct aggstats_cause cause; /* of the histogram's calls */
static struct aggstats_profile profile;
static struct peak_reason reason;

static void set_up(void) {
    histogram_init(&histogram); /* of READ */
    memset(other_buckets, 0, sizeof(other_buckets));
    memset(&cause, 0, sizeof(cause));
    ops[1] = (struct aggstats_op_profile){.name = "LOOKUP", .buckets = other_buckets};
    profile = (struct aggstats_profile){.resolution = 1, .ops = ops, .op_count = 2, .causes = &cause};
    profile.clock.frequency_hz = 1000000000; /* cycles are nanoseconds */
}

static void of_op(const char *name) {
    snprintf(histogram.op.name, sizeof(histogram.op.name), "%s", name);
}

static void add_calls(unsigned bucket, uint64_t calls) {
    histogram_add(&histogram, bucket, calls, 1);
}

/* Of the only peak. */
static enum peak_cause cause_with(const struct characteristic *times, size_t count) {
    const struct peak_times held_against = {&profile, times, count};
    ops[0] = histogram.op;
    struct peak peaks[PEAKS_MAX];
    ck_assert_uint_eq(peaks_find(&histogram.op, 1, peaks), 1);
    reason = peak_reason_of(&histogram.op, &peaks[0], &held_against);
    return reason.cause;
}

static struct characteristic time_of(enum characteristic_kind kind, double ns) {
    return (struct characteristic){.kind = kind, .ns = {ns, ns, ns}};
}

TEST_CASE(.set_up = set_up);

TEST(reads_near_the_device_have_read_the_device) {
    const struct characteristic times[] = {time_of(CHARACTERISTIC_DEVICE_WRITE, 98304),
                                           time_of(CHARACTERISTIC_DEVICE_READ, 98304)};
    add_calls(16, 100);
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_DEVICE_READ);
    ck_assert_int_eq(cause_with(times, 1), PEAK_CAUSE_NOT_KNOWN); /* a read waits for no write */
    ck_assert_int_eq(cause_with(NULL, 0), PEAK_CAUSE_NOT_KNOWN);
}

TEST(a_peak_whose_calls_lie_mostly_elsewhere_is_not_the_device) {
    const struct characteristic time = time_of(CHARACTERISTIC_DEVICE_READ, 98304);
    add_calls(16, 49);
    add_calls(17, 51); /* twice as long: one peak, two reads maybe */
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_NOT_KNOWN);
    add_calls(16, 10);
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_DEVICE_READ);
}

TEST(calls_much_faster_than_the_device_were_answered_by_memory) {
    const struct characteristic time = time_of(CHARACTERISTIC_DEVICE_READ, 98304);
    of_op("GETATTR");
    add_calls(13, 90); /* 12.3 us: an eighth */
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_MEMORY);
    add_calls(14, 20); /* a quarter: not sure any more */
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_NOT_KNOWN);
}

TEST(a_sync_may_be_a_write_or_a_flush) {
    const struct characteristic times[] = {time_of(CHARACTERISTIC_DEVICE_WRITE, 98304),
                                           time_of(CHARACTERISTIC_DEVICE_FLUSH, 98304)};
    of_op("FSYNC");
    add_calls(16, 100);
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_DEVICE_WRITE_OR_FLUSH);
    ck_assert_int_eq(cause_with(times, 1), PEAK_CAUSE_DEVICE_WRITE);
    ck_assert_int_eq(cause_with(times + 1, 1), PEAK_CAUSE_DEVICE_FLUSH);
}

/* At the layer user too. */
TEST(ops_wait_for_what_they_ask_the_device_for) {
    static const struct {
        const char *op;
        enum peak_cause cause;
    } rows[] = {
        {"PREAD", PEAK_CAUSE_DEVICE_READ},      {"FGETS", PEAK_CAUSE_DEVICE_READ},
        {"STAT", PEAK_CAUSE_DEVICE_READ},       {"GETDENTS", PEAK_CAUSE_DEVICE_READ},
        {"PWRITE", PEAK_CAUSE_DEVICE_WRITE},    {"FFLUSH", PEAK_CAUSE_DEVICE_WRITE},
        {"FDATASYNC", PEAK_CAUSE_DEVICE_FLUSH}, {"MSYNC", PEAK_CAUSE_DEVICE_FLUSH},
        {"SYNCFS", PEAK_CAUSE_DEVICE_FLUSH},    {"SYNC_FILE_RANGE", PEAK_CAUSE_DEVICE_WRITE},
        {"CLOSE", PEAK_CAUSE_NOT_KNOWN},        {"LOCK", PEAK_CAUSE_NOT_KNOWN},
    };
    const struct characteristic times[] = {time_of(CHARACTERISTIC_DEVICE_READ, 12288),
                                           time_of(CHARACTERISTIC_DEVICE_WRITE, 98304),
                                           time_of(CHARACTERISTIC_DEVICE_FLUSH, 786432)};
    static const struct {
        unsigned bucket;
        enum peak_cause cause;
    } peaks[] = {{13, PEAK_CAUSE_DEVICE_READ}, {16, PEAK_CAUSE_DEVICE_WRITE}, {19, PEAK_CAUSE_DEVICE_FLUSH}};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        for (size_t at = 0; at < ARRAY_SIZE(peaks); at++) {
            const bool may_write = rows[i].cause == PEAK_CAUSE_DEVICE_FLUSH && at == 1;
            histogram_init(&histogram);
            of_op(rows[i].op);
            add_calls(peaks[at].bucket, 100);
            ck_assert_msg(cause_with(times, 3) ==
                              (may_write || rows[i].cause == peaks[at].cause ? peaks[at].cause : PEAK_CAUSE_NOT_KNOWN),
                          "%s at %s", rows[i].op, peak_reason_text(&reason, &histogram.op));
        }
}

TEST(all_ops_may_wait_for_the_network) {
    const struct characteristic time = time_of(CHARACTERISTIC_ROUND_TRIP, 98304);
    of_op("MKDIR");
    add_calls(16, 100);
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_ROUND_TRIP);
}

TEST(times_of_the_machine_explain_nothing_by_themselves) {
    const struct characteristic times[] = {time_of(CHARACTERISTIC_SLEEP, 98304),
                                           time_of(CHARACTERISTIC_QUANTUM, 98304)};
    add_calls(16, 100);
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_NOT_KNOWN);
}

TEST(without_the_rate_of_the_clock_there_are_no_causes) {
    const struct characteristic time = time_of(CHARACTERISTIC_DEVICE_READ, 98304);
    add_calls(16, 100);
    profile.clock.frequency_hz = 0;
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_NOT_KNOWN);
}

TEST(the_reason_is_a_time_and_how_many_calls_are_near_it) {
    const struct characteristic times[] = {time_of(CHARACTERISTIC_ROUND_TRIP, 9e6),
                                           time_of(CHARACTERISTIC_DEVICE_READ, 98304)};
    add_calls(16, 30);
    add_calls(17, 10);
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_DEVICE_READ);
    ck_assert_ptr_eq(reason.time, &times[1]);
    ck_assert_double_eq_tol(reason.near_part, 0.75, 1e-9);
    ck_assert_str_eq(peak_reason_text(&reason, &histogram.op), "may be one disk read");
}

TEST(without_a_cause_the_reason_is_the_time_that_most_calls_are_near) {
    const struct characteristic times[] = {time_of(CHARACTERISTIC_ROUND_TRIP, 9e6),
                                           time_of(CHARACTERISTIC_DEVICE_READ, 98304),
                                           time_of(CHARACTERISTIC_SLEEP, 196608)};
    add_calls(16, 10);
    add_calls(17, 30);
    ck_assert_int_eq(cause_with(times, 3), PEAK_CAUSE_NOT_KNOWN);
    ck_assert_ptr_eq(reason.time, &times[1]);
    ck_assert_double_eq_tol(reason.near_part, 0.25, 1e-9);
    ck_assert_str_eq(peak_reason_text(&reason, &histogram.op), "");
    ck_assert_int_eq(cause_with(times + 2, 1), PEAK_CAUSE_NOT_KNOWN);
    ck_assert_ptr_null(reason.time);
}

TEST(a_sync_that_takes_longer_than_a_flush_has_not_stayed_in_memory) {
    const struct characteristic times[] = {time_of(CHARACTERISTIC_DEVICE_READ, 98304),
                                           time_of(CHARACTERISTIC_DEVICE_FLUSH, 3000)};
    add_calls(13, 100); /* 12.3 us: an eighth of a read, four flushes */
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_MEMORY);
    of_op("WRITE");
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_MEMORY);
    of_op("FSYNC");
    ck_assert_int_eq(cause_with(times, 2), PEAK_CAUSE_NOT_KNOWN);
    ck_assert_int_eq(cause_with(times, 1), PEAK_CAUSE_MEMORY);
}

/* ---- What was seen of a disk ---- */

static const struct characteristic device_read = {.kind = CHARACTERISTIC_DEVICE_READ, .ns = {98304, 98304, 98304}};

static const char *text_with_read(uint64_t storage_read_bytes) {
    profile.has_storage_read = true;
    profile.storage_read_bytes = storage_read_bytes;
    cause_with(&device_read, 1);
    return peak_reason_text(&reason, &histogram.op);
}

TEST(reads_are_disk_reads_if_enough_was_read_from_storage) {
    add_calls(16, 100);
    ck_assert_str_eq(text_with_read(100 * 512), "one disk read");
    ck_assert_str_eq(text_with_read(100 * 512 - 1), "");
    ck_assert_int_eq(reason.witness, PEAK_WITNESS_TOO_FEW_BYTES);
    ck_assert_str_eq(text_with_read(0), "");
}

/* Two LOOKUPs that took as long may have read, too. */
TEST(reads_may_be_disk_reads_if_other_calls_can_have_read_it_all) {
    add_calls(16, 100);
    other_buckets[16] = 2;
    ck_assert_str_eq(text_with_read(100 * 512 + 2 * 262144), "one disk read");
    ck_assert_str_eq(text_with_read(100 * 512 + 2 * 262144 - 1), "may be one disk read");
    ck_assert_int_eq(reason.witness, PEAK_WITNESS_OTHERS);
    other_buckets[16] = 0;
    other_buckets[5] = 1000; /* from memory: they have read nothing */
    ck_assert_str_eq(text_with_read(100 * 512), "one disk read");
}

/* A LOOKUP of 93 us in a directory that is in memory is no disk read. */
TEST(lookups_are_never_certain_to_have_read) {
    of_op("LOOKUP");
    add_calls(16, 1);
    ck_assert_str_eq(text_with_read(0), "");
    ck_assert_str_eq(text_with_read(4096), "may be one disk read");
    ck_assert_str_eq(text_with_read(1 << 30), "may be one disk read");
}

TEST(reads_of_no_bytes_are_no_disk_reads) {
    add_calls(16, 100);
    histogram.op.asked_bytes = 409600;
    ck_assert_str_eq(text_with_read(1 << 20), "");
    ck_assert_int_eq(reason.witness, PEAK_WITNESS_NOTHING_MOVED);
    profile.has_storage_read = false;
    ck_assert_int_eq(cause_with(&device_read, 1), PEAK_CAUSE_NOT_KNOWN);
    histogram.op.moved_bytes = 100;
    ck_assert_str_eq(text_with_read(1 << 20), "one disk read");
    histogram.op.moved_bytes = 0;
    of_op("PREAD");
    ck_assert_str_eq(text_with_read(1 << 20), "");
    of_op("STAT"); /* has no bytes */
    ck_assert_str_eq(text_with_read(1 << 20), "may be one disk read");
}

TEST(stacks_of_slow_calls_decide) {
    uint64_t buckets[AGGSTATS_BUCKETS_MAX] = {[16] = 50};
    add_calls(16, 100);
    of_op("LOOKUP");
    cause = (struct aggstats_cause){
        .op = "LOOKUP", .why = {.kind = AGGSTATS_CAUSE_DISK_READ, .words = "?"}, .buckets = buckets};
    profile.cause_count = 1;
    ck_assert_str_eq(text_with_read(100 * 512), "one disk read");
    ck_assert_int_eq(reason.witness, PEAK_WITNESS_STACKS);
    cause.why.kind = AGGSTATS_CAUSE_LOCK;
    strcpy(cause.why.words, "reading from the disk"); /* as somebody may have called it */
    ck_assert_str_eq(text_with_read(100 * 512), "");
    buckets[16] = 49; /* of the others nothing is known */
    ck_assert_str_eq(text_with_read(100 * 512), "may be one disk read");
    profile.cause_count = 0;
}

TEST(requests_to_a_disk_are_seen_and_never_answered_by_memory) {
    struct aggstats_label layer = {(char[]){"layer"}, (char[]){"block"}};
    profile.labels = &layer;
    profile.label_count = 1;
    add_calls(16, 100);
    ck_assert_int_eq(cause_with(&device_read, 1), PEAK_CAUSE_DEVICE_READ);
    ck_assert(peak_reason_is_seen(&reason));
    histogram_init(&histogram);
    add_calls(10, 100);
    ck_assert_int_eq(cause_with(&device_read, 1), PEAK_CAUSE_NOT_KNOWN);
}

TEST(calls_are_from_memory_if_hardly_anything_was_read_from_storage) {
    add_calls(10, 100);
    ck_assert_str_eq(text_with_read(9 * 512), "page cache hits");
    ck_assert_str_eq(text_with_read(11 * 512), "may be page cache hits");
    of_op("GETATTR");
    ck_assert_str_eq(text_with_read(0), "in memory");
    of_op("WRITE"); /* says nothing of what was written */
    ck_assert_str_eq(text_with_read(0), "may be in memory");
}

/* ---- Page cache hits, without any times ---- */

static char with_cache[] = "auto";
static char without_cache[] = "none";
static struct aggstats_label labels[] = {{(char[]){"fstype"}, NULL}, {(char[]){"cache"}, with_cache}};

/* READs of 4 KiB of files on such file systems, while so much was read from storage. */
static const char *text_on(const char *types, uint64_t storage_read_bytes) {
    labels[0].value = (char *)(uintptr_t)types;
    profile.labels = labels;
    profile.label_count = ARRAY_SIZE(labels);
    profile.has_storage_read = true;
    profile.storage_read_bytes = storage_read_bytes;
    histogram.op.moved_bytes = histogram.op.calls * 4096;
    histogram.op.asked_bytes = histogram.op.moved_bytes + 1; /* the last one reached the end of a file */
    cause_with(NULL, 0);
    return peak_reason_text(&reason, &histogram.op);
}

TEST(reads_are_page_cache_hits_if_nothing_was_read_from_storage) {
    add_calls(10, 100);
    ck_assert_str_eq(text_on("ext4", 0), "page cache hits");
    ck_assert(peak_reason_is_seen(&reason));
    ck_assert_str_eq(text_on("ext4,tmpfs, xfs", 0), "page cache hits");
    ck_assert_str_eq(text_on("ext4", 512), "");
    profile.has_storage_read = false;
    ck_assert_int_eq(cause_with(NULL, 0), PEAK_CAUSE_NOT_KNOWN);
}

TEST(a_daemon_or_a_server_below_may_have_sent_what_was_read) {
    static const char *const types[] = {"fuse.sshfs", "nfs4", "ext4,fuse.sshfs", "ext4,...", "ext", "", "overlay"};
    add_calls(10, 100);
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        ck_assert_str_eq(text_on(types[i], 0), "may be page cache hits");
        ck_assert_int_eq(reason.witness, PEAK_WITNESS_BELOW);
    }
}

TEST(a_disk_of_which_a_time_is_known_is_below) {
    struct characteristic time = device_read;
    add_calls(10, 100);
    text_on("", 0);
    time.place = (char[]){"/dev/sda1"};
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_PAGE_CACHE);
    ck_assert_str_eq(peak_reason_text(&reason, &histogram.op), "page cache hits");
    time.place = (char[]){"server:/export"};
    ck_assert_int_eq(cause_with(&time, 1), PEAK_CAUSE_PAGE_CACHE);
    ck_assert_str_eq(peak_reason_text(&reason, &histogram.op), "may be page cache hits");
}

/* Without the kernel's cache each program's last read of a file is a READ of no bytes. */
TEST(reads_at_ends_of_files_are_no_hits) {
    add_calls(10, 100);
    labels[1].value = without_cache;
    ck_assert_str_eq(text_on("ext4", 0), "may be page cache hits");
    ck_assert_int_eq(reason.witness, PEAK_WITNESS_ENDS);
    histogram.op.asked_bytes = histogram.op.moved_bytes; /* none was short */
    cause_with(NULL, 0);
    ck_assert_str_eq(peak_reason_text(&reason, &histogram.op), "page cache hits");
    histogram.op.moved_bytes = 99; /* of 100 calls */
    ck_assert_int_eq(cause_with(NULL, 0), PEAK_CAUSE_NOT_KNOWN);
    labels[1].value = with_cache;
}

/* 4 KiB may take 116 us, and 1 MiB 4.3 ms. */
TEST(reads_that_take_longer_than_a_copy_wait_for_something_else) {
    add_calls(16, 90); /* 98 us */
    add_calls(17, 10); /* 197 us */
    ck_assert_str_eq(text_on("ext4", 0), "page cache hits");
    add_calls(17, 1);
    ck_assert_str_eq(text_on("ext4", 0), "");
    histogram.op.asked_bytes = histogram.op.moved_bytes = histogram.op.calls << 20;
    ck_assert_int_eq(cause_with(NULL, 0), PEAK_CAUSE_PAGE_CACHE);
}

TEST(reads_that_failed_are_no_hits) {
    add_calls(10, 100);
    histogram.op.failures[0] = 10;
    ck_assert_str_eq(text_on("ext4", 0), "page cache hits");
    histogram.op.failures[0] = 11;
    ck_assert_str_eq(text_on("ext4", 0), "");
}

TEST(only_reads_of_the_layer_fs_are_page_cache_hits) {
    struct aggstats_label user[] = {{(char[]){"layer"}, (char[]){"user"}}, {(char[]){"fstype"}, (char[]){"ext4"}}};
    add_calls(10, 100);
    of_op("LOOKUP");
    ck_assert_str_eq(text_on("ext4", 0), "");
    of_op("READ");
    ck_assert_str_eq(text_on("ext4", 0), "page cache hits");
    profile.labels = user;
    ck_assert_int_eq(cause_with(NULL, 0), PEAK_CAUSE_NOT_KNOWN);
}

TEST(reads_that_were_seen_to_wait_are_explained_by_that) {
    uint64_t buckets[AGGSTATS_BUCKETS_MAX] = {[10] = 50};
    add_calls(10, 100);
    cause = (struct aggstats_cause){
        .op = "READ", .why = {.kind = AGGSTATS_CAUSE_LOCK, .words = "waiting for a lock"}, .buckets = buckets};
    profile.cause_count = 1;
    ck_assert_str_eq(text_on("ext4", 0), "");
    buckets[10] = 49;
    ck_assert_str_eq(text_on("ext4", 0), "page cache hits");
    profile.cause_count = 0;
}

TEST(no_peak_has_a_cause_if_none_is_wanted) {
    struct peak peaks[PEAKS_MAX];
    const struct peak_times none = {.profile = &profile, .is_off = true};
    add_calls(10, 100);
    text_on("ext4", 0);
    ck_assert_uint_eq(peaks_find(&histogram.op, 1, peaks), 1);
    ck_assert_int_eq(peak_reason_of(&histogram.op, &peaks[0], &none).cause, PEAK_CAUSE_NOT_KNOWN);
}
