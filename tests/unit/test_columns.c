/* Columns of figures: which ones there is room for. */
#include <stdlib.h>

#include "base.h"
#include "columns.h"
#include "testing.h"

static const struct columns_column columns[] = {{"calls", 8}, {"mean", 6}, {"p99", 5}};

TEST(fitting_tells_what_is_left) {
    struct columns_table table = {.columns = columns, .column_count = ARRAY_SIZE(columns)};
    ck_assert_int_eq(columns_fit(&table, 8 + 6 + 5 + 3), 3);
    ck_assert_int_eq(table.widths[2], 5);
    ck_assert_int_eq(columns_fit(&table, 8 + 5), 5);
    ck_assert_int_eq(table.widths[1], 0);
}
