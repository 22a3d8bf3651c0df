/* The end of osprof attach: its result is kept, saved and shown. */
#ifndef ATTACH_PAGE_H
#define ATTACH_PAGE_H

#include <stdbool.h>

#include "attach_profile.h"
#include "kept.h"

struct attach_report {
    const char *file; /* where it is saved besides; NULL: nowhere */
    bool is_quiet;    /* no page */
    bool is_verbose;  /* all of it */
};

/* Call when the recorders are complete, before they are finished.
 * Errors:  reported to the user */
int attach_page(const struct attach_profile *profile, struct kept *kept, const struct attach_report *report);

#endif
