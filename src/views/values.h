/* Private: numbers and characters as the views write them. */
#ifndef VALUES_H
#define VALUES_H

#include <stddef.h>

#define REAL_TEXT_SIZE 32

/* The shortest decimal that is read back as the same number, without an exponent if it is whole and up to 2^53. For
 * finite numbers, where the locale has the decimal point. */
void format_real(double value, char ret_text[REAL_TEXT_SIZE]);

/* Steps over one character of *text: *ret_character and the result are its bytes. What is no UTF-8 becomes, byte by
 * byte, U+FFFD, since the readers of all views take UTF-8 only. Returns 0 at the end */
size_t next_character(const char **text, const char **ret_character);

#endif
