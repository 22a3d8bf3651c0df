/* The terminal, taken over as a whole by ncurses and restored: at the end, and when a signal ends us. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdint.h>

#include "screen.h"

/* Takes over the terminal that standard input and output are. Between this and terminal_leave() nothing else may be
 * written to it. SIGINT, SIGQUIT, SIGTERM and SIGHUP then restore it before they end the process; SIGTSTP restores it
 * until SIGCONT.
 * Errors:  -ENOTTY, -ENOTSUP it lacks abilities: already reported to the user, and nothing was written to it */
int terminal_enter(void);

void terminal_leave(void);

/* Waits for a key.
 * timeout_ns: 0: not at all; negative: for ever
 * other_fd: also waits until this is readable; -1: nothing
 * Returns a character or a KEY_ of ncurses; KEY_RESIZE also if the screen must be redrawn for another reason; 0: none
 * yet; -1: the terminal is gone */
int terminal_wait_key(int64_t timeout_ns, int other_fd);

/* The attributes of ncurses for an ink. */
unsigned long terminal_attributes(enum ink ink);

#endif
