/* A table with the operation and its layers in rows, so that any number of them fits; and sentences. */
#include "layers_page.h"

#include <stdlib.h>
#include <string.h>

#include "answer_next.h"
#include "base.h"
#include "figures.h"
#include "layers.h"
#include "units.h"

#define LAYER_COLUMNS_MAX 16
#define TEXT_SIZE 640
#define GAP_COLUMNS 2
#define OPS_COLUMNS_MIN 12
#define NUMBERS_WANTED 3
#define NUMBERS_OF_ONE 2 /* for a layer alone */
#define ALONE "(no counterpart)"

struct printer {
    const struct layers_page *page;
    const struct layers_table *table;
    const struct screen *screen;
    struct units units;
    size_t row_count; /* of the table, that are printed */
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
    screen_print_key(it->screen, key);
    screen_print_wrapped(it->screen, 10, 10, value);
}

/* "131 ms in 2,108 calls, 2.69 s elapsed" */
static void print_layer(const struct printer *it, size_t layer) {
    const struct aggstats_profile *profile = &it->table->profiles[layer];
    const struct units units = {.frequency_hz = profile->clock.frequency_hz, .ascii = it->screen->ascii};
    const struct figures_sum sum = figures_sum(profile);
    char total[UNITS_TEXT_SIZE];
    char calls[UNITS_TEXT_SIZE];
    char elapsed[UNITS_TEXT_SIZE];
    char text[160];
    units_format_cycles(&units, sum.total_cycles, total);
    units_format_count(sum.calls, calls);
    units_format_cycles(&units, (double)profile->elapsed_cycles, elapsed);
    int length = snprintf(text, sizeof(text), "%s%s in %s call%s", total,
                          layers_has_rate(profile) ? "" : " cycles of unknown rate", calls, units_plural(sum.calls));
    if (profile->has_elapsed && layers_has_rate(profile) && length > 0)
        snprintf(text + length, sizeof(text) - (size_t)length, ", %s elapsed", elapsed);
    CLEANUP_FREE char *name = shown_layer(it, layer);
    int columns = name ? units_text_columns(name) + 1 : 0;
    screen_print_key(it->screen, name ? name : "");
    screen_print_wrapped(it->screen, columns < 10 ? 10 : columns, 10, text);
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
    screen_ink(it->screen, INK_WARNING);
    screen_print_sentence(it->screen, 0, text);
    screen_ink(it->screen, INK_PLAIN);
}

static void warn_of_incomplete(const struct printer *it, size_t layer) {
    CLEANUP_FREE char *name = shown_layer(it, layer);
    char text[TEXT_SIZE];
    if (!it->table->profiles[layer].incomplete || !name)
        return;
    snprintf(text, sizeof(text), "%s is incomplete: some calls are missing there.", name);
    screen_ink(it->screen, INK_WARNING);
    screen_print_sentence(it->screen, 0, text);
    screen_ink(it->screen, INK_PLAIN);
}

static void print_heading(const struct printer *it) {
    print_label(it, "host");
    print_label(it, "command");
    for (size_t i = 0; i < it->table->layer_count; i++)
        print_layer(it, i);
    for (size_t i = 0; i + 1 < it->table->layer_count; i++)
        warn_of_times(it, i, i + 1);
    for (size_t i = 0; i < it->table->layer_count; i++)
        warn_of_incomplete(it, i);
}

/* ---- Table -------------------------------------------------------------------------------------- */

typedef void (*format_fn)(const struct printer *it, const struct layers_row *row, size_t layer,
                          char ret_text[UNITS_TEXT_SIZE]);

static void format_total(const struct printer *it, const struct layers_row *row, size_t layer,
                         char ret_text[UNITS_TEXT_SIZE]) {
    if (layers_has_rate(&it->table->profiles[layer]) && row->cells[layer].calls > 0)
        format_ns(it, row->cells[layer].total_ns, ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "-");
}

static void format_calls(const struct printer *it, const struct layers_row *row, size_t layer,
                         char ret_text[UNITS_TEXT_SIZE]) {
    (void)it;
    units_format_count(row->cells[layer].calls, ret_text);
}

