/* The end of osprof attach: its result is kept, saved and shown. */
#ifndef ATTACH_PAGE_H
#define ATTACH_PAGE_H

#include <stdbool.h>

#include "attach_profile.h"
#include "kept.h"

/* What calls by names may be that are not told. */
struct attach_not_told {
    const char *whose; /* "of all programs of this machine" */
    const char *where; /* "here or on any other file system" */
};

struct attach_report {
    const char *file;       /* where it is saved besides; NULL: nowhere */
    bool is_quiet;          /* no page */
    bool is_verbose;        /* all of it */
    bool is_beside_another; /* osprof attach, which was running when this one began: the cost cannot be measured */
    struct attach_not_told not_told;
    char *attached; /* the arguments that say what was watched */
};

/* Call when the recorders are complete, before they are finished. What can be saved nowhere stays in the live file.
 * Errors:  reported to the user */
int attach_page(struct attach_profile *profile, struct kept *kept, const struct attach_report *report);

#endif
