/* Which locks of the kernel threads fought for, as a part of the page of waits, and of its JSON. */
#ifndef LOCK_PAGE_H
#define LOCK_PAGE_H

#include "lock_watch.h"
#include "wait_page.h"

/* Errors:  -ENOMEM */
int lock_page_print(const struct wait_watch *watch, const struct wait_page_options *options,
                    const struct screen *screen);

#endif
