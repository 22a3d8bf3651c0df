/* The operations of a profile that --op chooses. */
#ifndef OP_CHOICE_H
#define OP_CHOICE_H

#include "aggstats.h"
#include "command.h"
#include "option_list.h"

/* The number of the profile's operations that are chosen. */
size_t op_choice_count(const struct option_list *ops, const struct aggstats_profile *profile);

/* Reports each that the profile does not have. Returns STATUS_NOT_SO if there is one */
enum status op_choice_report_absent(const struct option_list *ops, const struct aggstats_profile *profile);

#endif
