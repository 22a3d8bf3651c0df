/* Numbers as the views write them. */
#include "values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Beyond this a double has not all digits, and some readers take no larger integers. */
#define WHOLE_MAX 0x1p53

void format_real(double value, char ret_text[REAL_TEXT_SIZE]) {
    if (value == floor(value) && fabs(value) <= WHOLE_MAX) {
        snprintf(ret_text, REAL_TEXT_SIZE, "%.0f", value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) { /* 15 are always exact, and 17 always enough */
        snprintf(ret_text, REAL_TEXT_SIZE, "%.*g", digits, value);
        if (strtod(ret_text, NULL) == value)
            return;
    }
}
