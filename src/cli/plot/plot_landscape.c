/* Timelines as landscapes: for each op a field of boxes over latency and elapsed time, whose heights are the logarithms
 * of their weights. */
#include <errno.h>
#include <math.h>

#include "plot.h"
#include "plot_axis.h"
#include "plot_bins.h"
#include "plot_page.h"

enum {
    WIDTH = 1000,
    PANEL = 560,
    PANEL_MIN = 200,
    CAPTION = 24,
    BINS_MAX = 60,
    CELLS_MAX = 3000, /* more would be hidden behind those in front */
};

struct landscape {
    const struct plot *plot;
    struct plot_page page;
    struct plot_cells cells;
    struct plot_axis height;
    int panel; /* pixels */
};

/* Latency, time, height, colour: of the middle of the box's top. */
static void put_data(const struct landscape *it, size_t index) {
    FILE *script = it->page.script;
    const struct plot *plot = it->plot;
    const unsigned resolution = plot->profiles[0]->resolution;
    const double top = plot_axis_at(&it->height, it->height.high);
    fprintf(script, "$op%zu << EOD\n", index + 1);
    for (size_t i = it->cells.begin[index]; i < it->cells.begin[index + 1]; i++) {
        const struct aggstats_cell *cell = &it->cells.cells[i];
        double lower = plot_time(plot, 0, aggstats_bucket_lower(cell->bucket, resolution));
        double upper = plot_time(plot, 0, aggstats_bucket_upper(cell->bucket, resolution));
        double begin = plot_bins_begin(&it->cells.bins, plot, cell->row);
        double end = plot_bins_begin(&it->cells.bins, plot, cell->row + 1);
        double height = plot_axis_at(&it->height, plot_weight(plot, 0, cell->bucket, cell->count));
        fprintf(script, "%.9g %.9g %.9g %u\n", plot_axis_at(&it->cells.latency, sqrt(lower * upper)), (begin + end) / 2,
                height, plot_colours_at(height / top));
    }
    fputs("EOD\n", script);
}

static void put_caption(struct landscape *it, size_t index, const struct plot_area *area) {
    const int y = area->top + CAPTION / 2;
    char text[PLOT_TEXT_SIZE];
    plot_page_untrusted(&it->page, 40, y, PLOT_LEFT, PLOT_STRONG, PLOT_TEXT, it->plot->ops[index].name,
                        AGGSTATS_NAME_SIZE);
    plot_format_op(it->plot, &it->plot->ops[index], 0, text);
    plot_page_text(&it->page, it->page.width - 40, y, PLOT_RIGHT, PLOT_SMALL, PLOT_FAINT, text);
    plot_cells_format_weight(&it->cells, it->plot, text, sizeof(text));
    plot_page_text(&it->page, 40, y + 20, PLOT_LEFT, PLOT_PLAIN, PLOT_TEXT, text);
}

static void put_panel(struct landscape *it, size_t index) {
    struct plot_area area = {.left = 0, .right = it->page.width};
    area.top = it->page.top + (int)index * (it->panel + CAPTION);
    area.bottom = area.top + it->panel + CAPTION;
    plot_page_space(&it->page, &area);
    put_caption(it, index, &area);
    put_data(it, index);
    if (it->cells.begin[index] == it->cells.begin[index + 1])
        return;
    fprintf(it->page.script, "splot $op%zu using 1:2:3:(%.9g):4 with boxes fillcolor rgb variable\n", index + 1,
            log10(2) / it->plot->profiles[0]->resolution);
}

static void put_axes(struct landscape *it) {
    FILE *script = it->page.script;
    const double end = plot_bins_begin(&it->cells.bins, it->plot, it->cells.bins.count);
    it->height = plot_axis_of_bars(it->cells.least, it->cells.most,
                                   it->plot->by_latency && plot_in_seconds(it->plot) ? PLOT_SECONDS : PLOT_COUNT);
    it->height.as_decades = it->cells.latency.as_decades = true;
    it->height.labels_max = it->cells.latency.labels_max = 12;
    plot_axis_put(&it->cells.latency, "x", script);
    plot_axis_put(&it->height, "z", script);
    fprintf(script, "set yrange [0:%.9g]\nset format y '%s'\n", end, plot_cells_time_format(it->plot));
    fprintf(script, "set boxdepth %.9g\n", end / (double)it->cells.bins.count);
    fprintf(script, "set xlabel '%s' rotate parallel\nset ylabel '%s' rotate parallel\n", plot_latency_title(it->plot),
            plot_cells_time_title(it->plot));
    fputs("set style fill solid 1.0 border lc rgb '#404040'\nset xyplane at 0\nset view 52,35,1.1,1.1\n"
          "set pm3d depthorder base\nset border 31 lw 0.7\n",
          script);
}

int plot_landscape(const struct plot *plot, FILE *script) {
    struct landscape it = {.plot = plot};
    const int count = (int)plot->op_count;
    const int top = plot_page_top(plot);
    it.panel = plot_page_fit(plot, plot->op_count, top, CAPTION, PANEL);
    if (it.panel < PANEL_MIN)
        return -ERANGE;
    int error = plot_cells_init(plot, BINS_MAX, CELLS_MAX, &it.cells);
    if (error)
        return error;
    plot_page_begin(&it.page, plot, WIDTH, top + count * (it.panel + CAPTION), script);
    put_axes(&it);
    for (size_t i = 0; i < plot->op_count; i++)
        put_panel(&it, i);
    plot_page_end(&it.page);
    plot_cells_finish(&it.cells);
    return 0;
}
