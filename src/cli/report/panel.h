/* The panel of a picture: a frame with an axis of latency, and positions in it. Units are those of the picture's box, which
 * is as wide as there is room. */
#ifndef PANEL_H
#define PANEL_H

#include <stdio.h>

#include "plot_axis.h"

enum {
    PANEL_WIDTH = 480,
    PANEL_LEFT = 52,
    PANEL_RIGHT = 8,
    PANEL_TOP = 8,
    PANEL_BOTTOM = 34, /* labels, and the axis's title */
    PANEL_INNER = PANEL_WIDTH - PANEL_LEFT - PANEL_RIGHT,
};

struct panel {
    FILE *page;
    int height; /* of the frame */
};

/* Begins a picture with a name for those who cannot see it, in its class. */
struct panel panel_begin(FILE *page, const char *class, int height, const char *name, const char *attributes);
void panel_end(const struct panel *panel);

/* Positions of values on a logarithmic axis, to a tenth. */
double panel_x(const struct plot_axis *axis, double value);
double panel_y(const struct panel *panel, const struct plot_axis *axis, double value);

/* Lines and labels at powers of ten, and the axis's title. */
void panel_put_axis_below(const struct panel *panel, struct plot_axis axis, const char *title);
void panel_put_axis_beside(const struct panel *panel, struct plot_axis axis);

void panel_put_title_below(const struct panel *panel, const char *title);

#endif
