/* Viridis: a map of colours that grow evenly lighter, for the colour-blind too (S. van der Walt, N. Smith, public
 * domain). */
#ifndef PLOT_COLOURS_H
#define PLOT_COLOURS_H

#include <stdio.h>

/* Makes it the palette of the script. */
void plot_colours_put(FILE *script);

/* Its colour at a part of its length, 0 to 1, as 0xRRGGBB. */
unsigned plot_colours_at(double part);

#endif
