/* The trial of the manners: short steps by turns, so that what changes meanwhile falls on all. What a manner does to
 * where callers run takes a while to show. */
#include "crew_trial.h"

#include <string.h>

#define STEP_LOOKS 4U
#define CHANGE_LOOKS 1U /* of them, that do not count */
#define ROUNDS 2U
#define PAUSE_LOOKS 500U /* before the first trial; doubled after each that has changed nothing */
#define PAUSE_LOOKS_MAX 8000U
#define SOON_LOOKS 8U
#define PLACED_LOOKS 50U /* the scheduler takes some 70 ms to part callers */
#define CHECK_LOOKS 16U
#define MANY_WORSE 2U
#define WORTH 1.1 /* so many times the calls in the same time */
#define CLEAR 1.2 /* that needs no other round */

static void try_all(struct crew_trial *trial) {
    for (unsigned manner = 0; manner < CREW_MANNERS; manner++)
        trial->among[manner] = true;
    trial->all_later = false;
}

void crew_trial_begin(struct crew_trial *trial, enum crew_manner settled) {
    *trial = (struct crew_trial){.settled = settled, .tried = settled, .pause_looks = PAUSE_LOOKS};
    try_all(trial);
}

static void begin_between(struct crew_trial *trial, enum crew_manner settled, enum crew_manner other,
                          unsigned pause_looks) {
    crew_trial_begin(trial, settled);
    for (unsigned manner = 0; manner < CREW_MANNERS; manner++)
        trial->among[manner] = manner == settled || manner == other;
    trial->pause_looks = pause_looks;
}

void crew_trial_begin_more(struct crew_trial *trial) {
    begin_between(trial, CREW_GIVES_WAY, CREW_GOES_FIRST, PLACED_LOOKS);
    trial->all_later = true;
}

void crew_trial_begin_queue(struct crew_trial *trial) {
    begin_between(trial, CREW_IS_FREE, CREW_GIVES_WAY, SOON_LOOKS);
}

/* Calls per cycle. */
static double rate_of(const struct crew_trial *trial, enum crew_manner manner) {
    return trial->cycles[manner] > 0 ? (double)trial->calls[manner] / (double)trial->cycles[manner] : 0;
}

/* The one after it, in a circle, among those that are tried. */
static enum crew_manner next_of(const struct crew_trial *trial, enum crew_manner manner) {
    do
        manner = (manner + 1) % CREW_MANNERS;
    while (!trial->among[manner]);
    return manner;
}

static enum crew_manner best_of(const struct crew_trial *trial, enum crew_manner but) {
    enum crew_manner best = next_of(trial, but);
    for (enum crew_manner manner = best; manner != but; manner = next_of(trial, manner)) {
        if (rate_of(trial, manner) > rate_of(trial, best))
            best = manner;
    }
    return best;
}

static unsigned count_of(const struct crew_trial *trial) {
    unsigned count = 0;
    for (unsigned manner = 0; manner < CREW_MANNERS; manner++)
        count += trial->among[manner];
    return count;
}

/* At the end of a round. */
static bool is_decided(const struct crew_trial *trial) {
    double settled = rate_of(trial, trial->settled);
    double other = rate_of(trial, best_of(trial, trial->settled));
    return trial->step > ROUNDS * count_of(trial) || settled > other || other > CLEAR * settled;
}

static unsigned next_pause(const struct crew_trial *trial, bool changes) {
    if (changes || trial->pause_looks < PAUSE_LOOKS)
        return PAUSE_LOOKS;
    return trial->pause_looks < PAUSE_LOOKS_MAX / 2 ? 2 * trial->pause_looks : PAUSE_LOOKS_MAX;
}

static void settle(struct crew_trial *trial) {
    enum crew_manner other = best_of(trial, trial->settled);
    bool changes = rate_of(trial, other) > WORTH * rate_of(trial, trial->settled);
    trial->pause_looks = next_pause(trial, changes);
    if (changes)
        trial->settled = other;
    trial->was_clear = rate_of(trial, trial->settled) > CLEAR * rate_of(trial, best_of(trial, trial->settled));
    /* What nothing else betters is not worse than can be expected, whatever it served in the trial. */
    trial->settled_rate = !changes && trial->worse_rate > 0 ? trial->worse_rate : rate_of(trial, trial->settled);
    trial->worse_rate = 0;
    trial->tried = trial->settled;
    trial->step = 0;
    trial->worse_checks = 0;
    if (trial->all_later)
        try_all(trial);
    memset(trial->calls, 0, sizeof(trial->calls));
    memset(trial->cycles, 0, sizeof(trial->cycles));
}

static void note_begin(struct crew_trial *trial, uint64_t calls, uint64_t now_cycles) {
    trial->began_calls = calls;
    trial->began_cycles = now_cycles;
}

/* The settled manner need not be what it was in the trial, which may have moved the callers. Returns whether another
 * trial is due. */
static bool check(struct crew_trial *trial, uint64_t calls, uint64_t now_cycles) {
    if (trial->looks % CHECK_LOOKS == 0) {
        double rate = (double)(calls - trial->began_calls) / (double)(now_cycles - trial->began_cycles);
        trial->worse_checks = rate * CLEAR < trial->settled_rate ? trial->worse_checks + 1 : 0;
        note_begin(trial, calls, now_cycles);
        if (trial->worse_checks >= MANY_WORSE)
            trial->worse_rate = rate;
    }
    return trial->worse_checks >= MANY_WORSE || trial->looks >= trial->pause_looks;
}

static void next_step(struct crew_trial *trial) {
    trial->step++;
    trial->looks = 0;
}

static void end_step(struct crew_trial *trial, uint64_t calls, uint64_t now_cycles) {
    trial->calls[trial->tried] += calls - trial->began_calls;
    trial->cycles[trial->tried] += now_cycles - trial->began_cycles;
    trial->tried = next_of(trial, trial->tried);
    next_step(trial);
    if (trial->tried == trial->settled && is_decided(trial))
        settle(trial);
}

enum crew_manner crew_trial_look(struct crew_trial *trial, uint64_t calls, uint64_t now_cycles) {
    trial->looks++;
    if (trial->looks == CHANGE_LOOKS)
        note_begin(trial, calls, now_cycles);
    else if (trial->step == 0 && check(trial, calls, now_cycles))
        next_step(trial);
    else if (trial->step > 0 && trial->looks >= STEP_LOOKS)
        end_step(trial, calls, now_cycles);
    return trial->tried;
}
