/* The operations of a figure. */
#ifndef PLOT_OPS_H
#define PLOT_OPS_H

#include "option_list.h"
#include "plot.h"

/* Makes plot->ops of those operations of its profiles that are wanted, and of which calls have ended.
 * Owner:   the caller frees plot->ops
 * Errors:  -ENOMEM */
int plot_ops_choose(struct plot *plot, const struct option_list *wanted);

/* Gives both profiles the coarser of their resolutions. Errors: -ENOMEM */
int plot_ops_make_comparable(struct aggstats_profile *a, struct aggstats_profile *b);

#endif
