/* Timelines in two views. From above: a panel for each op, time from left to right, latency upwards, and the colour of a
 * cell shows the number of calls of that latency at that time. Panels share all axes, so that events of one moment are
 * aligned. As a landscape: a field of boxes for each op, with the logarithm of the number of calls as height. */
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
    FIELD = 560,       /* of the landscape */
    FIELD_MIN = 200,
    FIELD_BINS_MAX = 60,
    FIELD_CELLS_MAX = 3000, /* more would be hidden behind those in front */
};

struct timeline {
    const struct plot *plot;
    struct plot_page page;
    struct plot_cells cells;
    struct plot_axis weight; /* of cells: their colour, or their height */
    int panel;               /* pixels */
};

/* Chooses cells, and begins the page. around: space outside the panels; wanted, least: height of a panel */
static int begin(struct timeline *it, int around, int wanted, int least, size_t bins_max, size_t cells_max,
                 FILE *script) {
    const int count = (int)it->plot->op_count;
    it->panel = plot_page_fit(it->plot, it->plot->op_count, around, CAPTION, wanted);
    if (it->panel < least)
        return -ERANGE;
    int error = plot_cells_init(it->plot, bins_max, cells_max, &it->cells);
    if (error == 0)
        plot_page_begin(&it->page, it->plot, WIDTH, around + count * (it->panel + CAPTION), script);
    return error;
}

static void put_caption(struct timeline *it, size_t index, int left, int right, int y) {
    const struct plot_op *op = &it->plot->ops[index];
    char text[PLOT_TEXT_SIZE];
    plot_page_untrusted(&it->page, left, y, PLOT_LEFT, PLOT_STRONG, PLOT_TEXT, op->name, AGGSTATS_NAME_SIZE);
    plot_format_op(it->plot, op, 0, text);
    plot_page_text(&it->page, right, y, PLOT_RIGHT, PLOT_SMALL, PLOT_FAINT, text);
}

/* ---- From above --------------------------------------------------------------------------------- */

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

/* The first one has the key of colours, and the title of the axis of latencies. */
static void put_panel(struct timeline *it, size_t index) {
    FILE *script = it->page.script;
    const struct plot_cells *cells = &it->cells;
    const bool is_last = index + 1 == it->plot->op_count;
    const int height = it->page.height - it->page.top - BOTTOM_AXIS - CAPTION;
    const int shown = height > PANEL_ALONE ? PANEL_ALONE : height;
    struct plot_area area = {.left = LEFT, .right = it->page.width - RIGHT};
    char text[PLOT_TEXT_SIZE];
    area.top = it->page.top + CAPTION + (int)index * (it->panel + CAPTION);
    area.bottom = area.top + it->panel;
    plot_page_panel(&it->page, &area);
    put_caption(it, index, area.left, area.right, area.top - CAPTION / 2 + 1);
    if (index == 0) {
        fprintf(script, "set colorbox user origin screen %.5f,%.5f size %.5f,%.5f noborder\n",
                (double)(area.right + 18) / it->page.width, 1 - (double)(area.top + shown) / it->page.height,
                14.0 / it->page.width, (double)shown / it->page.height);
        plot_cells_format_weight(cells, it->plot, text, sizeof(text));
        plot_page_text(&it->page, it->page.width - 14, area.top + shown / 2, PLOT_CENTRE, PLOT_UPRIGHT, PLOT_TEXT,
                       text);
        plot_page_text(&it->page, 14, (it->page.top + it->page.height - BOTTOM_AXIS) / 2, PLOT_CENTRE, PLOT_UPRIGHT,
                       PLOT_TEXT, plot_latency_title(it->plot));
    } else {
        fputs("unset colorbox\n", script);
    }
    fprintf(script, "set format x '%s'\n", is_last ? plot_cells_time_format(it->plot) : "");
    if (is_last)
        plot_page_text(&it->page, (area.left + area.right) / 2, area.bottom + 42, PLOT_CENTRE, PLOT_PLAIN, PLOT_TEXT,
                       plot_cells_time_title(it->plot));
    put_data(it, index);
    if (cells->begin[index] == cells->begin[index + 1]) {
        fputs("plot NaN\n", script); /* the empty panel */
        return;
    }
    /* Each cell overlaps its neighbours by half a pixel, or the picture's background would shine through. */
    fprintf(script,
            "plot $op%zu using (($1+$2)/2):(sqrt($3*$4)):1:($2+%.3g):3:($4*%.6g):5 with boxxyerror fillcolor palette\n",
            index + 1, plot_bins_begin(&cells->bins, it->plot, cells->bins.count) / (area.right - area.left) / 2,
            pow(cells->latency.high / cells->latency.low, 0.5 / it->panel));
}

