/* Rules common to writing and parsing profiles. */
#include "text_format.h"

#include "aggstats/words.h"
#include "base.h"

bool text_name_valid(const char *name) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
    size_t length = strnlen(name, AGGSTATS_NAME_SIZE);
    return length > 0 && length < AGGSTATS_NAME_SIZE && strspn(name, allowed) == length;
}

#define NAME(constant, word, ...) [AGGSTATS_BY_##constant] = word,
static const char *const grouping_names[AGGSTATS_GROUPINGS] = {GROUPING_ROWS(NAME, NAME, NAME)};
_Static_assert(GROUPING_COUNT + 1 == AGGSTATS_GROUPINGS, "each grouping has a word");

const char *aggstats_grouping_name(enum aggstats_grouping grouping) {
    return (unsigned)grouping < AGGSTATS_GROUPINGS ? grouping_names[grouping] : NULL;
}

bool aggstats_grouping_has_ids(enum aggstats_grouping grouping) {
    return grouping == AGGSTATS_BY_PROCESS || grouping == AGGSTATS_BY_UID;
}

bool aggstats_grouping_has_objects(enum aggstats_grouping grouping) {
    return grouping == AGGSTATS_BY_FILE || grouping == AGGSTATS_BY_DIRECTORY;
}

bool aggstats_grouping_has_paths(enum aggstats_grouping grouping) {
    return grouping == AGGSTATS_BY_CGROUP || aggstats_grouping_has_objects(grouping);
}

enum aggstats_grouping aggstats_grouping_of_name(const char *name) {
    for (unsigned grouping = AGGSTATS_UNGROUPED + 1; grouping < AGGSTATS_GROUPINGS; grouping++)
        if (strcmp(name, grouping_names[grouping]) == 0)
            return (enum aggstats_grouping)grouping;
    return AGGSTATS_UNGROUPED;
}

const char *aggstats_who_name(enum aggstats_who who) {
    return who == AGGSTATS_WHO_KERNEL ? "kernel" : who == AGGSTATS_WHO_OTHER ? "other" : NULL;
}

void text_write_value(FILE *stream, const char *value) {
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        if (text_is_control(c) || c == '\\')
            fprintf(stream, "\\%03o", (unsigned)c);
        else
            putc(c, stream);
    }
}

void text_write_path(const char *path, FILE *stream) {
    if (path) {
        fputs(" path ", stream);
        text_write_value(stream, path);
    }
    putc('\n', stream);
}
