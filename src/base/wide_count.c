/* Sums of counts as text. */
#include "wide_count.h"

#include <string.h>

const char *wide_count_format(wide_count count, char ret_text[WIDE_COUNT_TEXT_SIZE]) {
    char reversed[WIDE_COUNT_TEXT_SIZE];
    size_t length = 0;
    do {
        reversed[length++] = (char)('0' + (int)(count % 10));
        count /= 10;
    } while (count > 0);
    for (size_t i = 0; i < length; i++)
        ret_text[i] = reversed[length - 1 - i];
    ret_text[length] = '\0';
    return ret_text;
}
