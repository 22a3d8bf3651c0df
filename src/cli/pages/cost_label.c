#include "cost_label.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS " calls "
#define COUNTED " ns, counted "
#define UNIT " ns"

void cost_label_format(const struct cost_label *cost, char ret_text[COST_LABEL_SIZE]) {
    snprintf(ret_text, COST_LABEL_SIZE, "%" PRIu64 CALLS "%.0f" COUNTED "%.0f" UNIT, cost->calls, cost->other_ns,
             cost->counted_ns);
}

/* Reads a whole number and the word behind it. Returns false if they are not there */
static bool read_number(const char **text, const char *word, uint64_t *ret_number) {
    char *end;
    if ((*text)[0] < '0' || (*text)[0] > '9')
        return false;
    *ret_number = strtoull(*text, &end, 10);
    if (strncmp(end, word, strlen(word)) != 0)
        return false;
    *text = end + strlen(word);
    return true;
}

bool cost_label_parse(const char *text, struct cost_label *ret_cost) {
    uint64_t calls;
    uint64_t other_ns;
    uint64_t counted_ns;
    if (!read_number(&text, CALLS, &calls) || !read_number(&text, COUNTED, &other_ns) ||
        !read_number(&text, UNIT, &counted_ns) || text[0] != '\0')
        return false;
    *ret_cost = (struct cost_label){calls, (double)other_ns, (double)counted_ns};
    return true;
}
