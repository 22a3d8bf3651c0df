/* Rules common to writing and parsing profiles. */
#include "text.h"

#include "base.h"

bool text_name_valid(const char *name) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
    size_t length = strnlen(name, AGGSTATS_NAME_SIZE);
    return length > 0 && length < AGGSTATS_NAME_SIZE && strspn(name, allowed) == length;
}

bool text_key_reserved(const char *key) {
    static const char *const reserved[] = {
        "clock", "resolution", "start",    "elapsed", "clamped", "incomplete", "failed",
        "bytes", "in_flight",  "interval", "borders", "process", "uid",
    };
    for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
        if (strcmp(key, reserved[i]) == 0)
            return true;
    return false;
}

const char *aggstats_grouping_name(enum aggstats_grouping grouping) {
    return grouping == AGGSTATS_BY_PROCESS ? "process" : grouping == AGGSTATS_BY_UID ? "uid" : NULL;
}

const char *aggstats_who_name(enum aggstats_who who) {
    return who == AGGSTATS_WHO_KERNEL ? "kernel" : who == AGGSTATS_WHO_OTHER ? "other" : NULL;
}

enum aggstats_grouping text_grouping_of_key(const char *key) {
    for (int grouping = AGGSTATS_BY_PROCESS; grouping <= AGGSTATS_BY_UID; grouping++)
        if (strcmp(key, aggstats_grouping_name((enum aggstats_grouping)grouping)) == 0)
            return (enum aggstats_grouping)grouping;
    return AGGSTATS_UNGROUPED;
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
