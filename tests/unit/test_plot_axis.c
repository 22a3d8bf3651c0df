/* Axes and colours: what is marked, and where. */
#include <math.h>
#include <string.h>

#include "base.h"
#include "plot_axis.h"
#include "testing.h"

static char *written;

static const char *script_of(const struct plot_axis *axis) {
    size_t size_bytes;
    free(written);
    FILE *script = open_memstream(&written, &size_bytes);
    ck_assert_ptr_nonnull(script);
    plot_axis_put(axis, "x", script);
    ck_assert_int_eq(fclose(script), 0);
    return written;
}

static void tear_down(void) {
    free(written);
    written = NULL;
}

static const double extents[][2] = {{1, 2},       {1e-9, 2e-9}, {5, 6},        {9.99, 10.01},
                                    {1e-6, 1e-3}, {1, 0x1p64},  {1e-30, 1e30}, {1e10, 2e10}};

TEST_CASE(.tear_down = tear_down);

TEST(an_axis_holds_its_extent_and_two_powers_of_ten, .to = (int)ARRAY_SIZE(extents)) {
    struct plot_axis axis = plot_axis_over(extents[_i][0], extents[_i][1], PLOT_SECONDS);
    ck_assert(axis.low < extents[_i][0] && axis.high > extents[_i][1]);
    ck_assert(floor(log10(axis.high)) - ceil(log10(axis.low)) >= 1);
    axis = plot_axis_of_colours(extents[_i][0], extents[_i][1], PLOT_COUNT);
    ck_assert(axis.low <= extents[_i][0] && axis.high >= extents[_i][1]);
    ck_assert(floor(log10(axis.high)) - ceil(log10(axis.low)) >= 1);
}

TEST(the_least_bar_is_seen) {
    struct plot_axis axis = plot_axis_of_bars(1, 1, PLOT_COUNT);
    ck_assert(axis.low < 1 && axis.high >= 10);
    axis = plot_axis_of_bars(3e-6, 5, PLOT_SECONDS);
    ck_assert(axis.low < 3e-6 && axis.high > 5);
}

TEST(marks_are_those_people_read) {
    const struct plot_axis axis = {.low = 5e-7, .high = 3e-6, .unit = PLOT_SECONDS, .labels_max = 9};
    ck_assert_str_eq(script_of(&axis), "set logscale x\nset xrange [5e-07:3e-06]\n"
                                       "set xtics ('1 µs' 1e-06, '' 5e-07 1, '' 6e-07 1, '' 7e-07 1, '' 8e-07 1, "
                                       "'' 9e-07 1, '' 2e-06 1, '' 3e-06 1)\n");
}

TEST(where_there_is_no_room_marks_have_no_text) {
    const struct plot_axis axis = {.low = 1, .high = 1000, .unit = PLOT_COUNT, .labels_max = 0};
    ck_assert_str_eq(script_of(&axis),
                     "set logscale x\nset xrange [1:1000]\nset xtics ('' 1, '' 10, '' 100, '' 1000)\n");
    const struct plot_axis tight = {.low = 1, .high = 1000, .unit = PLOT_COUNT, .labels_max = 2};
    ck_assert_str_eq(script_of(&tight),
                     "set logscale x\nset xrange [1:1000]\nset xtics ('1' 1, '' 10, '100' 100, '' 1000)\n");
}

TEST(room_is_left_above_bars_if_there_is_not_enough) {
    struct plot_axis axis = {.low = 1, .high = 1000, .unit = PLOT_COUNT};
    plot_axis_leave_room(&axis, 1000, 20, 80); /* three decades in what is left, three quarters */
    ck_assert(fabs(axis.high - 10000) < 1e-6);
    plot_axis_leave_room(&axis, 1000, 20, 80);
    ck_assert(fabs(axis.high - 10000) < 1e-6);
    plot_axis_leave_room(&axis, 10, 20, 80);
    ck_assert(fabs(axis.high - 10000) < 1e-6);
}

TEST(in_space_positions_are_decades_above_the_low_end) {
    const struct plot_axis axis = {.low = 0.1, .high = 100, .unit = PLOT_COUNT, .labels_max = 2, .as_decades = true};
    ck_assert_str_eq(script_of(&axis), "set xrange [0:3]\nset xtics ('1e-1' 0, '' 1, '10' 2, '' 3)\n");
    ck_assert(fabs(plot_axis_at(&axis, 1) - 1) < 1e-12);
}

TEST(colours_go_from_dark_to_light) {
    ck_assert_uint_eq(plot_colours_at(0), 0x440154);
    ck_assert_uint_eq(plot_colours_at(1), 0xfde725);
    ck_assert_uint_eq(plot_colours_at(0.5), 0x21918c);
    ck_assert_uint_eq(plot_colours_at(-3), 0x440154);
    ck_assert_uint_eq(plot_colours_at(7), 0xfde725);
    ck_assert_uint_eq(plot_colours_at(NAN), 0x440154);
    ck_assert_uint_eq(plot_colours_at(0.0625), 0x461768); /* between the first two */
}
