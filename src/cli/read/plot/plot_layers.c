/* The layers of a recording: for each operation the histograms of all layers that have it, one below the other. All
 * share one axis of latency and one of calls, so that what moved, or vanished, between two layers can be seen. */
#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "layers.h"
#include "plot_axis.h"
#include "plot_page.h"
#include "units.h"

#define SHARE_MIN 0.01 /* of the time of the most expensive operation */

enum {
    WIDTH = 1000,
    LEFT = 80,
    RIGHT = 24,
    TOP = 22,
    BOTTOM_AXIS = 58, /* for the latencies */
    CAPTION = 20,     /* above each panel */
    GAP = 16,         /* between operations */
    BARS = 56,
    BARS_MIN = 12,
    LAYER_LEFT = 190, /* of its name in the caption */
    PIXELS_PER_LABEL = 15,
};

/* A histogram: an operation at a layer. */
struct panel {
    const struct layers_row *row;
    size_t layer;
    bool is_first; /* of its operation */
    wide_count *buckets;
};

struct figure {
    const struct plot *plot;
    const struct layers_table *table;
    struct plot_page page;
    struct plot_axis time;
    struct plot_axis weight;
    struct panel *panels;
    size_t panel_count;
    size_t row_count;
    int bars; /* pixels */
};

/* ---- Panels ------------------------------------------------------------------------------------- */

static const struct aggstats_profile *profile_of(const struct figure *it, const struct panel *panel) {
    return &it->table->profiles[panel->layer];
}

static unsigned bucket_count(const struct figure *it, const struct panel *panel) {
    return 64 * profile_of(it, panel)->resolution;
}

/* A panel for each layer that has calls of the row. Calls in the queue of a disk are the same requests once more. */
static int add_row(struct figure *it, const struct layers_row *row) {
    const size_t before = it->panel_count;
    for (size_t at = 0; at < it->table->layer_count; at++) {
        const struct aggstats_profile *profile = &it->table->profiles[at];
        const enum layer layer = layers_of_name(layers_name(profile));
        struct panel panel = {.row = row, .layer = at, .is_first = it->panel_count == before};
        if (!row->cells[at].is_there || row->cells[at].calls == 0)
            continue;
        panel.buckets = calloc(bucket_count(it, &panel), sizeof(*panel.buckets));
        if (!panel.buckets)
            return -ENOMEM;
        it->panels[it->panel_count++] = panel;
        for (size_t i = 0; i < profile->op_count; i++) {
            const struct aggstats_op_profile *op = &profile->ops[i];
            if (layers_relate(layer, op->name) != row->relation || layers_is_queued(layer, op->name))
                continue;
            for (unsigned bucket = 0; bucket < bucket_count(it, &panel); bucket++)
                panel.buckets[bucket] += op->buckets[bucket];
        }
    }
    it->row_count += it->panel_count > before;
    return 0;
}

/* The chosen rows; without a choice the expensive rows that several layers have. */
static int add_rows(struct figure *it, const struct option_list *ops) {
    const struct layers_row *rows = it->table->rows;
    const double most_ns = rows[0].cells[rows[0].outermost].total_ns;
    int error = 0;
    it->panels = calloc(it->table->row_count * it->table->layer_count + 1, sizeof(*it->panels));
    if (!it->panels)
        return -ENOMEM;
    for (size_t i = 0; i < it->table->row_count && error == 0; i++) {
        const struct layers_row *row = &rows[i];
        const bool is_wanted = ops->count > 0
                                   ? option_list_wants(ops, row->name)
                                   : row->layer_count > 1 && row->cells[row->outermost].total_ns >= SHARE_MIN * most_ns;
        if (row->relation && is_wanted)
            error = add_row(it, row);
    }
    return error == 0 && it->panel_count == 0 ? -ENODATA : error;
}

/* ---- Axes --------------------------------------------------------------------------------------- */

static double seconds(const struct figure *it, const struct panel *panel, double cycles) {
    return cycles / (double)profile_of(it, panel)->clock.frequency_hz;
}

static double bound(const struct figure *it, const struct panel *panel, unsigned bucket) {
    return seconds(it, panel, aggstats_bucket_lower(bucket, profile_of(it, panel)->resolution));
}

static double weight(const struct figure *it, const struct panel *panel, unsigned bucket) {
    double calls = (double)panel->buckets[bucket];
    if (!it->plot->by_latency)
        return calls;
    return calls * seconds(it, panel, aggstats_bucket_mean(bucket, profile_of(it, panel)->resolution));
}

