/* The turn to begin: of all osprof attach of a user one at a time looks for the others' live profiles, loads its programs and
 * makes its own live profile. So of two that begin together one finds the other, and none measures what another one costs
 * that is just loading. It is a lock on the directory of live files: nothing is left of one that is killed. */
#ifndef ATTACH_TURN_H
#define ATTACH_TURN_H

/* Waits for it, but not for one that does not get on: 30 seconds at most.
 * Returns -1 if it is not available. */
int attach_turn_begin(void);

/* turn_fd: is -1 then, and may be before */
void attach_turn_end(int *turn_fd);

#endif
