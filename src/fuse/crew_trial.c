/* The trial of two manners: short steps by turns, so that what changes meanwhile falls on both. */
#include "crew_trial.h"

#include <string.h>

#define STEP_LOOKS 3U
#define STEPS 6U
#define SETTLED_LOOKS 250U
#define WORTH 1.03 /* so many times the calls in the same time */
#define CLEAR 1.2  /* that needs no more steps */

void crew_trial_begin(struct crew_trial *trial, enum crew_manner settled) {
    *trial = (struct crew_trial){.settled = settled, .tried = settled, .looks = SETTLED_LOOKS};
}

static enum crew_manner other_than(enum crew_manner manner) {
    return manner == CREW_GIVES_WAY ? CREW_GOES_FIRST : CREW_GIVES_WAY;
}

/* Calls per cycle. */
static double rate_of(const struct crew_trial *trial, enum crew_manner manner) {
    return trial->cycles[manner] > 0 ? (double)trial->calls[manner] / (double)trial->cycles[manner] : 0;
}

static bool is_decided(const struct crew_trial *trial) {
    bool both_as_long = trial->step % 2 == 1;
    double settled = rate_of(trial, trial->settled);
    double other = rate_of(trial, other_than(trial->settled));
    bool is_clear = settled > CLEAR * other || other > CLEAR * settled;
    return trial->step > STEPS || (trial->step > 1 && both_as_long && is_clear);
}

static void settle(struct crew_trial *trial) {
    enum crew_manner other = other_than(trial->settled);
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
        trial->tried = other_than(trial->tried);
    }
    trial->step++;
    trial->looks = 0;
    trial->began_calls = calls;
    trial->began_cycles = now_cycles;
    if (is_decided(trial))
        settle(trial);
}

enum crew_manner crew_trial_look(struct crew_trial *trial, uint64_t calls, uint64_t now_cycles) {
    trial->looks++;
    if (trial->looks >= (trial->step == 0 ? SETTLED_LOOKS : STEP_LOOKS))
        take_step(trial, calls, now_cycles);
    return trial->tried;
}
