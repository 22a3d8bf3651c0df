/* Private: numbers as the views write them. */
#ifndef VALUES_H
#define VALUES_H

#define REAL_TEXT_SIZE 32

/* The shortest decimal that is read back as the same number, without an exponent if it is whole and up to 2^53. For
 * finite numbers; the locale must have the decimal point. */
void format_real(double value, char ret_text[REAL_TEXT_SIZE]);

#endif
