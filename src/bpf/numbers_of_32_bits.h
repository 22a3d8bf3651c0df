#ifndef NUMBERS_OF_32_BITS_H
#define NUMBERS_OF_32_BITS_H

#include "collected.h"

/* Of later headers than this may be built with. From 424 on calls have the same numbers on all machines. */
enum {
    SYS_LATER_cachestat = 451,
    SYS_LATER_fchmodat2 = 452,
    SYS_LATER_setxattrat = 463,
    SYS_LATER_getxattrat = 464,
    SYS_LATER_listxattrat = 465,
    SYS_LATER_removexattrat = 466,
    SYS_LATER_file_getattr = 468,
    SYS_LATER_file_setattr = 469,
};

/* By the numbers that 32-bit programs use: the number of the same call of 64 bits, and one more; 0: not counted. */
extern const unsigned short numbers_of_32_bits[COLLECTED_SYSCALLS];

#endif
