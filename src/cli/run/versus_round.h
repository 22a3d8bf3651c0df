/* A round: each command once, in mounts of its own. */
#ifndef VERSUS_ROUND_H
#define VERSUS_ROUND_H

#include "versus.h"

/* it->vs is set. Errors: -ENOMEM; finished nevertheless */
int versus_init(struct versus *it);
void versus_finish(struct versus *it);

/* Which command is first is thrown, if there are several rounds. *it has the profiles then, but does not count them.
 * Returns 0: all went well; -ECANCELED: the runs end here, before the round is complete; other errors: told */
int versus_make_round(struct versus *it);

/* Saves and keeps what the latest round has left. Errors: told */
int versus_count_round(struct versus *it);

#endif
