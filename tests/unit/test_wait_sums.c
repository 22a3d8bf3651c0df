/* Whose waits have rows of their own when there are too many, and that no time is lost or counted twice. */
#include <stdio.h>
#include <string.h>

#include "testing.h"
#include "wait_sums.h"

#define MANY 100003U

static const struct wait_cause lock = {{.words = "waiting for a lock"}, WAIT_COUNTS, true};
static struct wait_sums sums;

static void tear_down(void) {
    wait_sums_finish(&sums);
}

static struct waited_cell cell_of(unsigned process, const char *program) {
    struct waited_cell cell = {.process = process, .thread = process};
    memcpy(cell.program, program, strnlen(program, sizeof(cell.program)));
    return cell;
}

static void add(unsigned process, const char *program, uint64_t ns) {
    const struct waited_cell cell = cell_of(process, program);
    const struct waited_sum sum = {.waits = 1, .total_ns = ns, .longest_ns = ns};
    wait_sums_add(&sums, &lock, &cell, &sum);
}

static const struct wait_row *find(unsigned process, const char *program) {
    for (size_t i = 0; i < sums.count; i++)
        if (sums.rows[i].process == process && strcmp(sums.rows[i].program, program) == 0)
            return &sums.rows[i];
    return NULL;
}

static uint64_t sum_of_all(void) {
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < sums.count; i++)
        sum_ns += sums.rows[i].total_ns;
    return sum_ns;
}

/* Threads of one program, or each with a name of its own. */
static void add_many(bool have_names) {
    char program[WAITED_NAME_BYTES] = "many";
    for (unsigned i = 0; i < MANY; i++) {
        if (have_names)
            snprintf(program, sizeof(program), "many%u", i);
        add(1000 + i, program, 7);
    }
}

TEST_CASE(.tear_down = tear_down);

TEST(few_have_rows_of_their_own) {
    add(1, "postgres", 3);
    add(1, "postgres", 5);
    add(2, "postgres", 11);
    ck_assert_uint_eq(sums.count, 2);
    ck_assert_uint_eq(find(1, "postgres")->total_ns, 8);
    ck_assert(!sums.is_folded);
}

TEST(whoever_waits_longest_has_a_row_before_and_after_many_others, .to = 2) {
    add(1, "before", 1000);
    add_many(_i);
    add(2, "after", 1001);
    add_many(_i);
    ck_assert_uint_le(sums.count, WAIT_ROWS_MAX);
    ck_assert(sums.is_folded);
    ck_assert_ptr_nonnull(find(1, "before"));
    ck_assert_ptr_nonnull(find(2, "after"));
    ck_assert_uint_eq(find(2, "after")->total_ns, 1001);
    ck_assert_uint_eq(sum_of_all(), UINT64_C(2) * MANY * 7 + 2001);
    ck_assert_uint_eq(find(0, _i ? "(others)" : "many")->longest_ns, 7);
}

TEST(what_was_reported_is_not_reported_again) {
    const struct waiting_now now = {.cell = cell_of(1, "waits"), .age_ns = 500};
    wait_sums_add_now(&sums, &lock, &now);
    add(2, "ended", 9);
    wait_sums_mark(&sums);
    add_many(false);
    uint64_t marked_ns = 0;
    for (size_t i = 0; i < sums.count; i++)
        marked_ns += sums.rows[i].marked.ns;
    ck_assert_uint_eq(marked_ns, 509);
    ck_assert_ptr_nonnull(find(1, "waits"));
    ck_assert_uint_eq(find(1, "waits")->marked.ns, 500);
}

TEST(rows_have_an_end_if_all_waits_go_on) {
    struct waiting_now now = {.age_ns = 500};
    for (unsigned i = 0; i < MANY; i++) {
        now.cell = cell_of(1 + i, "waits");
        wait_sums_add_now(&sums, &lock, &now);
        if (i % 997 == 0)
            wait_sums_mark(&sums);
    }
    ck_assert_uint_le(sums.count, WAIT_ROWS_ALL_MAX + 1);
}
