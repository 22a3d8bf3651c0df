/* Private: from effects that were judged to words. */
#ifndef VERDICT_WORDS_H
#define VERDICT_WORDS_H

#include "verdict_runs.h"

/* An op's word, what made it a change, and how many more runs would decide. */
void verdict_find_word(const struct verdict_runs *runs, struct verdict_op *op);

/* The same of the common factor, if there is one. */
void verdict_find_common_word(struct verdict_runs *runs);

#endif