static void choose_axes(struct figure *it) {
    double first = INFINITY;
    double last = 0;
    double least = INFINITY;
    double most = 0;
    for (size_t i = 0; i < it->panel_count; i++) {
        const struct panel *panel = &it->panels[i];
        for (unsigned bucket = 0; bucket < bucket_count(it, panel); bucket++) {
            if (panel->buckets[bucket] == 0)
                continue;
            first = fmin(first, bound(it, panel, bucket));
            last = fmax(last, bound(it, panel, bucket + 1));
            least = fmin(least, weight(it, panel, bucket));
            most = fmax(most, weight(it, panel, bucket));
        }
    }
    it->time = plot_axis_over(first, last, PLOT_SECONDS);
    it->weight =
        plot_axis_of_bars(it->plot->by_latency ? least : 1, most, it->plot->by_latency ? PLOT_SECONDS : PLOT_COUNT);
}

/* ---- Drawing ------------------------------------------------------------------------------------ */

static void put_panel(struct figure *it, size_t index, int top) {
    const struct panel *panel = &it->panels[index];
    const struct layers_cell *cell = &panel->row->cells[panel->layer];
    const struct units units = {.frequency_hz = 1};
    const bool is_last = index + 1 == it->panel_count;
    const struct plot_area area = {.left = LEFT, .right = it->page.width - RIGHT, .top = top, .bottom = top + it->bars};
    const int y = area.top - CAPTION / 2 + 1;
    FILE *script = it->page.script;
    char text[PLOT_TEXT_SIZE];
    plot_page_panel(&it->page, &area);
    snprintf(text, sizeof(text), "%s call%s, %s", units_count(cell->calls).text, units_plural(cell->calls),
             units_seconds(&units, cell->total_ns / 1e9).text);
    if (panel->is_first)
        plot_page_untrusted(&it->page, area.left, y, PLOT_LEFT, PLOT_STRONG, PLOT_TEXT, panel->row->name,
                            AGGSTATS_NAME_SIZE);
    plot_page_untrusted(&it->page, area.left + LAYER_LEFT, y, PLOT_LEFT, PLOT_PLAIN, PLOT_TEXT,
                        layers_name(profile_of(it, panel)), AGGSTATS_NAME_SIZE);
    plot_page_text(&it->page, area.right, y, PLOT_RIGHT, PLOT_SMALL, PLOT_FAINT, text);
    it->time.labels_max = is_last ? (unsigned)(area.right - area.left) / 60 : 0;
    it->weight.labels_max = (unsigned)it->bars / PIXELS_PER_LABEL;
    plot_axis_put(&it->time, "x", script);
    plot_axis_put(&it->weight, "y", script);
    plot_page_bar_titles(&it->page, &area, index == 0, is_last);
    fprintf(script, "$panel%zu << EOD\n", index + 1);
    for (unsigned bucket = 0; bucket < bucket_count(it, panel); bucket++)
        if (panel->buckets[bucket] > 0)
            fprintf(script, "%.9g %.9g %.15g\n", bound(it, panel, bucket), bound(it, panel, bucket + 1),
                    weight(it, panel, bucket));
    fprintf(script,
            "EOD\nplot $panel%zu using (sqrt($1*$2)):3:1:2:(%.9g):3 with boxxyerror lw 0.5 fillcolor rgb '%s'\n",
            index + 1, it->weight.low, PLOT_BLUE);
}

int plot_layers(const struct plot *plot, const struct recording *recording, const struct option_list *ops,
                FILE *script) {
    struct layers_table table;
    struct figure it = {.plot = plot, .table = &table};
    int error = layers_table_make(recording->layers, recording->count, &table);
    if (error)
        return error;
    error = table.row_count > 0 ? add_rows(&it, ops) : -ENODATA;
    const int around = plot_page_top(plot) + TOP + BOTTOM_AXIS + ((int)it.row_count - 1) * GAP - CAPTION;
    if (error == 0) {
        it.bars = plot_page_fit(plot, it.panel_count, around, CAPTION, BARS);
        error = it.bars < BARS_MIN ? -ERANGE : 0;
    }
    if (error == 0) {
        choose_axes(&it);
        plot_page_begin(&it.page, plot, WIDTH, around + (int)it.panel_count * (it.bars + CAPTION), script);
        int top = it.page.top + TOP;
        for (size_t i = 0; i < it.panel_count; i++) {
            top += i > 0 && it.panels[i].is_first ? GAP : 0;
            put_panel(&it, i, top);
            top += it.bars + CAPTION;
        }
        plot_page_end(&it.page);
    }
    for (size_t i = 0; i < it.panel_count; i++)
        free(it.panels[i].buckets);
    free(it.panels);
    layers_table_finish(&table);
    return error;
}
