/* What the facts of a profile say, in words. Each sentence is made here and nowhere else. */
#ifndef FACTS_TEXT_H
#define FACTS_TEXT_H

#include "aggstats.h"
#include "sheet.h"

#define FACTS_TEXT_ALL_NAMES SIZE_MAX

/* "4 statically linked programs (busybox 1.90 s in 3 runs, mc), 1 program with io_uring"; nothing if all was seen. In
 * names of programs the characters that separate names are '?'.
 * names_max: of each kind; more become "..." */
void facts_text_add_not_seen(struct str *text, const struct aggstats_profile *profile, size_t names_max);

/* The same, cut to that many columns. Owner: the caller. Returns NULL if all was seen, or without memory */
char *facts_text_not_seen(const struct aggstats_profile *profile, const struct screen *screen, int columns);

/* "how long 2 calls took that had begun before osprof attached; ..."; nothing if no call is missing. */
void facts_text_add_not_told(struct str *text, const struct aggstats_profile *profile);

/* "about 300 ns more for each of 52,310 system calls of this machine, 812 ns for those counted"; nothing if unknown. */
void facts_text_add_cost(struct str *text, const struct aggstats_profile *profile, const struct units *units);

/* "status 3", "signal 9 (Killed), in the first run that failed"; nothing if unknown. */
void facts_text_add_exit(struct str *text, const struct aggstats_profile *profile);

/* Puts the facts that are part of what was profiled, an entry each. */
void facts_text_put(struct sheet *sheet, const struct aggstats_profile *profile);

/* The most frequent kind of failure of an operation; AGGSTATS_FAILURES: none has failed. */
unsigned facts_text_commonest_failure(const struct aggstats_op_profile *op);

/* Puts "12 failed: ENOENT 10, EACCES 2; 4.10 MiB moved of 5.00 MiB asked", the most frequent error first; nothing if
 * there is none. */
void facts_text_put_outcome(struct sheet *sheet, const struct aggstats_op_profile *op);

/* Adds how much other programs read or wrote at the disk of a command during its run. Returns false, and adds nothing,
 * if that is not known, or is less than the command did. */
bool facts_text_add_disk_others(struct str *text, const struct aggstats_profile *profile, const struct screen *screen);

/* Adds "4,120 of 4,203 FSYNCs from commit_row of db"; of all slow calls of which that was to be found out.
 * Returns false, and adds nothing, if no function made half of them */
bool facts_text_add_callers(struct str *text, const struct aggstats_profile *profile, const char *op);

/* The operation with most slow calls for which there is such a text; NULL: there is none. Owner: the profile */
const char *facts_text_first_called(const struct aggstats_profile *profile);

#endif
