/* A table with the operation and its layers in rows, so that any number of them fits; and sentences. */
#include "layers_page.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer_page.h"
#include "base.h"
#include "disk_others.h"
#include "facts_text.h"
#include "figures.h"
#include "layers.h"
#include "sheet.h"
#include "units.h"

#define LAYER_COLUMNS_MAX 16
#define TEXT_SIZE 640
#define GAP_COLUMNS 2
#define OPS_COLUMNS_MIN 12
#define NOT_SEEN_COLUMNS 140
#define ALONE "(at no other layer)"
#define ASYNC "more below"

struct printer {
    const struct layers_page *page;
    const struct layers_table *table;
    const struct screen *screen;
    struct units units;
    size_t row_count; /* of the table, that are printed */
    size_t sentence_max;
};

/* ---- Texts -------------------------------------------------------------------------------------- */

static const char *layer_name(const struct printer *it, size_t layer) {
    return layers_name(&it->table->profiles[layer]);
}

/* Owner: the caller frees it. Returns NULL without memory */
static char *shown_layer(const struct printer *it, size_t layer) {
    return screen_cut(it->screen, layer_name(it, layer), LAYER_COLUMNS_MAX, SCREEN_BEGINNING);
}

/* ---- Heading ------------------------------------------------------------------------------------ */

static void print_label(const struct printer *it, const char *key) {
    const char *value = NULL;
    for (size_t i = 0; i < it->table->layer_count && !value; i++)
        value = aggstats_profile_label(&it->table->profiles[i], key);
    if (!value || !value[0])
        return;
    screen_print_entry(it->screen, key, value);
}

/* "131 ms in 2,108 calls, 2.69 s elapsed" */
static void print_layer(const struct printer *it, size_t layer) {
    const struct aggstats_profile *profile = &it->table->profiles[layer];
    const struct units units = {.frequency_hz = profile->clock.frequency_hz, .ascii = it->screen->ascii};
    const struct figures_sum sum = figures_sum(profile);
    char text[160];
    int length = snprintf(text, sizeof(text), "%s%s in %s call%s", units_cycles(&units, sum.total_cycles).text,
                          layers_has_rate(profile) ? "" : " cycles of unknown rate", units_count(sum.calls).text,
                          units_plural(sum.calls));
    if (profile->has_elapsed && layers_has_rate(profile) && length > 0)
        snprintf(text + length, sizeof(text) - (size_t)length, ", %s elapsed",
                 units_cycles(&units, (double)profile->elapsed_cycles).text);
    CLEANUP_FREE char *name = shown_layer(it, layer);
    screen_print_entry(it->screen, name ? name : "", text);
}

static void warn_of_times(const struct printer *it, size_t a, size_t b) {
    static const char *const texts[] = {
        [LAYERS_TIMES_LONGER] =
            "were not taken for equally long: what one has more may be of the time that it has more.",
        [LAYERS_TIMES_APART] = "were taken at different times, so nothing is said of what stays between them.",
    };
    const enum layers_times times = layers_compare_times(&it->table->profiles[a], &it->table->profiles[b]);
    CLEANUP_FREE char *first = shown_layer(it, a);
    CLEANUP_FREE char *second = shown_layer(it, b);
    char text[TEXT_SIZE];
    if (times == LAYERS_TIMES_ALIKE || !first || !second)
        return;
    snprintf(text, sizeof(text), "%s and %s %s", first, second, texts[times]);
    screen_print_in_ink(it->screen, INK_WARNING, text);
}

static void warn_of_incomplete(const struct printer *it, size_t layer) {
    CLEANUP_FREE char *name = shown_layer(it, layer);
    char text[TEXT_SIZE];
    if (!it->table->profiles[layer].incomplete || !name)
        return;
    snprintf(text, sizeof(text), "%s is incomplete: some calls are missing there.", name);
    screen_print_in_ink(it->screen, INK_WARNING, text);
}

