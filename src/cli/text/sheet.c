/* Pages: their blocks and cells, and which of them give way. The writers are in sheet_terminal.c and sheet_html.c. */
#include "sheet_private.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

#define ROOM_MIN 32

struct sheet sheet_of(const struct screen *screen, uint64_t frequency_hz) {
    return (struct sheet){.screen = *screen, .units = {.frequency_hz = frequency_hz, .ascii = screen->ascii}};
}

void sheet_finish(struct sheet *sheet) {
    for (size_t i = 0; i < sheet->block_count; i++)
        free(sheet->blocks[i].columns);
    str_finish(&sheet->texts);
    free(sheet->blocks);
    free(sheet->cells);
    *sheet = (struct sheet){.screen = sheet->screen, .units = sheet->units, .pictures = sheet->pictures};
}

/* Makes room for one more item. Returns false without memory */
static bool make_room(struct sheet *sheet, void **items, size_t count, size_t *room, size_t size) {
    if (count == *room) {
        const size_t more = *room > 0 ? 2 * *room : ROOM_MIN;
        void *grown = sheet->texts.failed ? NULL : reallocarray(*items, more, size);
        if (!grown) {
            sheet->texts.failed = true;
            return false;
        }
        *items = grown;
        *room = more;
    }
    return !sheet->texts.failed;
}

static void add_cell(struct sheet *sheet, enum ink ink, const char *text) {
    if (!make_room(sheet, (void **)&sheet->cells, sheet->cell_count, &sheet->cell_room, sizeof(*sheet->cells)))
        return;
    sheet->cells[sheet->cell_count++] = (struct sheet_cell){.text = sheet->texts.length, .ink = ink};
    str_add_bytes(&sheet->texts, text, strlen(text) + 1);
}

__attribute__((format(printf, 3, 0))) static void add_formatted(struct sheet *sheet, enum ink ink, const char *format,
                                                                va_list arguments) {
    CLEANUP_FREE char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    add_cell(sheet, ink, text ? text : "");
}

#define ADD_FORMATTED(sheet, ink, format)                                                                              \
    do {                                                                                                               \
        va_list arguments;                                                                                             \
        va_start(arguments, format);                                                                                   \
        add_formatted(sheet, ink, format, arguments);                                                                  \
        va_end(arguments);                                                                                             \
    } while (0)

/* Begins a block: those of its members that are given, and the page's rank. */
static void begin(struct sheet *sheet, struct sheet_block block) {
    if (!make_room(sheet, (void **)&sheet->blocks, sheet->block_count, &sheet->block_room, sizeof(*sheet->blocks))) {
        free(block.columns);
        return;
    }
    block.rank = sheet->rank;
    block.from = sheet->from;
    block.only_with = sheet->only_with;
    block.first = sheet->cell_count;
    sheet->blocks[sheet->block_count++] = block;
}

/* ---- Blocks ------------------------------------------------------------------------------------- */

void sheet_gap(struct sheet *sheet) {
    begin(sheet, (struct sheet_block){.form = FORM_GAP});
}

void sheet_put(struct sheet *sheet, enum sheet_form form, enum ink ink, int indent, const char *format, ...) {
    if (form == FORM_HEADING || form == FORM_TITLE)
        sheet_gap(sheet);
    begin(sheet, (struct sheet_block){.form = form, .indent = indent});
    ADD_FORMATTED(sheet, ink, format);
}

void sheet_entry(struct sheet *sheet, enum sheet_form form, const char *key, const char *format, ...) {
    begin(sheet, (struct sheet_block){.form = form});
    add_cell(sheet, INK_FAINT, key);
    ADD_FORMATTED(sheet, INK_PLAIN, format);
}

void sheet_span(struct sheet *sheet, enum ink ink, const char *format, ...) {
    ADD_FORMATTED(sheet, ink, format);
}

void sheet_list(struct sheet *sheet, const char *key, int lines, wide_count others) {
    begin(sheet, (struct sheet_block){.form = FORM_LIST, .list_lines = lines, .count = others});
    add_cell(sheet, INK_FAINT, key);
}

void sheet_item(struct sheet *sheet, wide_count count, const char *format, ...) {
    ADD_FORMATTED(sheet, INK_PLAIN, format);
    if (!sheet->texts.failed)
        sheet->cells[sheet->cell_count - 1].count = count;
}

void sheet_command(struct sheet *sheet, const char *command, const char *argument, const char *stands_for,
                   const char *why) {
    const char *const texts[] = {command, argument, stands_for, why};
    begin(sheet, (struct sheet_block){.form = FORM_COMMAND});
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        add_cell(sheet, INK_PLAIN, texts[i]);
}

void sheet_chart(struct sheet *sheet, const char *caption, const struct chart_axis *axis, unsigned resolution,
                 const struct aggstats_op_profile *op, const struct aggstats_op_profile *beside) {
    struct sheet_block block = {.form = FORM_CHART, .resolution = resolution, .ops = {op, beside}};
    if (axis)
        block.axis = *axis;
    begin(sheet, block);
    if (caption)
        add_cell(sheet, INK_FAINT, caption);
}

void sheet_picture(struct sheet *sheet, const char *op) {
    begin(sheet, (struct sheet_block){.form = FORM_PICTURE});
    add_cell(sheet, INK_PLAIN, op);
}

/* ---- Tables ------------------------------------------------------------------------------------- */

