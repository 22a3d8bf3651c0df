/* The values that latencies may be correlated with, and the rows of joint profiles for them. */
#include <strings.h>

#include "aggstats.h"

#define LOGARITHMIC_ROWS 65U /* 0, and one for each power of two */

static const struct {
    const char *name;
    unsigned rows; /* a row for each number below this, or LOGARITHMIC_ROWS */
} values[] = {
    [AGGSTATS_SIZE] = {"SIZE", LOGARITHMIC_ROWS},
    [AGGSTATS_RESULT] = {"RESULT", LOGARITHMIC_ROWS},
    [AGGSTATS_OFFSET] = {"OFFSET", LOGARITHMIC_ROWS},
    [AGGSTATS_ERROR] = {"ERROR", AGGSTATS_VALUE_ROWS_MAX},
    [AGGSTATS_PAST_EOF] = {"PAST_EOF", 2},
    [AGGSTATS_BLOCKED] = {"BLOCKED", LOGARITHMIC_ROWS},
    [AGGSTATS_CPU] = {"CPU", LOGARITHMIC_ROWS},
};

const char *aggstats_value_name(unsigned value) {
    return value < AGGSTATS_VALUE_COUNT ? values[value].name : NULL;
}

int aggstats_value_of_name(const char *name) {
    for (int value = 0; value < AGGSTATS_VALUE_COUNT; value++)
        if (strcasecmp(name, values[value].name) == 0)
            return value;
    return -1;
}

unsigned aggstats_value_rows(enum aggstats_value value) {
    return values[value].rows;
}

unsigned aggstats_value_row(enum aggstats_value value, uint64_t number) {
    unsigned rows = values[value].rows;
    if (rows == LOGARITHMIC_ROWS)
        return number == 0 ? 0 : 64U - (unsigned)__builtin_clzll(number);
    return number < rows ? (unsigned)number : rows - 1;
}

uint64_t aggstats_value_first(enum aggstats_value value, unsigned row) {
    if (values[value].rows != LOGARITHMIC_ROWS || row == 0)
        return row;
    return UINT64_C(1) << (row - 1);
}