static void warn_of_not_seen(const struct printer *it, size_t layer) {
    CLEANUP_FREE char *shown = facts_text_not_seen(&it->table->profiles[layer], it->screen, NOT_SEEN_COLUMNS);
    CLEANUP_FREE char *text = NULL;
    if (shown && asprintf(&text, "Not seen at the layer %s: %s", layer_name(it, layer), shown) >= 0)
        screen_print_in_ink(it->screen, INK_WARNING, text);
}

/* All layers of a run have the same. */
static void tell_of_others(const struct printer *it) {
    CLEANUP_STR struct str text = {0};
    for (size_t i = 0; i < it->table->layer_count; i++)
        if (disk_others_add(&text, &it->table->profiles[i], it->screen)) {
            screen_print_sentence(it->screen, 0, str_text(&text));
            return;
        }
}

/* "108 ms elapsed; user took 3.32 ms in 2,207 calls, fuse 2.73 ms in 29, block none" */
static void print_layers_briefly(const struct printer *it) {
    CLEANUP_STR struct str text = {0};
    for (size_t i = 0; i < it->table->layer_count; i++) {
        const struct aggstats_profile *profile = &it->table->profiles[i];
        const struct units units = {.frequency_hz = profile->clock.frequency_hz, .ascii = it->screen->ascii};
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
    screen_print_sentence(it->screen, 0, str_text(&text));
}

static void print_heading(const struct printer *it) {
    const bool is_brief = it->page->lines_max > 0;
    if (is_brief) {
        print_layers_briefly(it);
    } else {
        print_label(it, "host");
        print_label(it, "command");
    }
    for (size_t i = 0; i < it->table->layer_count && !is_brief; i++)
        print_layer(it, i);
    for (size_t i = 0; i + 1 < it->table->layer_count; i++)
        warn_of_times(it, i, i + 1);
    for (size_t i = 0; i < it->table->layer_count; i++)
        warn_of_incomplete(it, i);
    for (size_t i = 0; i < it->table->layer_count; i++)
        warn_of_not_seen(it, i);
    tell_of_others(it);
}

/* ---- Table -------------------------------------------------------------------------------------- */

/* The first numbers have priority over names on the same line. */
static const struct sheet_column columns[] = {
    {"operation", SHEET_GROUP, 4},
    {"layer", SHEET_LINE, 0, .most = GAP_COLUMNS + LAYER_COLUMNS_MAX},
    {"total", SHEET_NUMBER, 1, .gap = 2 * GAP_COLUMNS},
    {"calls", SHEET_NUMBER, 2},
    {"own", SHEET_NUMBER, 3},
    {"share", SHEET_NUMBER, 5},
    {"as", SHEET_LINE, 6, GAP_COLUMNS + OPS_COLUMNS_MIN},
};

/* The parts add up to the whole only if all are known. NAN: not known */
static double share_here(const struct printer *it, const struct layers_row *row, const struct layers_cell *cell) {
    double whole_ns = row->cells[row->outermost].total_ns;
    bool is_known = row->layer_count > 1 && layers_known_end(it->table, row) == it->table->layer_count;
    return is_known && whole_ns > 0 && cell->calls > 0 ? cell->here_ns / whole_ns : NAN;
}

static void add_layer(const struct printer *it, struct sheet_table *table, const struct layers_row *row, size_t layer) {
    const struct layers_cell *cell = &row->cells[layer];
    const bool has_time = layers_has_rate(&it->table->profiles[layer]) && cell->calls > 0;
    char ops[TEXT_SIZE];
    sheet_add(table, row->name);
    sheet_add(table, layer_name(it, layer));
    sheet_add_seconds(table, has_time ? cell->total_ns / 1e9 : NAN);
    sheet_add_count(table, cell->calls);
    if (row->layer_count == 1) {
        sheet_add_note(table, ALONE);
        return;
    }
    if (cell->here == LAYERS_HERE_ASYNCHRONOUS)
        sheet_add(table, ASYNC);
    else
        sheet_add_seconds(table, cell->here == LAYERS_HERE_KNOWN && cell->calls > 0 ? cell->here_ns / 1e9 : NAN);
    sheet_add_share(table, share_here(it, row, cell));
    layers_format_ops(it->table, row, layer, false, ops, sizeof(ops));
    sheet_add(table, ops);
}

/* ---- The table and what explains it ---- */

static bool is_any_asynchronous(const struct printer *it) {
    for (size_t i = 0; i < it->row_count; i++)
        for (size_t layer = 0; layer < it->table->layer_count; layer++)
            if (it->table->rows[i].cells[layer].here == LAYERS_HERE_ASYNCHRONOUS)
                return true;
    return false;
}

/* True if a row that is printed has calls at that layer, too. */
static bool has_layer(const struct printer *it, enum layer wanted) {
    for (size_t i = 0; i < it->row_count; i++)
        for (size_t layer = 0; layer < it->table->layer_count; layer++)
            if (it->table->rows[i].cells[layer].calls > 0 && layers_of_name(layer_name(it, layer)) == wanted)
                return true;
    return false;
}

static void print_legend(const struct printer *it) {
    char text[TEXT_SIZE];
    char others[64] = "";
    size_t left_out = it->table->row_count - it->row_count;
    if (left_out > 0)
        snprintf(others, sizeof(others), "And %zu more operation%s. ", left_out, units_plural(left_out));
    snprintf(text, sizeof(text), "%sown: what the next layer below does not have.%s%s%s", others,
             has_layer(it, LAYER_IS_QUEUE) ? " queue: requests of fuse waiting for a worker." : "",
             has_layer(it, LAYER_IS_BLOCK) ? " block: of all programs, and of the kernel." : "",
             is_any_asynchronous(it) ? " " ASYNC
                                       ": the next layer took longer, since it works while nobody waits for it."
                                     : "");
    screen_print_in_ink(it->screen, INK_FAINT, text);
}

static void print_table(const struct printer *it) {
    CLEANUP_SHEET struct sheet_table table = SHEET_TABLE(columns, &it->units);
    for (size_t i = 0; i < it->row_count; i++)
        for (size_t layer = 0; layer < it->table->layer_count; layer++)
            if (it->table->rows[i].cells[layer].is_there)
                add_layer(it, &table, &it->table->rows[i], layer);
    screen_print_gap(it->screen);
    sheet_print(&table, it->screen);
    print_legend(it);
}

static void print_all(const struct printer *it) {
    print_heading(it);
    if (it->row_count > 0)
        print_table(it);
    if (it->row_count > 0 && it->sentence_max > 0)
        layers_answer_print(it->table, it->sentence_max, it->page->lines_max > 0, it->screen);
    if (!it->page->name)
        return;
    putc('\n', it->screen->stream);
    answer_next_print_layer(it->page->name, layer_name(it, it->table->layer_count - 1), it->screen);
}

static void print_all_on(const void *context, const struct screen *screen) {
    struct printer it = *(const struct printer *)context;
    it.screen = screen;
    print_all(&it);
}

/* Of an operation in the table there are as many lines as layers, and the sentences are what the table means. */
static void fit_lines(struct printer *it) {
    static const struct {
        size_t rows;
        size_t sentences;
    } sizes[] = {{4, 4}, {3, 3}, {2, 3}, {2, 2}, {1, 2}, {1, 1}, {1, 0}, {0, 0}};
    const size_t row_count = it->row_count;
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        it->row_count = sizes[i].rows < row_count ? sizes[i].rows : row_count;
        it->sentence_max = sizes[i].sentences;
        if (screen_count_lines(it->screen, print_all_on, it) <= it->page->lines_max)
            return;
    }
}

int layers_page_print(const struct layers_page *page, const struct screen *screen) {
    struct layers_table table;
    int error = layers_table_make(page->recording->layers, page->recording->count, &table);
    if (error)
        return error;
    struct printer it = {
        .page = page, .table = &table, .screen = screen, .row_count = table.row_count, .sentence_max = SIZE_MAX};
    it.units = (struct units){.frequency_hz = 1, .ascii = screen->ascii};
    if (page->row_max > 0 && page->row_max < it.row_count)
        it.row_count = page->row_max;
    if (page->lines_max > 0)
        fit_lines(&it);
    print_all(&it);
    layers_table_finish(&table);
    return 0;
}