struct sheet_table *sheet_table(struct sheet *sheet, const struct sheet_column *columns, size_t count) {
    struct sheet_block block = {.form = FORM_TABLE, .column_count = (unsigned)count, .table = {.gap = 2}};
    block.columns = calloc(count, sizeof(*columns));
    if (block.columns)
        memcpy(block.columns, columns, count * sizeof(*columns));
    else
        sheet->texts.failed = true;
    begin(sheet, block);
    for (size_t i = 0; i < count; i++)
        add_cell(sheet, INK_FAINT,
                 sheet->screen.html && columns[i].title_in_html ? columns[i].title_in_html : columns[i].title);
    return sheet->texts.failed ? &sheet->nowhere : &sheet->blocks[sheet->block_count - 1].table;
}

void sheet_add(struct sheet *sheet, const char *text) {
    if (sheet->texts.failed)
        return;
    struct sheet_block *block = &sheet->blocks[sheet->block_count - 1];
    const enum sheet_kind kind = block->columns[block->next].kind;
    add_cell(sheet, kind == SHEET_NAME || kind == SHEET_PATH || kind == SHEET_GROUP ? INK_STRONG : INK_PLAIN, text);
    block->next = (block->next + 1) % block->column_count;
}

void sheet_addf(struct sheet *sheet, const char *format, ...) {
    va_list arguments;
    CLEANUP_FREE char *text = NULL;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    sheet_add(sheet, text ? text : "");
}

void sheet_add_count(struct sheet *sheet, wide_count count) {
    sheet_add(sheet, units_count(count).text);
}

void sheet_add_share(struct sheet *sheet, double share) {
    sheet_add(sheet, isnan(share) ? "-" : units_share(share).text);
}

void sheet_add_cycles(struct sheet *sheet, double cycles) {
    sheet_add(sheet, isnan(cycles) ? "-" : units_cycles(&sheet->units, cycles).text);
}

void sheet_add_seconds(struct sheet *sheet, double seconds) {
    sheet_add(sheet, isnan(seconds) ? "-" : units_seconds(&sheet->units, seconds).text);
}

void sheet_ink(struct sheet *sheet, enum ink ink) {
    if (!sheet->texts.failed)
        sheet->cells[sheet->cell_count - 1].ink = ink;
}

void sheet_add_more(struct sheet *sheet, enum ink ink, const char *text) {
    add_cell(sheet, ink, text);
    if (!sheet->texts.failed)
        sheet->cells[sheet->cell_count - 1].is_more = true;
}

void sheet_add_note(struct sheet *sheet, const char *text) {
    while (!sheet->texts.failed &&
           sheet->blocks[sheet->block_count - 1].next + 1 < sheet->blocks[sheet->block_count - 1].column_count)
        sheet_add(sheet, "");
    sheet_add(sheet, text);
    if (!sheet->texts.failed)
        sheet->cells[sheet->cell_count - 1].is_note = true;
}

/* ---- Fitting ------------------------------------------------------------------------------------ */

/* False if the block has given way, or needs a column that the table before does not show. shown: its columns, as bits */
static bool is_there(const struct sheet *sheet, const struct sheet_block *block, unsigned shown) {
    return block->from <= sheet->step && (block->rank == 0 || block->rank > sheet->step) &&
           (block->only_with == 0 || (block->only_with & shown));
}

static size_t count_lines(const struct sheet *sheet) {
    size_t lines = 0;
    bool has_gap = false;
    for (size_t i = 0; i < sheet->block_count; i++) {
        struct sheet_block *block = &sheet->blocks[i];
        CLEANUP_FREE char *text = NULL;
        size_t size_bytes = 0;
        struct screen nowhere = sheet->screen;
        if (!is_there(sheet, block, ~0U) || !sheet_terminal_shows(sheet, block))
            continue;
        nowhere.stream = block->lines == 0 ? open_memstream(&text, &size_bytes) : NULL;
        if (nowhere.stream) {
            sheet_terminal_put(sheet, &nowhere, block, false);
            fclose(nowhere.stream);
        }
        for (size_t at = 0; at < size_bytes && text; at++)
            block->lines += text[at] == '\n';
        lines += block->lines + (has_gap && block->form != FORM_GAP);
        has_gap = block->form == FORM_GAP;
    }
    return lines;
}

void sheet_fit(struct sheet *sheet, unsigned lines_max) {
    unsigned last = 0;
    for (size_t i = 0; i < sheet->block_count; i++)
        last = sheet->blocks[i].rank > last ? sheet->blocks[i].rank : last;
    while (!sheet->texts.failed && sheet->step < last && count_lines(sheet) > lines_max)
        sheet->step++;
}

/* ---- Printing ----------------------------------------------------------------------------------- */

void sheet_print(struct sheet *sheet) {
    const bool is_html = sheet->screen.html;
    unsigned shown = 0;   /* columns of the last table */
    bool has_gap = false; /* before the next block */
    bool has_key = true;  /* the next command */
    for (size_t i = 0; i < sheet->block_count && !sheet->texts.failed; i++) {
        const struct sheet_block *block = &sheet->blocks[i];
        if (!is_there(sheet, block, shown) || (!is_html && !sheet_terminal_shows(sheet, block)))
            continue;
        if (has_gap && block->form != FORM_GAP)
            putc('\n', sheet->screen.stream);
        has_gap = block->form == FORM_GAP;
        if (has_gap)
            continue;
        const unsigned columns =
            is_html ? sheet_html_put(sheet, block) : sheet_terminal_put(sheet, &sheet->screen, block, has_key);
        shown = block->form == FORM_TABLE ? columns : shown;
        has_key = block->form != FORM_COMMAND;
    }
    sheet_finish(sheet);
}
