/* Intervals merged to bins: as many as fit, and nothing lost. */
#include <string.h>

#include "base.h"
#include "plot_bins.h"
#include "testing.h"

#define INTERVALS 1000U
#define BUCKETS 3U

static uint64_t borders[INTERVALS];
static struct aggstats_cell samples[INTERVALS * BUCKETS];
static struct aggstats_cell cells[INTERVALS * BUCKETS];
static struct aggstats_op_profile op;
static struct aggstats_profile profile;
static struct plot_op plot_op;
static struct plot plot;

/* Every interval has calls in buckets 5, 6 and 7, and ends later by one cycle more than the one before. */
static void set_up(void) {
    uint64_t now = 0;
    for (unsigned i = 0; i < INTERVALS; i++) {
        borders[i] = now += 1000 + i;
        for (unsigned j = 0; j < BUCKETS; j++)
            samples[i * BUCKETS + j] = (struct aggstats_cell){.row = i, .bucket = 5 + j, .count = i + j + 1};
    }
    op = (struct aggstats_op_profile){.name = "A", .samples = samples, .sample_count = ARRAY_SIZE(samples)};
    profile = (struct aggstats_profile){
        .resolution = 1, .borders = borders, .interval_count = INTERVALS, .interval_cycles = 1000};
    plot_op = (struct plot_op){.name = "A", .of = {&op}};
    plot = (struct plot){.profiles = {&profile}, .profile_count = 1, .ops = &plot_op, .op_count = 1};
}

static uint64_t sum(const struct aggstats_cell *of, size_t count, unsigned bucket) {
    uint64_t calls = 0;
    for (size_t i = 0; i < count; i++)
        calls += of[i].bucket == bucket ? of[i].count : 0;
    return calls;
}

static struct plot_bins choose(size_t bins_max, size_t cells_max) {
    struct plot_bins bins;
    ck_assert_int_eq(plot_bins_choose(&plot, bins_max, cells_max, &bins), 0);
    return bins;
}

TEST_CASE(.set_up = set_up);

TEST(few_intervals_stay_as_they_are) {
    struct plot_bins bins = choose(INTERVALS, INTERVALS * BUCKETS);
    ck_assert_uint_eq(bins.factor, 1);
    ck_assert_uint_eq(bins.count, INTERVALS);
    ck_assert_uint_eq(plot_bins_merge(&bins, &op, cells), INTERVALS * BUCKETS);
    ck_assert_mem_eq(cells, samples, sizeof(samples));
}

static const size_t bins_max_of[] = {999, 501, 500, 61, 7, 2, 1};

TEST(sums_are_kept, .to = (int)ARRAY_SIZE(bins_max_of)) {
    struct plot_bins bins = choose(bins_max_of[_i], SIZE_MAX);
    ck_assert_uint_le(bins.count, bins_max_of[_i]);
    size_t count = plot_bins_merge(&bins, &op, cells);
    ck_assert_uint_eq(count, bins.count * BUCKETS);
    ck_assert_uint_eq(count, bins.cell_count);
    for (unsigned bucket = 5; bucket < 5 + BUCKETS; bucket++)
        ck_assert_uint_eq(sum(cells, count, bucket), sum(samples, ARRAY_SIZE(samples), bucket));
}

TEST(bins_end_where_their_last_interval_does) {
    struct plot_bins bins = choose(300, SIZE_MAX); /* of 4, the last too */
    ck_assert_uint_eq(bins.factor, 4);
    ck_assert(plot_bins_begin(&bins, &plot, 0) == 0);
    ck_assert(plot_bins_begin(&bins, &plot, 1) == (double)borders[3]);
    bins = choose(334, SIZE_MAX); /* of 3, the last of 1 */
    ck_assert(plot_bins_begin(&bins, &plot, bins.count - 1) == (double)borders[INTERVALS - 2]);
    ck_assert(plot_bins_begin(&bins, &plot, bins.count) == (double)borders[INTERVALS - 1]);
}

TEST(times_are_seconds_where_the_clock_is_known) {
    struct plot_bins bins = choose(1, SIZE_MAX);
    profile.clock.frequency_hz = 1000;
    ck_assert(plot_bins_begin(&bins, &plot, 1) == (double)borders[INTERVALS - 1] / 1000);
}

TEST(intervals_without_length_are_counted) {
    struct plot_bins bins = choose(500, SIZE_MAX);
    ck_assert(plot_bins_timed(&plot));
    memset(borders, 0, sizeof(borders));
    ck_assert(!plot_bins_timed(&plot));
    ck_assert(plot_bins_begin(&bins, &plot, 3) == 6);
}

TEST(too_many_cells_make_fewer_bins) {
    struct plot_bins bins = choose(INTERVALS, 300);
    ck_assert_uint_le(bins.cell_count, 300);
    ck_assert_uint_ge(bins.cell_count, 100);
    bins = choose(INTERVALS, 1); /* not even one bin is as small */
    ck_assert_uint_eq(bins.count, 1);
}

TEST(a_profile_without_intervals_is_no_data) {
    struct plot_bins bins = {.factor = 77};
    profile.interval_count = 0;
    ck_assert_int_eq(plot_bins_choose(&plot, 1, 1, &bins), -ENODATA);
    profile.interval_count = INTERVALS;
    op.sample_count = 0;
    ck_assert_int_eq(plot_bins_choose(&plot, 1, 1, &bins), -ENODATA);
    ck_assert_uint_eq(bins.factor, 77);
}
