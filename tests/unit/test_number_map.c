/* The hash table from numbers to numbers. */
#include <string.h>

#include "number_map.h"
#include "testing.h"

static struct number_map map;

static void set_up(void) {
    map = (struct number_map){0};
}

static void tear_down(void) {
    number_map_finish(&map);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(what_was_never_set_is_not_there) {
    ck_assert_uint_eq(number_map_get(&map, 7), 0);
    ck_assert_int_eq(number_map_set(&map, 7, 1), 0);
    ck_assert_uint_eq(number_map_get(&map, 8), 0);
    ck_assert_uint_eq(number_map_get(&map, 0), 0);
}

TEST(the_latest_value_counts) {
    ck_assert_int_eq(number_map_set(&map, 7, 1), 0);
    ck_assert_int_eq(number_map_set(&map, 7, UINT64_MAX), 0);
    ck_assert_int_eq(number_map_set(&map, 0, 3), 0);
    ck_assert_uint_eq(number_map_get(&map, 7), UINT64_MAX);
    ck_assert_uint_eq(number_map_get(&map, 0), 3);
    ck_assert_uint_eq(map.count, 2);
}

/* Numbers one after the other, and numbers that differ in their upper half only, as nodes of several hosts do. */
TEST(many_are_all_found_again) {
    enum { COUNT = 10000 };
    for (uint64_t i = 0; i < COUNT; i++) {
        ck_assert_int_eq(number_map_set(&map, i, i + 1), 0);
        ck_assert_int_eq(number_map_set(&map, (i + 1) << 40, i + 2), 0);
    }
    for (uint64_t i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(number_map_get(&map, i), i + 1);
        ck_assert_uint_eq(number_map_get(&map, (i + 1) << 40), i + 2);
    }
    ck_assert_uint_eq(map.count, 2 * COUNT);
    ck_assert_uint_le(2 * map.count, map.room);
}

TEST(a_finished_one_is_empty) {
    ck_assert_int_eq(number_map_set(&map, 7, 1), 0);
    number_map_finish(&map);
    ck_assert_uint_eq(number_map_get(&map, 7), 0);
    ck_assert_int_eq(number_map_set(&map, 8, 2), 0);
    ck_assert_uint_eq(number_map_get(&map, 8), 2);
}
