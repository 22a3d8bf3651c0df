/* The terminal, taken over as a whole by ncurses and given back as it was: at the end, and when a signal ends us. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "screen.h"

/* Takes over the terminal that standard input and output are. Between this and terminal_leave() nothing else may be
 * written to it. SIGINT, SIGQUIT, SIGTERM and SIGHUP then give it back before they end the process; SIGTSTP gives it
 * back until SIGCONT.
 * Errors:  -ENOTTY, -ENOTSUP it cannot do what is needed: already told to the user, and nothing was written to it */
int terminal_enter(void);

void terminal_leave(void);

/* Waits for a key.
 * timeout_ns: 0: not at all; negative: for ever
 * other_fd: waits for this, too, until it can be read; -1: nothing
 * Returns a character or a KEY_ of ncurses; KEY_RESIZE also when the screen has to be drawn again for another reason;
 *         0: none yet; -1: the terminal is gone */
int terminal_wait_key(int64_t timeout_ns, int other_fd);

/* How ncurses draws in an ink. */
unsigned long terminal_attributes(enum ink ink);

#endif
