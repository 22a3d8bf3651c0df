/* For each peak of an op, how a value is distributed over its calls: what thesis Figure 7.4 shows. */
#ifndef JOINT_TABLE_H
#define JOINT_TABLE_H

#include "aggstats.h"
#include "screen.h"
#include "units.h"

/* op: whose joint profile it is; its buckets show the peaks */
void joint_table_print(const struct aggstats_joint_profile *joint, const struct aggstats_op_profile *op,
                       unsigned resolution, const struct units *units, const struct screen *screen);

#endif
