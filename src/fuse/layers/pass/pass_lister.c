/* Which names of a listing go up with their attributes (READDIRPLUS).
 *
 * The kernel asks for attributes with the first names of a directory, and goes on while it sees one of them used. Each
 * takes a lookup, whether it is used or not; one that is missing takes a LOOKUP, if it is used. So they are worth it
 * for who uses a third of them or more. Uses of attributes that went up are not seen here. So of some names they are
 * left out, and the LOOKUPs that come for these tell what share of them the caller uses.
 *
 * A caller's share counts for all directories that it lists, most of which are small. LOOKUPs count for who has listed
 * their directory last, whichever thread they come from. Callers and directories have a place each by their number,
 * which the latest takes. Nothing here is exact, since nobody waits: what is lost makes listing dearer, never wrong. */
#include "pass_private.h"

#define PERIOD_FIRST 8U /* of so many names one goes up bare: while little is known, */
#define PERIOD_USER 64U /* of who uses attributes, */
#define PERIOD_OTHER 1U /* and of others: all of them */
#define ENOUGH 32U      /* bare names, to judge by */
#define WORTH_ONE_IN 3U /* attributes that are used: below that, LOOKUPs cost less (docs/benchmarks.md) */

static uint32_t load(const uint32_t *counter) {
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static void store(uint32_t *counter, uint32_t value) {
    __atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

/* What some names seem to tell may be chance: then it costs little. */
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

static void take_place(struct lister *lister, uint32_t pid) {
    store(&lister->pid, pid);
    store(&lister->period, PERIOD_FIRST);
    store(&lister->name_count, 0);
    store(&lister->bare_count, 0);
    store(&lister->looked_count, 0);
}

struct lister *pass_start_listing(struct pass *pass, const struct fs_caller *caller, fs_ino directory) {
    uint32_t place = (uint32_t)caller->pid % PASS_LISTERS;
    struct lister *lister = &pass->listers[place];
    struct listed *listed = &pass->listed[directory % PASS_LISTERS];
    if (load(&lister->pid) != (uint32_t)caller->pid)
        take_place(lister, (uint32_t)caller->pid);
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

/* No more than there are bare names: then nothing is written, and no worker waits for another's cache line. */
void pass_note_look(struct pass *pass, fs_ino directory) {
    const struct listed *listed = &pass->listed[directory % PASS_LISTERS];
    if (__atomic_load_n(&listed->directory, __ATOMIC_RELAXED) != directory)
        return;
    struct lister *lister = &pass->listers[load(&listed->lister)];
    uint32_t looked = load(&lister->looked_count);
    if (looked < load(&lister->bare_count))
        store(&lister->looked_count, looked + 1);
}
