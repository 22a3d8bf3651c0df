/* Logarithmic axes of figures, with marks as people read them. */
#ifndef PLOT_AXIS_H
#define PLOT_AXIS_H

#include <stdbool.h>
#include <stdio.h>

enum plot_unit { PLOT_COUNT, PLOT_SECONDS };

struct plot_axis {
    double low; /* above 0 */
    double high;
    enum plot_unit unit;
    unsigned labels_max; /* how many marks have room for their text; 0: none */
    bool as_decades;     /* positions are given as powers of ten above low: what gnuplot draws in space begins at 0 */
};

/* The range from low to high, widened by a little, and to whole powers of ten if less than two would lie in it. */
struct plot_axis plot_axis_over(double low, double high, enum plot_unit unit);

/* From nothing (half of the least, so that this is seen) to somewhat more than high: the axis of bars. */
struct plot_axis plot_axis_of_bars(double least, double high, enum plot_unit unit);

/* Leaves so many of the axis's pixels free above most, if it has less. */
void plot_axis_leave_room(struct plot_axis *axis, double most, int pixels, int length_pixels);

/* From least to most, widened until it has two marks. */
struct plot_axis plot_axis_of_colours(double least, double most, enum plot_unit unit);

/* Writes scale, range and marks of the axis that gnuplot calls name: "x", "y", "z", "cb". */
void plot_axis_put(const struct plot_axis *axis, const char *name, FILE *script);

/* A position on it as the script needs it. */
double plot_axis_at(const struct plot_axis *axis, double value);

/* ---- Colours ------------------------------------------------------------------------------------ */

/* Viridis: a map of colours that grow evenly lighter, for the colour-blind too (S. van der Walt, N. Smith, public
 * domain). */

/* Makes it the palette of the script. */
void plot_colours_put(FILE *script);

/* Its colour at a part of its length, 0 to 1, as 0xRRGGBB. */
unsigned plot_colours_at(double part);

#endif
