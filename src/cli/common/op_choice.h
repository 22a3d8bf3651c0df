/* What --op chooses of a profile. */
#ifndef OP_CHOICE_H
#define OP_CHOICE_H

#include "aggstats.h"
#include "command.h"
#include "option_list.h"

/* How many of the profile's operations are chosen. */
size_t op_choice_count(const struct option_list *ops, const struct aggstats_profile *profile);

/* Complains of each that the profile does not hold. Returns STATUS_NOT_SO if there is one */
enum status op_choice_report_absent(const struct option_list *ops, const struct aggstats_profile *profile);

#endif
