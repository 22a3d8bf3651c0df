/* A table with the operation and its layers in rows, so that any number of them fits; and sentences. */
#include "layers_page.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer_page.h"
#include "base.h"
#include "columns.h"
#include "disk_others.h"
#include "facts_text.h"
#include "figures.h"
#include "html.h"
#include "layers.h"
#include "units.h"

#define LAYER_COLUMNS_MAX 16
#define TEXT_SIZE 640
#define GAP_COLUMNS 2
#define OPS_COLUMNS_MIN 12
#define NOT_SEEN_COLUMNS 140
#define NUMBERS_WANTED 3
#define NUMBERS_OF_ONE 2 /* for a layer alone */
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

static void format_ns(const struct printer *it, double ns, char ret_text[UNITS_TEXT_SIZE]) {
    units_format_seconds(&it->units, ns / 1e9, ret_text);
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

enum number { NUMBER_TOTAL, NUMBER_CALLS, NUMBER_HERE, NUMBER_SHARE, NUMBERS };

/* The last ones are left out first if there is no room. */
static const struct columns_column numbers[NUMBERS] = {{"total", 7}, {"calls", 7}, {"own", 6}, {"share", 7}};

/* The parts add up to the whole only if all are known. NAN: not known */
static double share_here(const struct printer *it, const struct layers_row *row, const struct layers_cell *cell) {
    double whole_ns = row->cells[row->outermost].total_ns;
    bool is_known = row->layer_count > 1 && layers_known_end(it->table, row) == it->table->layer_count;
    return is_known && whole_ns > 0 && cell->calls > 0 ? cell->here_ns / whole_ns : NAN;
}

/* The rows are the layers of an operation, then those of the next. */
static void format_number(const void *context, size_t index, unsigned number, char ret_text[COLUMNS_CELL_SIZE]) {
    const struct printer *it = context;
    const size_t layer = index % it->table->layer_count;
    const struct layers_row *row = &it->table->rows[index / it->table->layer_count];
    const struct layers_cell *cell = &row->cells[layer];
    snprintf(ret_text, COLUMNS_CELL_SIZE, "%s", cell->is_there ? "-" : "");
    if (!cell->is_there)
        return;
    if (number == NUMBER_CALLS)
        units_format_count(cell->calls, ret_text);
    else if (number == NUMBER_TOTAL && layers_has_rate(&it->table->profiles[layer]) && cell->calls > 0)
        format_ns(it, cell->total_ns, ret_text);
    else if (number == NUMBER_HERE && cell->here == LAYERS_HERE_ASYNCHRONOUS)
        snprintf(ret_text, COLUMNS_CELL_SIZE, ASYNC);
    else if (number == NUMBER_HERE && cell->here == LAYERS_HERE_KNOWN && cell->calls > 0 && row->layer_count > 1)
        format_ns(it, cell->here_ns, ret_text);
    else if (number == NUMBER_SHARE && !isnan(share_here(it, row, cell)))
        units_format_share(share_here(it, row, cell), ret_text);
}

struct widths {
    int name;                     /* 0: names are on lines of their own */
    int layer;                    /* a gap follows these and the names before them, and precedes numbers */
    struct columns_table numbers; /* columns without room have no width */
    int ops;                      /* 0: left out */
};

static void widen(int *width, const char *text) {
    int columns = units_text_columns(text) + GAP_COLUMNS;
    *width = columns > *width ? columns : *width;
}

/* The first numbers have priority over names on the same line. */
static void fit(const struct printer *it, struct widths *widths) {
    int wanted = widths->name + widths->layer;
    columns_fit(&widths->numbers, INT_MAX);
    for (size_t i = 0; i < NUMBERS_WANTED; i++)
        wanted += widths->numbers.widths[i];
    if (wanted > it->screen->width)
        widths->name = 0;
    int left = it->screen->width - (widths->name > 0 ? widths->name : GAP_COLUMNS) - widths->layer;
    left = columns_fit(&widths->numbers, left);
    bool is_whole = widths->numbers.widths[NUMBERS - 1] > 0;
    widths->ops = is_whole && left >= OPS_COLUMNS_MIN + GAP_COLUMNS ? left - GAP_COLUMNS : 0;
}

static struct widths widths_of(const struct printer *it) {
    struct widths widths = {.numbers = {.screen = it->screen,
                                        .columns = numbers,
                                        .column_count = NUMBERS,
                                        .gap = GAP_COLUMNS,
                                        .row_count = it->row_count * it->table->layer_count,
                                        .page = it,
                                        .format = format_number}};
    widen(&widths.name, "operation");
    widen(&widths.layer, "layer");
    for (size_t i = 0; i < it->row_count; i++)
        widen(&widths.name, it->table->rows[i].name);
    for (size_t layer = 0; layer < it->table->layer_count; layer++) {
        CLEANUP_FREE char *name = shown_layer(it, layer);
        if (name)
            widen(&widths.layer, name);
    }
    fit(it, &widths);
    return widths;
}

static void print_padded(const struct printer *it, enum ink ink, const char *text, int columns) {
    int padding = columns - units_text_columns(text);
    screen_print(it->screen, ink, text);
    fprintf(it->screen->stream, "%*s", padding > 0 ? padding : 0, "");
}

static void print_titles(const struct printer *it, const struct widths *widths) {
    fputs("\n", it->screen->stream);
    print_padded(it, INK_FAINT, widths->name > 0 ? "operation" : "", widths->name > 0 ? widths->name : GAP_COLUMNS);
    print_padded(it, INK_FAINT, "layer", widths->layer);
    columns_print_cell_titles(&widths->numbers);
    if (widths->ops > 0)
        print_padded(it, INK_FAINT, "  as", 0);
    putc('\n', it->screen->stream);
}

static void print_ops(const struct printer *it, const struct layers_row *row, size_t layer, int columns) {
    char ops[TEXT_SIZE];
    layers_format_ops(it->table, row, layer, false, ops, sizeof(ops));
    CLEANUP_FREE char *shown = screen_cut(it->screen, ops, columns, SCREEN_BEGINNING);
    if (shown && shown[0] && columns > 0)
        fprintf(it->screen->stream, "%*s%s", GAP_COLUMNS, "", shown);
}

/* Replaces the comparison with other layers. */
static void print_alone(const struct printer *it, const struct widths *widths) {
    int room = widths->ops > 0 ? GAP_COLUMNS + widths->ops : 0;
    for (size_t i = NUMBERS_OF_ONE; i < NUMBERS; i++)
        room += widths->numbers.widths[i];
    if (widths->name > 0 && room >= GAP_COLUMNS + (int)strlen(ALONE))
        fprintf(it->screen->stream, "%*s" ALONE, GAP_COLUMNS, "");
}

static void print_cell(const struct printer *it, const struct layers_row *row, size_t layer,
                       const struct widths *widths) {
    const size_t index = (size_t)(row - it->table->rows) * it->table->layer_count + layer;
    CLEANUP_FREE char *name = shown_layer(it, layer);
    print_padded(it, INK_PLAIN, name ? name : "", widths->layer);
    columns_print_cells(&widths->numbers, index, row->layer_count > 1 ? NUMBERS : NUMBERS_OF_ONE);
    if (row->layer_count > 1)
        print_ops(it, row, layer, widths->ops);
    else
        print_alone(it, widths);
    putc('\n', it->screen->stream);
}

static void print_row(const struct printer *it, const struct layers_row *row, const struct widths *widths) {
    if (widths->name == 0) {
        screen_print(it->screen, INK_STRONG, row->name);
        fputs(row->layer_count > 1 ? "\n" : " " ALONE "\n", it->screen->stream);
    }
    bool has_name = widths->name == 0;
    for (size_t layer = 0; layer < it->table->layer_count; layer++) {
        if (!row->cells[layer].is_there)
            continue;
        print_padded(it, INK_STRONG, has_name ? "" : row->name, widths->name > 0 ? widths->name : GAP_COLUMNS);
        print_cell(it, row, layer, widths);
        has_name = true;
    }
}

/* ---- In HTML ---- */

static void put_titles(const struct printer *it, const struct widths *widths) {
    html_begin_row(it->screen->stream);
    html_put_cell(it->screen->stream, HTML_TITLE, "operation");
    html_put_cell(it->screen->stream, HTML_TITLE, "layer");
    columns_put_cell_titles(&widths->numbers);
    html_put_cell(it->screen->stream, HTML_TITLE, "as");
    html_end_row(it->screen->stream);
}

static void put_row(const struct printer *it, const struct layers_row *row, const struct widths *widths) {
    FILE *stream = it->screen->stream;
    for (size_t layer = 0; layer < it->table->layer_count; layer++) {
        char ops[TEXT_SIZE] = ALONE;
        if (!row->cells[layer].is_there)
            continue;
        if (row->layer_count > 1)
            layers_format_ops(it->table, row, layer, false, ops, sizeof(ops));
        html_begin_row(stream);
        html_put_cell(stream, HTML_NAME, row->name);
        html_put_cell(stream, HTML_TEXT, layer_name(it, layer));
        columns_put_cells(&widths->numbers, (size_t)(row - it->table->rows) * it->table->layer_count + layer);
        html_put_cell(stream, HTML_TEXT, ops);
        html_end_row(stream);
    }
}

static void put_table(const struct printer *it, const struct widths *widths) {
    html_begin_table(it->screen->stream);
    put_titles(it, widths);
    for (size_t i = 0; i < it->row_count; i++)
        put_row(it, &it->table->rows[i], widths);
    html_end_table(it->screen->stream);
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

static void print_rows(const struct printer *it, const struct widths *widths) {
    print_titles(it, widths);
    for (size_t i = 0; i < it->row_count; i++)
        print_row(it, &it->table->rows[i], widths);
}

static void print_table(const struct printer *it) {
    const struct widths widths = widths_of(it);
    if (it->screen->html)
        put_table(it, &widths);
    else
        print_rows(it, &widths);
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
