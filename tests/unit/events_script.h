/* Makes events files from text, for tests. Lines:
 *
 *   host NAME
 *   boot ID
 *   hz NUMBER            stated rate of the clock; default 1000000000
 *   drift PPM            how much faster the clock really is
 *   ahead NS             how far the wall clock is ahead of the true time
 *   error NS             the kernel's bound on that
 *   path NODE TEXT
 *   end US               when recording ended; default: after a second, and with the last call
 *   call THREAD START_US LATENCY_US OP NODE [COLUMN=NUMBER]... [errno=NUMBER] [TEXT=WORD]...
 *
 * Times are true ones, since the beginning. Calls of a thread are in order. "%2F" in a word is "/", "%00" a zero. */
#ifndef EVENTS_SCRIPT_H
#define EVENTS_SCRIPT_H

#include <stdio.h>

#include "events_writer.h"

/* writer: zeroed; afterwards it holds the file. Ends the program if the script cannot be read. */
void events_script_read(FILE *input, struct events_writer *writer);

#endif
