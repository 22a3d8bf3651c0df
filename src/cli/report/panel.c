/* Panels of pictures. */
#include "panel.h"

#include <math.h>

#include "html.h"

#define UNITS_PER_LABEL_BELOW 56
#define UNITS_PER_LABEL_BESIDE 16

struct panel panel_begin(FILE *page, const char *class, int height, const char *name, const char *attributes) {
    fprintf(page, "<svg class=\"%s\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", class, PANEL_WIDTH,
            PANEL_TOP + height + PANEL_BOTTOM);
    html_put(page, name);
    fprintf(page, "\"%s>\n<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", attributes,
            PANEL_LEFT, PANEL_TOP, PANEL_INNER, height);
    return (struct panel){page, height};
}

void panel_end(const struct panel *panel) {
    fputs("</svg>\n", panel->page);
}

static double part_of(const struct plot_axis *axis, double value) {
    return log(value / axis->low) / log(axis->high / axis->low);
}

double panel_x(const struct plot_axis *axis, double value) {
    return PANEL_LEFT + PANEL_INNER * part_of(axis, value);
}

double panel_y(const struct panel *panel, const struct plot_axis *axis, double value) {
    return PANEL_TOP + panel->height * (1 - part_of(axis, value));
}

void panel_put_title_below(const struct panel *panel, const char *title) {
    fprintf(panel->page, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", PANEL_LEFT + PANEL_INNER / 2,
            PANEL_TOP + panel->height + PANEL_BOTTOM - 4, title);
}

void panel_put_axis_below(const struct panel *panel, struct plot_axis axis, const char *title) {
    axis.labels_max = PANEL_INNER / UNITS_PER_LABEL_BELOW;
    const struct plot_marks marks = plot_axis_marks(&axis);
    const int bottom = PANEL_TOP + panel->height;
    for (int exponent = marks.first; exponent <= marks.last; exponent++) {
        char label[UNITS_TEXT_SIZE];
        const double x = panel_x(&axis, pow(10, exponent));
        fprintf(panel->page, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", x, PANEL_TOP, bottom);
        if ((exponent - marks.first) % marks.step != 0)
            continue;
        plot_axis_format_power(&axis, exponent, label);
        fprintf(panel->page, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x, bottom + 14, label);
    }
    panel_put_title_below(panel, title);
}

void panel_put_axis_beside(const struct panel *panel, struct plot_axis axis) {
    axis.labels_max = (unsigned)panel->height / UNITS_PER_LABEL_BESIDE;
    const struct plot_marks marks = plot_axis_marks(&axis);
    for (int exponent = marks.first; exponent <= marks.last; exponent++) {
        char label[UNITS_TEXT_SIZE];
        const double y = panel_y(panel, &axis, pow(10, exponent));
        fprintf(panel->page, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", PANEL_LEFT, y, PANEL_LEFT + PANEL_INNER);
        if ((exponent - marks.first) % marks.step != 0)
            continue;
        plot_axis_format_power(&axis, exponent, label);
        fprintf(panel->page, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", PANEL_LEFT - 5, y + 4, label);
    }
}
