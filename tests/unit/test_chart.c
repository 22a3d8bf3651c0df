/* How counts become bars, and buckets columns. */
#include <string.h>

#include "base.h"
#include "chart.h"
#include "command.h"
#include "testing.h"

static uint64_t buckets[AGGSTATS_BUCKETS_MAX];
static struct aggstats_op_profile op;
static const struct aggstats_op_profile *const ops[] = {&op};

static void set_up(void) {
    memset(buckets, 0, sizeof(buckets));
    op = (struct aggstats_op_profile){.name = "READ", .buckets = buckets};
}

static struct chart_axis axis_of(unsigned resolution, int width) {
    const struct screen screen = {.width = width};
    return chart_axis_of(ops, 1, resolution, &screen);
}

static const struct {
    uint64_t count;
    unsigned eighths;
} heights[] = {
    {0, 0},    {1, 1},    {2, 3},     {9, 8},        {10, 9},           {99, 16},
    {100, 17}, {999, 24}, {1000, 25}, {1000000, 49}, {UINT64_MAX, 155},
};

TEST_CASE(.set_up = set_up);

TEST(a_row_is_begun_exactly_at_its_power_of_ten, .to = ARRAY_SIZE(heights)) {
    ck_assert_uint_eq(chart_eighths(heights[_i].count), heights[_i].eighths);
}

TEST(no_calls_need_no_columns) {
    ck_assert_uint_eq(axis_of(1, 80).column_count, 0);
}

TEST(the_axis_spans_the_buckets_of_all_ops) {
    uint64_t other_buckets[64] = {[4] = 1};
    const struct aggstats_op_profile other = {.buckets = other_buckets};
    const struct aggstats_op_profile *const both[] = {&op, &other};
    const struct screen screen = {.width = 80};
    buckets[9] = 7;
    buckets[12] = 1;
    struct chart_axis axis = chart_axis_of(both, 2, 1, &screen);
    ck_assert_uint_eq(axis.first_column, 4);
    ck_assert_uint_eq(axis.column_count, 9);
    ck_assert_uint_eq(axis.column_width, 3);
    ck_assert_uint_eq(axis.gap_width, 1);
}

TEST(all_64_buckets_fit_80_columns) {
    buckets[0] = buckets[63] = 1;
    struct chart_axis axis = axis_of(1, 80);
    ck_assert_uint_eq(axis.column_count, 64);
    ck_assert_uint_eq(axis.column_width, 1);
    ck_assert_uint_eq(axis.merged, 1);
}

TEST(neighbours_share_a_column_where_the_screen_is_narrow) {
    buckets[0] = buckets[AGGSTATS_BUCKETS_MAX - 1] = 1;
    struct chart_axis axis = axis_of(8, 80);
    ck_assert_uint_eq(axis.merged, 8);
    ck_assert_uint_eq(axis.column_count, 64);
    axis = axis_of(8, SCREEN_WIDTH_MIN);
    ck_assert_uint_eq(axis.merged, 16);
    ck_assert_uint_eq(axis.column_count, 32);
    axis = axis_of(8, SCREEN_WIDTH_MAX); /* where there is room, a column is still a power of two */
    ck_assert_uint_eq(axis.merged, 8);
}

/* What is printed for the op, which the caller frees. */
static char *print_to_text(unsigned resolution, uint64_t frequency_hz) {
    char *text = NULL;
    size_t size_bytes;
    const struct units units = {.frequency_hz = frequency_hz, .ascii = true};
    const struct screen screen = {.width = 60, .ascii = true, .stream = open_memstream(&text, &size_bytes)};
    ck_assert_ptr_nonnull(screen.stream);
    struct chart_axis axis = chart_axis_of(ops, 1, resolution, &screen);
    chart_print(&axis, &op, &units, &screen);
    fclose(screen.stream);
    return text;
}

TEST(bars_stand_at_their_latency) {
    buckets[10] = 1; /* 1.024 us to 2.048 us of a 1 GHz clock */
    buckets[11] = 10;
    buckets[13] = 500;
    buckets[14] = 3;
    CLEANUP_FREE char *text = print_to_text(1, 1000000000);
    ck_assert_str_eq(text, "  100 |         ::\n"
                           "   10 |   ..    ##\n"
                           "    1 |.. ##    ## ::\n"
                           "      ++---------+----\n"
                           "       1 us      10 us\n");
}

