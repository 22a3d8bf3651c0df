/* Which labels a profile may have. */
#include <string.h>

#include "facts.h"
#include "text_format.h"

bool text_key_reserved(const char *key) {
    return fact_of(key) || aggstats_grouping_of_name(key) != AGGSTATS_UNGROUPED;
}

bool text_label_valid(const struct aggstats_label *label) {
    const char *key = label->key;
    size_t length = strlen(key);
    if (length == 0 || key[0] == ' ' || key[length - 1] == ' ' || text_key_reserved(key))
        return false;
    for (size_t i = 0; i < length; i++)
        if (key[i] == ':' || text_is_control((unsigned char)key[i]))
            return false;
    return true;
}
