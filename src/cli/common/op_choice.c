/* Finding the chosen operations in a profile. */
#include "op_choice.h"

#include <string.h>

size_t op_choice_count(const struct option_list *ops, const struct aggstats_profile *profile) {
    size_t count = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        count += option_list_wants(ops, profile->ops[i].name);
    return count;
}

enum status op_choice_report_absent(const struct option_list *ops, const struct aggstats_profile *profile) {
    enum status status = STATUS_OK;
    for (size_t i = 0; i < ops->count; i++) {
        const struct option_list one = {.texts = &ops->texts[i], .count = 1};
        if (op_choice_count(&one, profile) > 0)
            continue;
        complain("no call of %s in this profile; 'osprof show' without --op lists its operations", ops->texts[i]);
        status = STATUS_NOT_SO;
    }
    return status;
}
