/* Groupings as options have them: "process+file". */
#ifndef GROUPINGS_H
#define GROUPINGS_H

#include "option_table.h"

/* Reads words with + between them.
 * words:   those that are allowed, NULL at the end
 * Returns NULL, or what is wrong with the text, in why; *ret_groupings, bits (1 << AGGSTATS_BY_PROCESS), is untouched then */
const char *groupings_parse(const char *text, const char *const *words, unsigned *ret_groupings,
                            char why[OPTION_TEXT_SIZE]);

#endif
