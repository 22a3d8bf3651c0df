/* The cells and rows of a block, for the writers: a file of its own, as sheet.c uses the writers. */
#include <assert.h>
#include <string.h>

#include "sheet_private.h"

const struct sheet_cell *sheet_block_end(const struct sheet *sheet, const struct sheet_block *block) {
    const bool is_last = block + 1 == sheet->blocks + sheet->block_count;
    return sheet->cells + (is_last ? sheet->cell_count : block[1].first);
}

bool sheet_next_row(const struct sheet *sheet, const struct sheet_block *block, struct sheet_row *row) {
    const struct sheet_cell *end = sheet_block_end(sheet, block);
    const struct sheet_cell *before = row->cells;
    const struct sheet_cell *cells =
        before ? row->more + row->more_count : sheet->cells + block->first + block->column_count;
    if (cells >= end)
        return false;
    assert(cells + block->column_count <= end);
    *row =
        (struct sheet_row){.cells = cells, .more = cells + block->column_count, .number = before ? row->number + 1 : 0};
    while (row->more + row->more_count < end && row->more[row->more_count].is_more)
        row->more_count++;
    row->is_of_same_group = before && block->columns[0].kind == SHEET_GROUP &&
                            strcmp(sheet_text_of(sheet, before), sheet_text_of(sheet, cells)) == 0;
    return true;
}
