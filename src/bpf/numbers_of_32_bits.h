#ifndef NUMBERS_OF_32_BITS_H
#define NUMBERS_OF_32_BITS_H

#include "collected.h"

/* By the numbers that 32-bit programs use: the number of the same call of 64 bits, and one more; 0: not counted. */
extern const unsigned short numbers_of_32_bits[COLLECTED_SYSCALLS];

#endif
