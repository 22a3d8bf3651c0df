/* Timelines from above: a panel for each op, time from left to right, latency upwards, and the colour of a cell shows
 * the number of calls of that latency at that time. Panels share all axes, so that what happened at one moment is
 * aligned. */
#include <errno.h>
#include <math.h>

#include "plot.h"
#include "plot_axis.h"
#include "plot_bins.h"
#include "plot_page.h"

enum {
    WIDTH = 1000,
    LEFT = 84,
    RIGHT = 110, /* the key of colours */
    BOTTOM_AXIS = 58,
    CAPTION = 24,
    PANEL = 90, /* of one op among many */
    PANEL_ALONE = 360,
    PANEL_MIN = 16,
    PIXELS_PER_LABEL = 18,
    BINS_MAX = 500,
    CELLS_MAX = 12000, /* more than these make SVG slow */
};

struct timeline {
    const struct plot *plot;
    struct plot_page page;
    struct plot_cells cells;
    struct plot_axis colour;
    int panel; /* pixels */
};

static void put_data(const struct timeline *it, size_t index) {
    FILE *script = it->page.script;
    const struct plot *plot = it->plot;
    const unsigned resolution = plot->profiles[0]->resolution;
    fprintf(script, "$op%zu << EOD\n", index + 1);
    for (size_t i = it->cells.begin[index]; i < it->cells.begin[index + 1]; i++) {
        const struct aggstats_cell *cell = &it->cells.cells[i];
        fprintf(script, "%.9g %.9g %.9g %.9g %.15g\n", plot_bins_begin(&it->cells.bins, plot, cell->row),
                plot_bins_begin(&it->cells.bins, plot, cell->row + 1),
                plot_time(plot, 0, aggstats_bucket_lower(cell->bucket, resolution)),
                plot_time(plot, 0, aggstats_bucket_upper(cell->bucket, resolution)),
                plot_weight(plot, 0, cell->bucket, cell->count));
    }
    fputs("EOD\n", script);
}

static void put_caption(struct timeline *it, size_t index, const struct plot_area *area) {
    const int y = area->top - CAPTION / 2 + 1;
    char text[PLOT_TEXT_SIZE];
    plot_page_untrusted(&it->page, area->left, y, PLOT_LEFT, PLOT_STRONG, PLOT_TEXT, it->plot->ops[index].name,
                        AGGSTATS_NAME_SIZE);
    plot_format_op(it->plot, &it->plot->ops[index], 0, text);
    plot_page_text(&it->page, area->right, y, PLOT_RIGHT, PLOT_SMALL, PLOT_FAINT, text);
}

/* The key of colours, and the names of the axes, once. */
static void put_legend(struct timeline *it, const struct plot_area *area) {
    FILE *script = it->page.script;
    const int height = it->page.height - it->page.top - BOTTOM_AXIS - CAPTION;
    const int shown = height > PANEL_ALONE ? PANEL_ALONE : height;
    char text[PLOT_TEXT_SIZE];
    fprintf(script, "set colorbox user origin screen %.5f,%.5f size %.5f,%.5f noborder\n",
            (double)(area->right + 18) / it->page.width, 1 - (double)(area->top + shown) / it->page.height,
            14.0 / it->page.width, (double)shown / it->page.height);
    plot_cells_format_weight(&it->cells, it->plot, text, sizeof(text));
    plot_page_text(&it->page, it->page.width - 14, area->top + shown / 2, PLOT_CENTRE, PLOT_UPRIGHT, PLOT_TEXT, text);
    plot_page_text(&it->page, 14, (it->page.top + it->page.height - BOTTOM_AXIS) / 2, PLOT_CENTRE, PLOT_UPRIGHT,
                   PLOT_TEXT, plot_latency_title(it->plot));
}

static void put_time_axis(struct timeline *it, const struct plot_area *area, bool last) {
    fprintf(it->page.script, "set format x '%s'\n", last ? plot_cells_time_format(it->plot) : "");
    if (last)
        plot_page_text(&it->page, (area->left + area->right) / 2, area->bottom + 42, PLOT_CENTRE, PLOT_PLAIN, PLOT_TEXT,
                       plot_cells_time_title(it->plot));
}

/* Each cell overlaps its neighbours by half a pixel, or the picture's background would shine through. */
static void put_plot(struct timeline *it, size_t index, const struct plot_area *area) {
    const double end = plot_bins_begin(&it->cells.bins, it->plot, it->cells.bins.count);
    const double right = end / (area->right - area->left) / 2;
    const double up = pow(it->cells.latency.high / it->cells.latency.low, 0.5 / it->panel);
    fprintf(it->page.script,
            "plot $op%zu using (($1+$2)/2):(sqrt($3*$4)):1:($2+%.3g):3:($4*%.6g):5 with boxxyerror fillcolor palette\n",
            index + 1, right, up);
}

static void put_panel(struct timeline *it, size_t index) {
    FILE *script = it->page.script;
    struct plot_area area = {.left = LEFT, .right = it->page.width - RIGHT};
    area.top = it->page.top + CAPTION + (int)index * (it->panel + CAPTION);
    area.bottom = area.top + it->panel;
    plot_page_panel(&it->page, &area);
    put_caption(it, index, &area);
    if (index == 0)
        put_legend(it, &area);
    else
        fputs("unset colorbox\n", script);
    put_time_axis(it, &area, index + 1 == it->plot->op_count);
    put_data(it, index);
    if (it->cells.begin[index] == it->cells.begin[index + 1])
        fputs("plot NaN\n", script); /* the empty panel */
    else
        put_plot(it, index, &area);
}

static void put_axes(struct timeline *it) {
    FILE *script = it->page.script;
    it->colour = plot_axis_of_colours(it->cells.least, it->cells.most,
                                      it->plot->by_latency && plot_in_seconds(it->plot) ? PLOT_SECONDS : PLOT_COUNT);
    it->colour.labels_max = 12;
    it->cells.latency.labels_max = (unsigned)it->panel / PIXELS_PER_LABEL;
    plot_colours_put(script);
    plot_axis_put(&it->colour, "cb", script);
    plot_axis_put(&it->cells.latency, "y", script);
    fprintf(script, "set xrange [0:%.9g]\nset style fill solid 1.0 noborder\n",
            plot_bins_begin(&it->cells.bins, it->plot, it->cells.bins.count));
}

int plot_timeline(const struct plot *plot, FILE *script) {
    struct timeline it = {.plot = plot};
    const int count = (int)plot->op_count;
    const int around = plot_page_top(plot) + BOTTOM_AXIS;
    it.panel = plot_page_fit(plot, plot->op_count, around, CAPTION, count == 1 ? PANEL_ALONE : PANEL);
    if (it.panel < PANEL_MIN)
        return -ERANGE;
    int error = plot_cells_init(plot, BINS_MAX, CELLS_MAX, &it.cells);
    if (error)
        return error;
    plot_page_begin(&it.page, plot, WIDTH, around + count * (it.panel + CAPTION), script);
    put_axes(&it);
    for (size_t i = 0; i < plot->op_count; i++)
        put_panel(&it, i);
    plot_page_end(&it.page);
    plot_cells_finish(&it.cells);
    return 0;
}