int plot_timeline(const struct plot *plot, FILE *script) {
    struct timeline it = {.plot = plot};
    int error = begin(&it, plot_page_top(plot) + BOTTOM_AXIS, plot->op_count == 1 ? PANEL_ALONE : PANEL, PANEL_MIN,
                      BINS_MAX, CELLS_MAX, script);
    if (error)
        return error;
    it.weight = plot_axis_of_colours(it.cells.least, it.cells.most, plot_weight_unit(plot));
    it.weight.labels_max = 12;
    it.cells.latency.labels_max = (unsigned)it.panel / PIXELS_PER_LABEL;
    plot_colours_put(script);
    plot_axis_put(&it.weight, "cb", script);
    plot_axis_put(&it.cells.latency, "y", script);
    fprintf(script, "set xrange [0:%.9g]\nset style fill solid 1.0 noborder\n",
            plot_bins_begin(&it.cells.bins, plot, it.cells.bins.count));
    for (size_t i = 0; i < plot->op_count; i++)
        put_panel(&it, i);
    plot_page_end(&it.page);
    plot_cells_finish(&it.cells);
    return 0;
}

/* ---- As a landscape ----------------------------------------------------------------------------- */

/* A box of the data is: latency, time, height, colour; of the middle of its top. */
static void put_field(struct timeline *it, size_t index) {
    const struct plot *plot = it->plot;
    const struct plot_bins *bins = &it->cells.bins;
    const struct plot_area area = {.right = it->page.width,
                                   .top = it->page.top + (int)index * (it->panel + CAPTION),
                                   .bottom = it->page.top + ((int)index + 1) * (it->panel + CAPTION)};
    const unsigned resolution = plot->profiles[0]->resolution;
    const double highest = plot_axis_at(&it->weight, it->weight.high);
    const int y = area.top + CAPTION / 2;
    FILE *script = it->page.script;
    char text[PLOT_TEXT_SIZE];
    plot_page_space(&it->page, &area);
    put_caption(it, index, 40, it->page.width - 40, y);
    plot_cells_format_weight(&it->cells, plot, text, sizeof(text));
    plot_page_text(&it->page, 40, y + 20, PLOT_LEFT, PLOT_PLAIN, PLOT_TEXT, text);
    fprintf(script, "$op%zu << EOD\n", index + 1);
    for (size_t i = it->cells.begin[index]; i < it->cells.begin[index + 1]; i++) {
        const struct aggstats_cell *cell = &it->cells.cells[i];
        const double lower = plot_time(plot, 0, aggstats_bucket_lower(cell->bucket, resolution));
        const double upper = plot_time(plot, 0, aggstats_bucket_upper(cell->bucket, resolution));
        const double begin = plot_bins_begin(bins, plot, cell->row);
        const double end = plot_bins_begin(bins, plot, cell->row + 1);
        const double height = plot_axis_at(&it->weight, plot_weight(plot, 0, cell->bucket, cell->count));
        fprintf(script, "%.9g %.9g %.9g %u\n", plot_axis_at(&it->cells.latency, sqrt(lower * upper)), (begin + end) / 2,
                height, plot_colours_at(height / highest));
    }
    fputs("EOD\n", script);
    if (it->cells.begin[index] < it->cells.begin[index + 1])
        fprintf(script, "splot $op%zu using 1:2:3:(%.9g):4 with boxes fillcolor rgb variable\n", index + 1,
                log10(2) / resolution);
}

int plot_landscape(const struct plot *plot, FILE *script) {
    struct timeline it = {.plot = plot};
    int error = begin(&it, plot_page_top(plot), FIELD, FIELD_MIN, FIELD_BINS_MAX, FIELD_CELLS_MAX, script);
    if (error)
        return error;
    const double end = plot_bins_begin(&it.cells.bins, plot, it.cells.bins.count);
    it.weight = plot_axis_of_bars(it.cells.least, it.cells.most, plot_weight_unit(plot));
    it.weight.as_decades = it.cells.latency.as_decades = true;
    it.weight.labels_max = it.cells.latency.labels_max = 12;
    plot_axis_put(&it.cells.latency, "x", script);
    plot_axis_put(&it.weight, "z", script);
    fprintf(script, "set yrange [0:%.9g]\nset format y '%s'\n", end, plot_cells_time_format(plot));
    fprintf(script, "set boxdepth %.9g\n", end / (double)it.cells.bins.count);
    fprintf(script, "set xlabel '%s' rotate parallel\nset ylabel '%s' rotate parallel\n", plot_latency_title(plot),
            plot_cells_time_title(plot));
    fputs("set style fill solid 1.0 border lc rgb '#404040'\nset xyplane at 0\nset view 52,35,1.1,1.1\n"
          "set pm3d depthorder base\nset border 31 lw 0.7\n",
          script);
    for (size_t i = 0; i < plot->op_count; i++)
        put_field(&it, i);
    plot_page_end(&it.page);
    plot_cells_finish(&it.cells);
    return 0;
}
