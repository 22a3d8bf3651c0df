/* The figure of the layers of a recording. Source: thesis §3.1.4 */
#ifndef PLOT_LAYERS_H
#define PLOT_LAYERS_H

#include "option_list.h"
#include "plot.h"
#include "recording.h"

/* Writes the script. plot: its profile is the outermost layer. ops: rows of the table of layers (layers.h); none: those
 * that took a hundredth of what the costliest took, and have a counterpart at another layer. The clocks of all layers
 * have a rate.
 * Errors: as the others' (plot.h); -ENODATA there is no such row with calls */
int plot_layers(const struct plot *plot, const struct recording *recording, const struct option_list *ops,
                FILE *script);

#endif
