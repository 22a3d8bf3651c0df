/* Reading requests from the FUSE device and writing answers to it, in libfuse's place: to see when an answer goes. */
#ifndef DEVICE_H
#define DEVICE_H

#include <fuse_lowlevel.h>
#include <stdint.h>

/* The session's user data is a struct glue.
 * Errors: -ENOMEM. Call after mounting, before the first request is received */
int device_attach(struct fuse_session *fuse);

/* Notes from now on when this thread answers, by that clock (enum aggstats_clock_kind). */
void device_watch_answers(uint32_t clock_kind);

/* When this thread last answered since the call before; 0: it did not.
 * Unit: cycles of the clock */
uint64_t device_take_answer_time(void);

#endif
