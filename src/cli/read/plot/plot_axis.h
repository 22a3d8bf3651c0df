/* Logarithmic axes of figures, with marks for people. */
#ifndef PLOT_AXIS_H
#define PLOT_AXIS_H

#include <stdbool.h>
#include <stdio.h>

#include "units.h"

enum plot_unit { PLOT_COUNT, PLOT_SECONDS };

struct plot_axis {
    double low; /* above 0 */
    double high;
    enum plot_unit unit;
    unsigned labels_max; /* the number of marks whose labels fit; 0: none */
    bool as_decades;     /* positions are powers of ten above low: what gnuplot draws in three dimensions begins at 0 */
};

/* The range from low to high, widened a little, and to whole powers of ten if it would hold fewer than two. */
struct plot_axis plot_axis_over(double low, double high, enum plot_unit unit);

/* From zero (half of the least, so that this is visible) to somewhat more than high: the axis of bars. */
struct plot_axis plot_axis_of_bars(double least, double high, enum plot_unit unit);

/* Leaves this many of the axis's pixels free above most, if there are fewer. */
void plot_axis_leave_room(struct plot_axis *axis, double most, int pixels, int length_pixels);

/* From least to most, widened until it has two marks. */
struct plot_axis plot_axis_of_colours(double least, double most, enum plot_unit unit);

/* Writes scale, range and marks of the axis that gnuplot calls name: "x", "y", "z", "cb". */
void plot_axis_put(const struct plot_axis *axis, const char *name, FILE *script);

/* The powers of ten that are on it, and every how many of them has a label. */
struct plot_marks {
    int first;
    int last;
    int step;
};
struct plot_marks plot_axis_marks(const struct plot_axis *axis);

/* "10 ms": a power of ten in the axis's unit. */
void plot_axis_format_power(const struct plot_axis *axis, int exponent, char ret_text[UNITS_TEXT_SIZE]);

/* A position on it, for the script. */
double plot_axis_at(const struct plot_axis *axis, double value);

/* ---- Colours ------------------------------------------------------------------------------------ */

/* Viridis: a map of colours of evenly increasing lightness, also for the colour-blind (S. van der Walt, N. Smith,
 * public domain). */

/* Makes it the palette of the script. */
void plot_colours_put(FILE *script);

/* Its colour at a fraction of its length, 0 to 1, as 0xRRGGBB. */
unsigned plot_colours_at(double part);

#endif
