/* Which operations move bytes, and what the kernel says of them. */
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "testing.h"

#define OPS_MAX 8

static uint64_t buckets[64];
static struct aggstats_op_profile ops[OPS_MAX];
static struct aggstats_profile profile;

static void set_up(void) {
    profile = (struct aggstats_profile){.resolution = 1, .ops = ops};
}

static void add_op(const char *name, uint64_t calls, uint64_t moved_bytes, uint64_t total_cycles) {
    struct aggstats_op_profile *op = &ops[profile.op_count++];
    *op = (struct aggstats_op_profile){
        .calls = calls, .moved_bytes = moved_bytes, .total_cycles = total_cycles, .buckets = buckets};
    snprintf(op->name, sizeof(op->name), "%s", name);
}

TEST_CASE(.set_up = set_up);

TEST(all_that_read_are_one_sum) {
    add_op("READ", 1, 10, 100);
    add_op("FGETC", 1, 4096, 7);
    add_op("PREADV", 1, 20, 30);
    add_op("FREAD", 9, 0, 5000); /* moved none */
    add_op("FPRINTF", 1, 1, 1);
    const struct bytes_moved moved = bytes_moved(&profile, BYTES_READ);
    ck_assert_double_eq(moved.bytes, 4126);
    ck_assert_double_eq(moved.total_cycles, 137);
    ck_assert_str_eq(moved.op->name, "FGETC");
    ck_assert_double_eq(bytes_moved(&profile, BYTES_WRITTEN).bytes, 1);
    ck_assert_ptr_null(bytes_moved(&profile, BYTES_COPIED).op);
}

TEST(attributes_and_lists_are_no_bytes_of_files) {
    add_op("GETXATTR", 1, 10, 1);
    add_op("READDIR", 1, 10, 1);
    for (enum bytes_way way = 0; way < BYTES_WAY_COUNT; way++)
        ck_assert_double_eq(bytes_moved(&profile, way).bytes, 0);
}

TEST(the_kernel_has_copies_twice_and_splices_not_at_all) {
    add_op("SENDFILE", 3, 100, 1);
    add_op("SPLICE", 5, 1000, 1);
    add_op("PWRITE", 7, 10, 1);
    add_op("FCLOSE", 11, 1, 1); /* not all of them write */
    add_op("PREAD", 13, 5, 1);
    const struct bytes_seen seen = bytes_seen(&profile);
    ck_assert_uint_eq(seen.read, 105);
    ck_assert_uint_eq(seen.written, 111);
    ck_assert_uint_eq(seen.reads, 16);
}

static void set_sums(struct aggstats_bytes seen, struct aggstats_bytes kernel) {
    profile.has_witness = true;
    profile.bytes_seen = seen;
    profile.bytes_kernel = kernel;
}

/* Of what was read, and as much was written and seen. */
static struct bytes_witness witness(uint64_t seen, uint64_t kernel) {
    set_sums((struct aggstats_bytes){.read = seen, .written = seen},
             (struct aggstats_bytes){.read = kernel, .written = seen});
    return bytes_witness(&profile);
}

#define MIB (UINT64_C(1) << 20)

TEST(less_than_nine_tenths_are_at_least) {
    ck_assert(witness(89 * MIB, 100 * MIB).is_at_least);
    ck_assert_double_eq_tol(witness(89 * MIB, 100 * MIB).share.read, 0.89, 1e-9);
    ck_assert(!witness(90 * MIB, 100 * MIB).is_at_least);
    ck_assert(witness(0, 100 * MIB).is_at_least);
}

TEST(what_was_read_does_not_stand_for_what_was_written) {
    set_sums((struct aggstats_bytes){.read = 200 * MIB},
             (struct aggstats_bytes){.read = 50 * MIB, .written = 100 * MIB});
    ck_assert(bytes_witness(&profile).is_at_least && bytes_witness(&profile).is_written_missed);
    ck_assert(!bytes_witness(&profile).is_read_missed);
    set_sums((struct aggstats_bytes){.written = 200 * MIB},
             (struct aggstats_bytes){.read = 50 * MIB, .written = 100 * MIB});
    ck_assert(bytes_witness(&profile).is_read_missed && !bytes_witness(&profile).is_written_missed);
}

TEST(a_small_gap_accuses_nobody) {
    ck_assert(!witness(0, MIB - 1).is_at_least);
    ck_assert(witness(0, MIB).is_at_least);
}

TEST(the_kernel_may_know_of_less) {
    ck_assert_double_eq(witness(MIB, 0).share.read, 1);
    ck_assert_double_eq(witness(0, 0).share.read, 1);
    ck_assert(witness(0, 0).is_known && !witness(5 * MIB, MIB).is_at_least);
}

TEST(without_the_kernels_sums_nothing_is_known) {
    ck_assert(!bytes_witness(&profile).is_known && !bytes_witness(&profile).is_at_least);
}
