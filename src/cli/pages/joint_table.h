/* The distribution of a value over the calls of each peak of an op, as in thesis Figure 7.4. */
#ifndef JOINT_TABLE_H
#define JOINT_TABLE_H

#include "aggstats.h"
#include "screen.h"
#include "units.h"

/* op: of the joint profile; its buckets have the peaks */
void joint_table_print(const struct aggstats_joint_profile *joint, const struct aggstats_op_profile *op,
                       unsigned resolution, const struct units *units, const struct screen *screen);

#endif
