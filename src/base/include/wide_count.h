/* Exact sums of 64-bit counts: of calls over operations, groups, causes or profiles. A profile may hold any counts, so
 * their sum can exceed 64 bits, and a sum that wraps around looks like any other number. */
#ifndef WIDE_COUNT_H
#define WIDE_COUNT_H

/* The sum of up to 2^64 counts. */
__extension__ typedef unsigned __int128 wide_count;

#define WIDE_COUNT_MAX ((wide_count)-1)
#define WIDE_COUNT_TEXT_SIZE 40 /* 39 digits */

/* In decimal digits: printf has no conversion for it. Returns ret_text */
const char *wide_count_format(wide_count count, char ret_text[WIDE_COUNT_TEXT_SIZE]);

#endif
