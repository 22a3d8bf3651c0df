/* libaggstats, inside this project: causes as values, as fields of files, and as words. Pure functions. */
#ifndef AGGSTATS_WHY_H
#define AGGSTATS_WHY_H

#include "aggstats.h"

#define AGGSTATS_WHY_TEXT_SIZE 160

/* "disk_read" */
const char *aggstats_cause_class_name(enum aggstats_cause_class class);

/* AGGSTATS_CAUSE_CLASSES: there is none of that name. */
enum aggstats_cause_class aggstats_cause_class_of_name(const char *name);

/* True if a disk may be waited for. */
bool aggstats_cause_class_is_of_disk(enum aggstats_cause_class class);

/* True if a process has what is waited for, and may be found. */
bool aggstats_cause_class_has_holder(enum aggstats_cause_class class);

/* True for letters, digits, '_', '-' and '.', of which there is at least one and not too many. */
bool aggstats_cause_id_valid(const char *id);

/* True for what a recorder can have written, with words; also for memory that anybody has written. */
bool aggstats_why_valid(const struct aggstats_why *why);

bool aggstats_why_is_same(const struct aggstats_why *a, const struct aggstats_why *b);

/* "another thread: waiting for the disk (since before osprof attached)"; "": unknown. Returns ret_text */
const char *aggstats_why_text(const struct aggstats_why *why, char ret_text[AGGSTATS_WHY_TEXT_SIZE]);

#endif