/* An op beside another whose calls take up to 33 ms, so that both have a long axis. */
static char *print_beside_slow_calls(int width) {
    uint64_t other_buckets[64] = {[10] = 1, [24] = 1};
    const struct aggstats_op_profile other = {.buckets = other_buckets};
    const struct aggstats_op_profile *const both[] = {&op, &other};
    char *text = NULL;
    size_t size_bytes;
    const struct units units = {.frequency_hz = 1000000000, .ascii = true};
    const struct screen screen = {.width = width, .ascii = true, .stream = open_memstream(&text, &size_bytes)};
    ck_assert_ptr_nonnull(screen.stream);
    struct chart_axis axis = chart_axis_of(both, 2, 1, &screen);
    chart_print(&axis, &op, &units, &screen);
    fclose(screen.stream);
    return text;
}

TEST(the_axis_is_as_wide_as_the_data_on_the_scale_of_all) {
    buckets[11] = 10;
    buckets[14] = 1;
    CLEANUP_FREE char *text = print_beside_slow_calls(60);
    ck_assert_str_eq(text, "   10 |   ..\n"
                           "    1 |   ##       ..\n"
                           "      ++---------+----\n"
                           "       1 us      10 us\n");
}

TEST(an_axis_has_a_tick_although_the_data_ends_before) {
    op.buckets = buckets;
    buckets[8] = 1; /* 256 ns */
    CLEANUP_FREE char *text = print_beside_slow_calls(60);
    ck_assert_str_eq(text, "    1 |..\n"
                           "      +------+--\n"
                           "             1 us\n");
}

TEST(no_tick_reaches_beyond_the_screen) {
    buckets[10] = buckets[49] = 1; /* 2^50 ns are 13 days */
    CLEANUP_FREE char *text = print_beside_slow_calls(47);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        ck_assert_uint_le(strcspn(line, "\n"), 47);
}

TEST(merged_columns_add_up) {
    for (unsigned bucket = 80; bucket < 160; bucket++)
        buckets[bucket] = 5;
    CLEANUP_FREE char *text = print_to_text(8, 1000000000);
    /* 80 buckets are ten powers of two, with 40 calls each */
    ck_assert_ptr_nonnull(strstr(text, "   10 |:: :: :: :: :: :: :: :: :: ::\n"));
    ck_assert_ptr_nonnull(strstr(text, "    1 |## ## ## ## ## ## ## ## ## ##\n"));
}

TEST(an_op_without_finished_calls_prints_nothing) {
    CLEANUP_FREE char *text = print_to_text(1, 1000000000);
    ck_assert_str_eq(text, "");
}

/* ---- A single line ---- */

static struct chart_axis line_axis(unsigned resolution, unsigned columns) {
    return chart_line_axis(ops, 1, resolution, columns);
}

TEST(a_line_tells_the_digits_of_the_counts) {
    buckets[10] = 1; /* 1.024 us to 2.048 us of a 1 GHz clock */
    buckets[11] = 9;
    buckets[12] = 10;
    buckets[14] = 9999999;
    buckets[15] = UINT64_MAX;
    char text[CHART_LINE_SIZE];
    struct chart_axis axis = line_axis(1, 80);
    chart_format_line(&axis, &op, true, text);
    ck_assert_str_eq(text, "112 78");
    chart_format_line(&axis, &op, false, text);
    ck_assert_str_eq(text, "▁▁▂ ▇█");
}

TEST(a_line_has_no_blanks_at_its_end) {
    buckets[10] = buckets[30] = 1;
    struct chart_axis axis = line_axis(1, 80);
    buckets[30] = 0;
    char text[CHART_LINE_SIZE];
    chart_format_line(&axis, &op, true, text);
    ck_assert_str_eq(text, "1");
}

TEST(ticks_stand_above_their_latency) {
    buckets[9] = buckets[31] = 1; /* 512 ns to 4.3 s */
    const struct units units = {.frequency_hz = 1000000000, .ascii = true};
    char text[CHART_LINE_SIZE];
    struct chart_axis axis = line_axis(1, 80);
    chart_format_ticks(&axis, &units, text);
    ck_assert_str_eq(text, " 1 us      1 ms      1 s");
}

TEST(a_line_fits_any_width_and_its_ticks_do_not_touch) {
    const struct units units = {.frequency_hz = 1000000000, .ascii = true};
    char text[CHART_LINE_SIZE];
    for (unsigned bucket = 0; bucket < AGGSTATS_BUCKETS_MAX; bucket++)
        buckets[bucket] = UINT64_MAX / AGGSTATS_BUCKETS_MAX;
    for (unsigned columns = 1; columns <= 600; columns++) {
        struct chart_axis axis = line_axis(8, columns);
        ck_assert_uint_le(axis.column_count, columns);
        chart_format_line(&axis, &op, false, text);
        ck_assert_int_eq(units_text_columns(text), (int)axis.column_count);
        chart_format_ticks(&axis, &units, text);
        ck_assert_ptr_null(strstr(text, "s1"));
    }
}