static void format_here(const struct printer *it, const struct layers_row *row, size_t layer,
                        char ret_text[UNITS_TEXT_SIZE]) {
    const struct layers_cell *cell = &row->cells[layer];
    if (cell->here == LAYERS_HERE_ASYNCHRONOUS)
        snprintf(ret_text, UNITS_TEXT_SIZE, "async");
    else if (cell->here == LAYERS_HERE_KNOWN && cell->calls > 0 && row->layer_count > 1)
        format_ns(it, cell->here_ns, ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "-");
}

/* The parts add up to the whole only if all are known. */
static void format_share(const struct printer *it, const struct layers_row *row, size_t layer,
                         char ret_text[UNITS_TEXT_SIZE]) {
    double whole_ns = row->cells[row->outermost].total_ns;
    bool is_known = row->layer_count > 1 && layers_known_end(it->table, row) == it->table->layer_count;
    if (is_known && whole_ns > 0 && row->cells[layer].calls > 0)
        units_format_share(row->cells[layer].here_ns / whole_ns, ret_text);
    else
        snprintf(ret_text, UNITS_TEXT_SIZE, "-");
}

/* The last ones are left out first if there is no room. */
static const struct {
    const char *title;
    format_fn format;
} numbers[] = {{"total", format_total}, {"calls", format_calls}, {"here", format_here}, {"share", format_share}};

struct widths {
    int name;                         /* 0: names are on lines of their own */
    int layer;                        /* a gap follows these and the names before them, and precedes numbers */
    int numbers[ARRAY_SIZE(numbers)]; /* 0: left out */
    int ops;                          /* 0: left out */
};

static void widen(int *width, const char *text) {
    int columns = units_text_columns(text) + GAP_COLUMNS;
    *width = columns > *width ? columns : *width;
}

static void measure_row(const struct printer *it, const struct layers_row *row, struct widths *widths) {
    widen(&widths->name, row->name);
    for (size_t layer = 0; layer < it->table->layer_count; layer++) {
        for (size_t i = 0; row->cells[layer].is_there && i < ARRAY_SIZE(numbers); i++) {
            char text[UNITS_TEXT_SIZE];
            numbers[i].format(it, row, layer, text);
            widen(&widths->numbers[i], text);
        }
    }
}

static void measure_layers(const struct printer *it, struct widths *widths) {
    widen(&widths->layer, "layer");
    for (size_t layer = 0; layer < it->table->layer_count; layer++) {
        CLEANUP_FREE char *name = shown_layer(it, layer);
        if (name)
            widen(&widths->layer, name);
    }
}

/* The first numbers have priority over names on the same line. */
static void fit(const struct printer *it, struct widths *widths) {
    int wanted = widths->name + widths->layer;
    for (size_t i = 0; i < NUMBERS_WANTED; i++)
        wanted += widths->numbers[i];
    if (wanted > it->screen->width)
        widths->name = 0;
    int left = it->screen->width - (widths->name > 0 ? widths->name : GAP_COLUMNS) - widths->layer;
    bool is_full = false;
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
        is_full = is_full || widths->numbers[i] > left;
        widths->numbers[i] = is_full ? 0 : widths->numbers[i];
        left -= widths->numbers[i];
    }
    widths->ops = !is_full && left >= OPS_COLUMNS_MIN + GAP_COLUMNS ? left - GAP_COLUMNS : 0;
}

static struct widths widths_of(const struct printer *it) {
    struct widths widths = {.name = 0};
    widen(&widths.name, "operation");
    measure_layers(it, &widths);
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        widen(&widths.numbers[i], numbers[i].title);
    for (size_t i = 0; i < it->row_count; i++)
        measure_row(it, &it->table->rows[i], &widths);
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
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        if (widths->numbers[i] > 0)
            screen_print_right(it->screen, INK_FAINT, numbers[i].title, widths->numbers[i]);
    if (widths->ops > 0)
        print_padded(it, INK_FAINT, "  as", 0);
    putc('\n', it->screen->stream);
}

