/* Events files made of text, for tests. Lines:
 *
 *   host NAME
 *   boot ID
 *   hz NUMBER            cycles a second of the clock, as it is stated; default 1000000000
 *   drift PPM            so much faster it really is
 *   ahead NS             so much the wall clock is ahead of the true time
 *   error NS             by how much the kernel says that it may be
 *   path NODE TEXT
 *   end US               when recording ended; default: after a second, and with the last call
 *   call THREAD START_US LATENCY_US OP NODE [COLUMN=NUMBER]... [errno=NUMBER] [TEXT=WORD]...
 *
 * Times are true ones, since the beginning. Calls of a thread are in order. "%2F" in a word is "/", "%00" a zero. */
#ifndef EVENTS_SCRIPT_H
#define EVENTS_SCRIPT_H

#include <stdio.h>

#include "events_writer.h"

/* writer: zeroed; afterwards it holds the file. A script that cannot be read ends the program. */
void events_script_read(FILE *input, struct events_writer *writer);

#endif
