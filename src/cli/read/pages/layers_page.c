/* A table with the operation and its layers in rows, so that any number of them fits; and sentences. */
#include "layers_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer_page.h"
#include "base.h"
#include "facts_text.h"
#include "figures.h"
#include "json_writer.h"
#include "layers.h"
#include "show.h"

#define LAYER_COLUMNS_MAX 16
#define OPS_SIZE 640
#define JSON_VERSION 1
#define JSON_OPS_SIZE 1024
#define GAP_COLUMNS 2
#define OPS_COLUMNS_MIN 12
#define NOT_SEEN_COLUMNS 140
#define ALONE "(at no other layer)"
#define ASYNC "more below"

/* How many operations and sentences there are in each step of sheet_fit(). Of an operation there are as many lines as
 * layers, and the sentences are what the table means. */
static const struct {
    size_t rows;
    size_t sentences;
} steps[] = {{4, 4}, {3, 3}, {2, 3}, {2, 2}, {1, 2}, {1, 1}, {1, 0}, {0, 0}};

struct putting {
    struct sheet *sheet;
    const struct layers_page *page;
    const struct layers_table *table;
};

static const char *layer_name(const struct putting *it, size_t layer) {
    return layers_name(&it->table->profiles[layer]);
}

/* In sentences and tables. */
static const char *layer_title(const struct putting *it, size_t layer) {
    return layers_title(layer_name(it, layer));
}

/* Owner: the caller frees it. Returns NULL without memory */
static char *shown_layer(const struct putting *it, size_t layer) {
    return screen_cut(&it->sheet->screen, layer_title(it, layer), LAYER_COLUMNS_MAX, SCREEN_BEGINNING);
}

static struct units units_of(const struct putting *it, size_t layer) {
    return (struct units){it->table->profiles[layer].clock.frequency_hz, it->sheet->units.ascii};
}

/* ---- Heading ------------------------------------------------------------------------------------ */

static void put_label(const struct putting *it, const char *key) {
    const char *value = NULL;
    for (size_t i = 0; i < it->table->layer_count && !value; i++)
        value = aggstats_profile_label(&it->table->profiles[i], key);
    if (value && value[0])
        sheet_entry(it->sheet, FORM_ENTRY, key, "%s", value);
}

/* "131 ms in 2,108 calls, 2.69 s elapsed" */
static void put_layer(const struct putting *it, size_t layer) {
    const struct aggstats_profile *profile = &it->table->profiles[layer];
    const struct units units = units_of(it, layer);
    const struct figures_sum sum = figures_sum(profile);
    CLEANUP_FREE char *name = shown_layer(it, layer);
    CLEANUP_STR struct str text = {0};
    str_addf(&text, "%s%s in %s call%s", units_cycles(&units, sum.total_cycles).text,
             layers_has_rate(profile) ? "" : " cycles of unknown rate", units_count(sum.calls).text,
             units_plural(sum.calls));
    if (profile->has_elapsed && layers_has_rate(profile))
        str_addf(&text, ", %s elapsed", units_cycles(&units, (double)profile->elapsed_cycles).text);
    sheet_entry(it->sheet, FORM_ENTRY, name ? name : "", "%s", str_text(&text));
}

/* "108 ms elapsed; user took 3.32 ms in 2,207 calls, fuse 2.73 ms in 29, block none" */
static void put_layers_briefly(const struct putting *it) {
    CLEANUP_STR struct str text = {0};
    for (size_t i = 0; i < it->table->layer_count; i++) {
        const struct aggstats_profile *profile = &it->table->profiles[i];
        const struct units units = units_of(it, i);
        const struct figures_sum sum = figures_sum(profile);
        CLEANUP_FREE char *name = shown_layer(it, i);
        if (i == 0 && profile->has_elapsed)
            str_addf(&text, "%s elapsed; ", screen_firm(units_cycles(&units, (double)profile->elapsed_cycles)).text);
        str_addf(&text, "%s%s ", i > 0 ? ", " : "", name ? name : "");
        if (sum.calls == 0)
            str_add(&text, "none");
        else
            str_addf(&text, "%s%s in %s%s", i == 0 ? "took " : "",
                     screen_firm(units_cycles(&units, sum.total_cycles)).text, units_count(sum.calls).text,
                     i == 0 ? sum.calls == 1 ? " call" : " calls" : "");
    }
    sheet_sentence(it->sheet, 0, "%s", str_text(&text));
}

static const char *const unlike_times[] = {
    [LAYERS_TIMES_LONGER] = "were not taken for equally long: what one has more may be of the time that it has more.",
    [LAYERS_TIMES_APART] = "were taken at different times, so nothing is said of what stays between them.",
};

