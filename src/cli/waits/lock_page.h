/* Which locks of the kernel threads fought for, as a part of the page of waits, and of its JSON. */
#ifndef LOCK_PAGE_H
#define LOCK_PAGE_H

#include "lock_watch.h"
#include "wait_page.h"

#define LOCK_PAGE_SENTENCE_SIZE 256

/* How long threads have fought for locks, asleep and spinning, as a sentence. A pure function */
void lock_page_describe(uint64_t asleep_ns, uint64_t spinning_ns, bool ascii, char ret_text[LOCK_PAGE_SENTENCE_SIZE]);

/* Errors:  -ENOMEM */
int lock_page_put(struct sheet *sheet, const struct wait_watch *watch, const struct wait_page_options *options);

#endif
