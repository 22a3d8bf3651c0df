/* Which programs have a series of their own in what osprof serve --why counts, and what becomes of the others. */
#include <stdio.h>
#include <string.h>

#include "serve_why.h"
#include "testing.h"

#define SECOND UINT64_C(1000000000)

static const struct wait_cause lock = {{.words = "waiting for a lock"}, WAIT_COUNTS, true};
static const struct wait_cause disk = {{.words = "waiting for the disk"}, WAIT_COUNTS, true};
static struct wait_series series;

static void tear_down(void) {
    wait_series_finish(&series);
}

static const struct wait_one_series *find(const struct wait_cause *cause, const char *program) {
    for (size_t i = 0; i < series.count; i++)
        if (strcmp(series.series[i].cause, cause->why.words) == 0 && strcmp(series.series[i].program, program) == 0)
            return &series.series[i];
    return NULL;
}

static uint64_t sum_of(const struct wait_cause *cause) {
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < series.count; i++)
        sum_ns += strcmp(series.series[i].cause, cause->why.words) == 0 ? series.series[i].total_ns : 0;
    return sum_ns;
}

/* A second in which many programs, of names that were not there before, wait. */
static void many_wait(unsigned first, unsigned count, uint64_t ns) {
    char program[WAITED_NAME_BYTES + 1];
    wait_series_age(&series, SECOND);
    for (unsigned i = 0; i < count; i++) {
        snprintf(program, sizeof(program), "many%u", first + i);
        wait_series_add(&series, &disk, program, 1, ns);
    }
}

TEST_CASE(.tear_down = tear_down);

TEST(program_that_waits_longer_takes_the_place_of_one_that_came_first) {
    many_wait(0, 1009, SECOND / 100);
    const uint64_t disk_ns = sum_of(&disk);
    ck_assert_uint_eq(disk_ns, 1009 * (SECOND / 100));
    wait_series_add(&series, &lock, "postgres", 3, SECOND);
    ck_assert_ptr_nonnull(find(&lock, "postgres"));
    ck_assert_uint_eq(find(&lock, "postgres")->total_ns, SECOND);
    ck_assert_uint_eq(find(&lock, "postgres")->waits, 3);
    ck_assert_uint_eq(sum_of(&disk), disk_ns);
    ck_assert_uint_le(series.count, WAIT_SERIES_MAX);
}

TEST(program_that_waits_now_and_then_is_not_displaced_by_many_that_do_once) {
    uint64_t last_ns = 0;
    for (unsigned i = 0; i < 300; i++) {
        many_wait(1009 * i, 1009, SECOND / 50);
        wait_series_add(&series, &lock, "postgres", 1, SECOND / 20);
        ck_assert_ptr_nonnull(find(&lock, "postgres"));
        ck_assert_uint_gt(find(&lock, "postgres")->total_ns, last_ns);
        last_ns = find(&lock, "postgres")->total_ns;
    }
    ck_assert_uint_eq(last_ns, 300 * (SECOND / 20));
    ck_assert_uint_eq(sum_of(&disk), UINT64_C(300) * 1009 * (SECOND / 50));
}

TEST(program_that_has_ended_gives_way) {
    many_wait(0, 1009, 60 * SECOND);
    wait_series_add(&series, &lock, "postgres", 1, SECOND);
    ck_assert_ptr_null(find(&lock, "postgres"));
    ck_assert_uint_eq(find(&lock, "other")->total_ns, SECOND);
    for (unsigned i = 0; i < 600; i++)
        many_wait(0, 0, 0);
    wait_series_add(&series, &lock, "postgres", 1, SECOND);
    ck_assert_uint_eq(find(&lock, "postgres")->total_ns, SECOND);
    ck_assert_uint_eq(sum_of(&lock), 2 * SECOND);
}

TEST(program_called_other_takes_no_place) {
    struct wait_cause cause = {.class = WAIT_COUNTS, .is_named = true};
    for (unsigned i = 0; i < 1009; i++) {
        snprintf(cause.why.words, sizeof(cause.why.words), "cause %u", i);
        wait_series_add(&series, &cause, "other", 1, SECOND);
    }
    wait_series_add(&series, &lock, "postgres", 1, 1);
    ck_assert_ptr_nonnull(find(&lock, "postgres"));
    ck_assert_uint_le(series.count, WAIT_SERIES_MAX);
}