/* What others did at the disk is the same in all layers of a run. */
static void put_heading(const struct putting *it) {
    const size_t count = it->table->layer_count;
    CLEANUP_STR struct str others = {0};
    if (it->page->lines_max > 0) {
        put_layers_briefly(it);
    } else {
        put_label(it, "host");
        put_label(it, "command");
        for (size_t i = 0; i < count; i++)
            put_layer(it, i);
    }
    for (size_t i = 0; i + 1 < count; i++) {
        const enum layers_times times = layers_compare_times(&it->table->profiles[i], &it->table->profiles[i + 1]);
        CLEANUP_FREE char *first = shown_layer(it, i);
        CLEANUP_FREE char *second = shown_layer(it, i + 1);
        if (times != LAYERS_TIMES_ALIKE && first && second)
            sheet_warning(it->sheet, "%s and %s %s", first, second, unlike_times[times]);
    }
    for (size_t i = 0; i < count; i++) {
        CLEANUP_FREE char *name = shown_layer(it, i);
        if (it->table->profiles[i].incomplete && name)
            sheet_warning(it->sheet, "%s is incomplete: some calls are missing there.", name);
    }
    for (size_t i = 0; i < count; i++) {
        CLEANUP_FREE char *shown = facts_text_not_seen(&it->table->profiles[i], &it->sheet->screen, NOT_SEEN_COLUMNS);
        if (shown)
            sheet_warning(it->sheet, "Not measured at the layer %s: %s", layer_title(it, i), shown);
    }
    for (size_t i = 0; i < count && others.length == 0; i++)
        if (facts_text_add_disk_others(&others, &it->table->profiles[i], &it->sheet->screen))
            sheet_sentence(it->sheet, 0, "%s", str_text(&others));
}

/* ---- Table -------------------------------------------------------------------------------------- */

/* The first numbers have priority over names on the same line. */
static const struct sheet_column columns[] = {
    {"operation", SHEET_GROUP, 4},
    {"layer", SHEET_LINE, 0, .most = GAP_COLUMNS + LAYER_COLUMNS_MAX},
    {"total", SHEET_NUMBER, 1, .gap = 2 * GAP_COLUMNS},
    {"calls", SHEET_NUMBER, 2},
    {"self", SHEET_NUMBER, 3},
    {"share", SHEET_NUMBER, 5},
    {"as", SHEET_LINE, 6, GAP_COLUMNS + OPS_COLUMNS_MIN},
};

/* Shares add up to the whole only if all of them are known. */
static void add_layer(const struct putting *it, const struct layers_row *row, size_t layer) {
    const struct layers_cell *cell = &row->cells[layer];
    const bool has_time = layers_has_rate(&it->table->profiles[layer]) && cell->calls > 0;
    const double whole_ns = row->cells[row->outermost].total_ns;
    const bool has_share =
        layers_known_end(it->table, row) == it->table->layer_count && whole_ns > 0 && cell->calls > 0;
    struct sheet *sheet = it->sheet;
    char ops[OPS_SIZE];
    sheet_add(sheet, row->name);
    sheet_add(sheet, layer_title(it, layer));
    sheet_add_seconds(sheet, has_time ? cell->total_ns / 1e9 : NAN);
    sheet_add_count(sheet, cell->calls);
    if (row->layer_count == 1) {
        sheet_add_note(sheet, ALONE);
        return;
    }
    if (cell->here == LAYERS_HERE_ASYNCHRONOUS)
        sheet_add(sheet, ASYNC);
    else
        sheet_add_seconds(sheet, cell->here == LAYERS_HERE_KNOWN && cell->calls > 0 ? cell->here_ns / 1e9 : NAN);
    sheet_add_share(sheet, has_share ? cell->here_ns / whole_ns : NAN);
    layers_format_ops(it->table, row, layer, false, ops, sizeof(ops));
    sheet_add(sheet, ops);
}

/* Of so many operations, with its legend. */
static void put_table(const struct putting *it, size_t row_count) {
    const size_t left_out = it->table->row_count - row_count;
    bool has_queue = false;
    bool has_block = false;
    bool is_any_asynchronous = false;
    CLEANUP_STR struct str text = {0};
    sheet_gap(it->sheet);
    SHEET_TABLE(it->sheet, columns);
    for (size_t i = 0; i < row_count; i++)
        for (size_t layer = 0; layer < it->table->layer_count; layer++) {
            const struct layers_cell *cell = &it->table->rows[i].cells[layer];
            const enum layer kind = layers_of_name(layer_name(it, layer));
            if (cell->is_there)
                add_layer(it, &it->table->rows[i], layer);
            has_queue |= cell->calls > 0 && kind == LAYER_IS_QUEUE;
            has_block |= cell->calls > 0 && kind == LAYER_IS_BLOCK;
            is_any_asynchronous |= cell->here == LAYERS_HERE_ASYNCHRONOUS;
        }
    if (left_out > 0)
        str_addf(&text, "And %zu more operation%s. ", left_out, units_plural(left_out));
    str_addf(&text, "self: total minus that of the next layer below.%s%s%s",
             has_queue ? " queue: FUSE requests waiting for a worker." : "",
             has_block ? " block: of all programs, and of the kernel." : "",
             is_any_asynchronous ? " " ASYNC ": the next layer took longer, since it works while nobody waits for it."
                                 : "");
    sheet_legend(it->sheet, "%s", str_text(&text));
}

