/* Numbers of rounds. */
#include "run_looks.h"

unsigned run_looks_next(unsigned rounds, unsigned most) {
    unsigned next = RUN_LOOKS_FIRST;
    while (next <= rounds)
        next = (3 * next + 1) / 2;
    return next + next / 4 < most ? next : most; /* few more would make the last look a poor one */
}

unsigned run_looks_count(unsigned most) {
    unsigned count = 0;
    for (unsigned rounds = 0; rounds < most; count++)
        rounds = run_looks_next(rounds, most);
    return count;
}
