/* The end of osprof attach: its result is kept, saved and shown. */
#ifndef ATTACH_PAGE_H
#define ATTACH_PAGE_H

#include <stdbool.h>

#include "attach_profile.h"
#include "kept.h"

struct attach_report {
    const char *file;           /* where it is saved besides; NULL: nowhere */
    bool is_quiet;              /* no page */
    bool is_verbose;            /* all of it */
    bool is_beside_another;     /* osprof attach, which was running when this one began: the cost cannot be measured */
    enum aggstats_untold whose; /* the calls by names that are not told */
    char *attached;             /* the arguments that say what was watched */
};

/* Call when the recorders are complete, before they are finished. What can be saved nowhere stays in the live file.
 * Errors:  reported to the user */
int attach_page(struct attach_profile *profile, struct kept *kept, const struct attach_report *report);

#endif
