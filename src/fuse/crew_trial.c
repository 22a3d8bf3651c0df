/* The trial of the manners: short steps by turns, so that what changes meanwhile falls on all. */
#include "crew_trial.h"

#include <string.h>

#define STEP_LOOKS 3U
#define ROUNDS 2U
#define SETTLED_LOOKS 250U
#define WORTH 1.03 /* so many times the calls in the same time */
#define CLEAR 1.2  /* that needs no other round */

void crew_trial_begin(struct crew_trial *trial, enum crew_manner settled) {
    *trial = (struct crew_trial){.settled = settled, .tried = settled, .looks = SETTLED_LOOKS};
}

/* Calls per cycle. */
static double rate_of(const struct crew_trial *trial, enum crew_manner manner) {
    return trial->cycles[manner] > 0 ? (double)trial->calls[manner] / (double)trial->cycles[manner] : 0;
}

static enum crew_manner best_of(const struct crew_trial *trial, enum crew_manner but) {
    enum crew_manner best = but == CREW_GIVES_WAY ? CREW_GOES_FIRST : CREW_GIVES_WAY;
    for (enum crew_manner manner = best; manner < CREW_MANNERS; manner++) {
        if (manner != but && rate_of(trial, manner) > rate_of(trial, best))
            best = manner;
    }
    return best;
}

/* At the end of a round. */
static bool is_decided(const struct crew_trial *trial) {
    double settled = rate_of(trial, trial->settled);
    double other = rate_of(trial, best_of(trial, trial->settled));
    return trial->step > ROUNDS * CREW_MANNERS || settled > CLEAR * other || other > CLEAR * settled;
}

static void settle(struct crew_trial *trial) {
    enum crew_manner other = best_of(trial, trial->settled);
    if (rate_of(trial, other) > WORTH * rate_of(trial, trial->settled))
        trial->settled = other;
    trial->tried = trial->settled;
    trial->step = 0;
    memset(trial->calls, 0, sizeof(trial->calls));
    memset(trial->cycles, 0, sizeof(trial->cycles));
}

static void take_step(struct crew_trial *trial, uint64_t calls, uint64_t now_cycles) {
    if (trial->step > 0) {
        trial->calls[trial->tried] += calls - trial->began_calls;
        trial->cycles[trial->tried] += now_cycles - trial->began_cycles;
        trial->tried = (trial->tried + 1) % CREW_MANNERS;
    }
    trial->step++;
    trial->looks = 0;
    trial->began_calls = calls;
    trial->began_cycles = now_cycles;
    if (trial->step > 1 && trial->step % CREW_MANNERS == 1 && is_decided(trial))
        settle(trial);
}

enum crew_manner crew_trial_look(struct crew_trial *trial, uint64_t calls, uint64_t now_cycles) {
    trial->looks++;
    if (trial->looks >= (trial->step == 0 ? SETTLED_LOOKS : STEP_LOOKS))
        take_step(trial, calls, now_cycles);
    return trial->tried;
}
