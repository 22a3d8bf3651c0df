/* Which names of a listing are sent with their attributes (READDIRPLUS).
 *
 * The kernel asks for attributes with the first names of a directory (all of a small one), and goes on while it sees
 * one of them used. Sent attributes cost a lookup, used or not. Missing attributes cost a LOOKUP if the caller needs
 * them. So sending pays off for a caller that uses a third of the attributes or more. For a caller that used only names
 * and one stat in ten, sending took four fifths of the time. We do not see the use of attributes that were sent. So
 * some names are sent without attributes, and the LOOKUPs for these names show what share of attributes the caller
 * uses.
 *
 * A caller's share counts for all directories that it lists, most of which are small. LOOKUPs count for the caller that
 * listed their directory last, whichever thread sends them. Callers and directories have a place each by their number,
 * which the latest overwrites. Nothing here is exact, since nobody waits: errors make listing slower, never wrong. */
#include "pass_private.h"

#define PERIOD_FIRST 8U /* one name in so many is sent bare: while little is known, */
#define PERIOD_USER 64U /* for callers that use attributes, */
#define PERIOD_OTHER 1U /* and for other callers: all names */
#define ENOUGH 32U      /* bare names needed for a judgement */
#define WORTH_ONE_IN 3U /* share of attributes used below which LOOKUPs cost less (docs/internals/benchmarks.md) */

static uint32_t load(const uint32_t *counter) {
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void store(uint32_t *counter, uint32_t value) {
    __atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

/* Few names may mislead by chance, but then the error costs little. */
static void judge(struct lister *lister) {
    uint32_t bare = load(&lister->bare_count);
    if (bare < ENOUGH)
        return;
    bool is_worth_it = WORTH_ONE_IN * load(&lister->looked_count) >= bare;
    uint32_t period = load(&lister->period) == PERIOD_OTHER ? PERIOD_FIRST : PERIOD_USER;
    store(&lister->period, is_worth_it ? period : PERIOD_OTHER);
    store(&lister->bare_count, 0);
    store(&lister->looked_count, 0);
}

struct lister *pass_start_listing(struct pass *pass, const struct fs_caller *caller, fs_ino directory) {
    uint32_t place = (uint32_t)caller->pid % PASS_LISTERS;
    struct lister *lister = &pass->listers[place];
    struct listed *listed = &pass->listed[directory % PASS_LISTERS];
    if (load(&lister->pid) != (uint32_t)caller->pid) {
        store(&lister->pid, (uint32_t)caller->pid);
        store(&lister->period, PERIOD_FIRST);
        store(&lister->name_count, 0);
        store(&lister->bare_count, 0);
        store(&lister->looked_count, 0);
    }
    judge(lister);
    __atomic_store_n(&listed->directory, directory, __ATOMIC_RELAXED);
    store(&listed->lister, place);
    return lister;
}

bool pass_next_has_attributes(struct lister *lister) {
    uint32_t names = load(&lister->name_count) + 1;
    store(&lister->name_count, names);
    if (names % load(&lister->period) != 0)
        return true;
    store(&lister->bare_count, load(&lister->bare_count) + 1);
    return false;
}

/* Counts no more LOOKUPs than there are bare names: beyond that nothing is written, so no worker waits for another's
 * cache line. */
void pass_note_look(struct pass *pass, fs_ino directory) {
    const struct listed *listed = &pass->listed[directory % PASS_LISTERS];
    if (__atomic_load_n(&listed->directory, __ATOMIC_RELAXED) != directory)
        return;
    struct lister *lister = &pass->listers[load(&listed->lister)];
    uint32_t looked = load(&lister->looked_count);
    if (looked < load(&lister->bare_count))
        store(&lister->looked_count, looked + 1);
}