static void print_ops(const struct printer *it, const struct layers_row *row, size_t layer, int columns) {
    char ops[TEXT_SIZE];
    layers_format_ops(it->table, row, layer, ops, sizeof(ops));
    CLEANUP_FREE char *shown = screen_cut(it->screen, ops, columns, SCREEN_BEGINNING);
    if (shown && shown[0] && columns > 0)
        fprintf(it->screen->stream, "%*s%s", GAP_COLUMNS, "", shown);
}

/* Replaces the comparison with other layers. */
static void print_alone(const struct printer *it, const struct widths *widths) {
    int room = widths->ops > 0 ? GAP_COLUMNS + widths->ops : 0;
    for (size_t i = NUMBERS_OF_ONE; i < ARRAY_SIZE(numbers); i++)
        room += widths->numbers[i];
    if (widths->name > 0 && room >= GAP_COLUMNS + (int)strlen(ALONE))
        fprintf(it->screen->stream, "%*s" ALONE, GAP_COLUMNS, "");
}

static void print_cell(const struct printer *it, const struct layers_row *row, size_t layer,
                       const struct widths *widths) {
    const size_t number_count = row->layer_count > 1 ? ARRAY_SIZE(numbers) : NUMBERS_OF_ONE;
    CLEANUP_FREE char *name = shown_layer(it, layer);
    print_padded(it, INK_PLAIN, name ? name : "", widths->layer);
    for (size_t i = 0; i < number_count; i++) {
        char text[UNITS_TEXT_SIZE];
        if (widths->numbers[i] == 0)
            continue;
        numbers[i].format(it, row, layer, text);
        screen_print_right(it->screen, INK_PLAIN, text, widths->numbers[i]);
    }
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

static bool is_any_asynchronous(const struct printer *it) {
    for (size_t i = 0; i < it->row_count; i++)
        for (size_t layer = 0; layer < it->table->layer_count; layer++)
            if (it->table->rows[i].cells[layer].here == LAYERS_HERE_ASYNCHRONOUS)
                return true;
    return false;
}

static bool has_queue(const struct printer *it) {
    for (size_t layer = 0; layer < it->table->layer_count; layer++)
        if (layers_of_name(layer_name(it, layer)) == LAYER_IS_QUEUE)
            return true;
    return false;
}

static void print_legend(const struct printer *it) {
    char text[TEXT_SIZE];
    size_t left_out = it->table->row_count - it->row_count;
    screen_ink(it->screen, INK_FAINT);
    if (left_out > 0) {
        snprintf(text, sizeof(text), "And %zu operation%s that took less.", left_out, units_plural(left_out));
        screen_print_sentence(it->screen, 0, text);
    }
    snprintf(text, sizeof(text), "here: what the next layer below does not have.%s%s",
             has_queue(it) ? " queue: of fuse, requests that waited for a worker that was at another." : "",
             is_any_asynchronous(it) ? " async: that one has more, since it works while nobody waits for it." : "");
    screen_print_sentence(it->screen, 0, text);
    screen_ink(it->screen, INK_PLAIN);
}

static void print_table(const struct printer *it) {
    const struct widths widths = widths_of(it);
    print_titles(it, &widths);
    for (size_t i = 0; i < it->row_count; i++)
        print_row(it, &it->table->rows[i], &widths);
    print_legend(it);
}

int layers_page_print(const struct layers_page *page, const struct screen *screen) {
    struct layers_table table;
    int error = layers_table_make(page->recording->layers, page->recording->count, &table);
    if (error)
        return error;
    struct printer it = {.page = page, .table = &table, .screen = screen, .row_count = table.row_count};
    it.units = (struct units){.frequency_hz = 1, .ascii = screen->ascii};
    if (page->row_max > 0 && page->row_max < it.row_count)
        it.row_count = page->row_max;
    print_heading(&it);
    if (it.row_count > 0) {
        print_table(&it);
        layers_answer_print(&table, screen);
    }
    if (page->name) {
        putc('\n', screen->stream);
        answer_next_print_layer(page->name, layer_name(&it, table.layer_count - 1), screen);
    }
    layers_table_finish(&table);
    return 0;
}
