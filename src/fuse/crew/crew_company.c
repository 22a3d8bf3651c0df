/* How many callers the crew has, and what is likely to serve them best. */
#include "crew_private.h"

#define SOME_ON_NAMES 4U /* one in so many calls */

bool crew_is_crowded(const struct crew *crew) {
    return cpu_wanting_threads() > crew->crowd;
}

/* Callers who change or look up names mostly hold locks that others spin for, and are best not kept from going on. */
enum crew_company crew_company_of(const struct crew *crew, uint64_t callers, unsigned calls, unsigned on_names) {
    unsigned number = crew_count_callers(callers);
    if (number <= 1)
        return CREW_HAS_ONE;
    unsigned cpus = (unsigned)CPU_COUNT(&crew->home.cpus);
    if (number <= cpus || on_names >= calls / SOME_ON_NAMES)
        return CREW_HAS_FEW;
    return number <= 2 * cpus ? CREW_HAS_MORE : CREW_HAS_MANY;
}

void crew_begin_trial_locked(struct crew *crew, bool is_starved) {
    if (is_starved)
        crew_trial_begin(&crew->trial, CREW_IS_ALONE);
    else if (crew->company == CREW_HAS_QUEUE)
        crew_trial_begin_queue(&crew->trial);
    else if (crew->company == CREW_HAS_MORE)
        crew_trial_begin_more(&crew->trial);
    else
        crew_trial_begin(&crew->trial, crew->company == CREW_HAS_MANY ? CREW_GOES_FIRST : CREW_GIVES_WAY);
}
