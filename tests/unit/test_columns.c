/* Tables of cells: which columns there is room for, how wide they are, and that no cell joins another. */
#include <stdlib.h>

#include "base.h"
#include "columns.h"
#include "testing.h"

static const struct columns_column columns[] = {{"calls", 8}, {"mean", 6}, {"p99", 5}};

/* Rows of cells, the name first. */
struct page {
    const char *rows[2][4];
};

static const struct page narrow = {{{"READ", "1", "2 ms", "3 s"}, {"WRITE", "12", "-", "4 s"}}};
static const struct page wide = {{{"READ", "1", "2 ms", "3 s"}, {"WRITE", "12", "123.4 ms", "4 s"}}};

static void format(const void *context, size_t row, unsigned column, char ret_text[COLUMNS_CELL_SIZE]) {
    const struct page *page = context;
    snprintf(ret_text, COLUMNS_CELL_SIZE, "%s", page->rows[row][column + 1]);
}

static const char *name_of(const void *context, size_t row, enum ink *ret_ink) {
    const struct page *page = context;
    *ret_ink = INK_STRONG;
    return page->rows[row][0];
}

/* The table as it is printed on a screen of that width; the caller frees it. */
static char *print(struct columns_table table, const struct page *page, int width) {
    char *printed = NULL;
    size_t size_bytes;
    const struct screen screen = {.width = width, .stream = open_memstream(&printed, &size_bytes)};
    ck_assert_ptr_nonnull(screen.stream);
    table.screen = &screen;
    table.columns = columns;
    table.column_count = ARRAY_SIZE(columns);
    table.row_count = ARRAY_SIZE(page->rows);
    table.page = page;
    table.format = format;
    table.name_of = name_of;
    columns_print_table(&table, "op");
    fclose(screen.stream);
    return printed;
}

static void assert_printed(struct columns_table table, const struct page *page, int width, const char *expected) {
    CLEANUP_FREE char *printed = print(table, page, width);
    ck_assert_str_eq(printed, expected);
}

TEST(columns_are_as_wide_as_they_are_told) {
    assert_printed((struct columns_table){.gap = 0}, &narrow, 80,
                   "\n"
                   "op      calls  mean  p99\n"
                   "READ        1  2 ms  3 s\n"
                   "WRITE      12     -  4 s\n");
}

TEST(a_cell_that_is_too_wide_joins_no_other) {
    assert_printed((struct columns_table){.gap = 0}, &wide, 80,
                   "\n"
                   "op      calls  mean  p99\n"
                   "READ        1  2 ms  3 s\n"
                   "WRITE      12 123.4 ms  4 s\n");
}

TEST(with_a_gap_the_column_becomes_wider) {
    assert_printed((struct columns_table){.gap = 2}, &wide, 80,
                   "\n"
                   "op      calls      mean  p99\n"
                   "READ        1      2 ms  3 s\n"
                   "WRITE      12  123.4 ms  4 s\n");
}

TEST(what_has_no_room_is_left_out) {
    assert_printed((struct columns_table){.gap = 0}, &narrow, 5 + 8 + 6 + 4,
                   "\n"
                   "op      calls  mean\n"
                   "READ        1  2 ms\n"
                   "WRITE      12     -\n");
}

TEST(behind_it_there_are_others_only_if_that_is_wanted) {
    assert_printed((struct columns_table){.gap = 2}, &wide, 5 + 8 + 9,
                   "\nop      calls\nREAD        1\nWRITE      12\n");
    assert_printed((struct columns_table){.gap = 2, .has_gaps = true}, &wide, 5 + 8 + 9,
                   "\n"
                   "op      calls  p99\n"
                   "READ        1  3 s\n"
                   "WRITE      12  4 s\n");
}

TEST(the_order_says_who_gets_room_first) {
    static const unsigned last_first[] = {2, 1, 0};
    assert_printed((struct columns_table){.gap = 0, .order = last_first}, &narrow, 5 + 5 + 6,
                   "\n"
                   "op     mean  p99\n"
                   "READ   2 ms  3 s\n"
                   "WRITE     -  4 s\n");
}

TEST(hidden_columns_take_no_room) {
    assert_printed((struct columns_table){.gap = 0, .hidden = 1U << 0}, &narrow, 5 + 6 + 5,
                   "\n"
                   "op     mean  p99\n"
                   "READ   2 ms  3 s\n"
                   "WRITE     -  4 s\n");
}

TEST(names_alone_have_no_blanks_behind_them) {
    assert_printed((struct columns_table){.gap = 0}, &narrow, 5 + 7, "\nop\nREAD\nWRITE\n");
}

TEST(fitting_tells_what_is_left) {
    struct columns_table table = {.columns = columns, .column_count = ARRAY_SIZE(columns)};
    ck_assert_int_eq(columns_fit(&table, 8 + 6 + 5 + 3), 3);
    ck_assert_int_eq(table.widths[2], 5);
    ck_assert_int_eq(columns_fit(&table, 8 + 5), 5);
    ck_assert_int_eq(table.widths[1], 0);
}
