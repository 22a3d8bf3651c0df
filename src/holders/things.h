/* Which causes of the table that comes with osproffs mean that somebody has what a thread waits for. */
#ifndef THINGS_H
#define THINGS_H

#include "holders_chain.h"

/* cause: in words; NULL: none */
enum holders_thing things_of_cause(const char *cause);

/* The rows: patterns of words, as in a shell. NULL behind the last one */
const char *things_pattern(size_t index);

#endif