/* The steps in which there are equally many operations have a table. */
static void put_tables(const struct putting *it, size_t row_count) {
    for (unsigned step = 0, end; step < ARRAY_SIZE(steps); step = end) {
        const size_t rows = steps[step].rows < row_count ? steps[step].rows : row_count;
        for (end = step + 1; end < ARRAY_SIZE(steps) && (steps[end].rows >= row_count || steps[end].rows == rows);)
            end++;
        it->sheet->from = step;
        it->sheet->rank = end;
        if (rows > 0)
            put_table(it, rows);
    }
    it->sheet->from = it->sheet->rank = 0;
}

int layers_page_print(const struct layers_page *page, const struct screen *screen) {
    CLEANUP_SHEET struct sheet sheet = sheet_of(screen, 1);
    struct layers_table table;
    const bool is_brief = page->lines_max > 0;
    unsigned ranks[LAYERS_ANSWERS_MAX];
    int error = layers_table_make(page->recording->layers, page->recording->count, &table);
    if (error)
        return error;
    for (unsigned i = 0; i < LAYERS_ANSWERS_MAX; i++)
        for (ranks[i] = 1; steps[ranks[i]].sentences > i;)
            ranks[i]++;
    const struct putting it = {&sheet, page, &table};
    const size_t row_count = page->row_max > 0 && page->row_max < table.row_count ? page->row_max : table.row_count;
    put_heading(&it);
    if (is_brief)
        put_tables(&it, row_count);
    else if (row_count > 0)
        put_table(&it, row_count);
    if (row_count > 0)
        layers_answer_put(&sheet, &table, is_brief ? ranks : NULL);
    if (page->name) {
        sheet_gap(&sheet);
        answer_next_put_layer(&sheet, page->name, layer_name(&it, table.layer_count - 1));
    }
    if (is_brief)
        sheet_fit(&sheet, page->lines_max);
    sheet_print(&sheet);
    layers_table_finish(&table);
    return 0;
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static void write_cell(struct json_writer *writer, const struct layers_table *table, const struct layers_row *row,
                       size_t layer) {
    const struct layers_cell *cell = &row->cells[layer];
    const double answered_share = layers_answered_share(table, row, layer);
    char text[JSON_OPS_SIZE];
    char *rest = text;
    json_begin(writer, NULL, '{');
    json_text(writer, "layer", layers_name(&table->profiles[layer]));
    layers_format_ops(table, row, layer, true, text, sizeof(text));
    json_begin(writer, "ops", '[');
    for (const char *op = strsep(&rest, ", "); op; op = strsep(&rest, ", "))
        if (op[0])
            json_text(writer, NULL, op);
    json_end(writer, ']');
    json_count(writer, "calls", cell->calls);
    if (layers_has_rate(&table->profiles[layer])) {
        json_real(writer, "total_seconds", cell->total_ns / 1e9);
        if (cell->queued_ns > 0)
            json_real(writer, "queued_seconds", cell->queued_ns / 1e9);
        if (cell->here == LAYERS_HERE_KNOWN)
            json_real(writer, "here_seconds", cell->here_ns / 1e9);
    }
    if (cell->here == LAYERS_HERE_ASYNCHRONOUS)
        json_bool(writer, "asynchronous_below", true);
    if (answered_share > 0)
        json_real(writer, "answered_share", answered_share);
    json_end(writer, '}');
}

static int write_table(const struct recording *recording, FILE *stream) {
    struct layers_table table;
    struct json_writer writer = {.stream = stream};
    int error = layers_table_make(recording->layers, recording->count, &table);
    if (error)
        return error;
    json_begin(&writer, NULL, '[');
    for (size_t i = 0; i < table.row_count; i++) {
        const struct layers_row *row = &table.rows[i];
        json_begin(&writer, NULL, '{');
        json_text(&writer, "name", row->name);
        json_begin(&writer, "layers", '[');
        for (size_t layer = 0; layer < table.layer_count; layer++)
            if (row->cells[layer].is_there)
                write_cell(&writer, &table, row, layer);
        json_end(&writer, ']');
        json_end(&writer, '}');
    }
    json_end(&writer, ']');
    layers_table_finish(&table);
    return 0;
}

/* Each layer is an object as written by itself. */
int layers_page_write_json(const struct recording *recording, FILE *stream) {
    int error = 0;
    fprintf(stream, "{\n\"version\": %d,\n\"layers\": [\n", JSON_VERSION);
    for (size_t i = 0; i < recording->count && error == 0; i++) {
        fputs(i > 0 ? ",\n" : "", stream);
        error = advice_json_write(&recording->layers[i], stream);
    }
    fputs("],\n\"table\": ", stream);
    if (error == 0)
        error = write_table(recording, stream);
    fputs("}\n", stream);
    errno = 0;
    if (error == 0 && (fflush(stream) != 0 || ferror(stream)))
        error = errno ? negative_errno() : -EIO;
    return error;
}
