/* What a live file does not tell of calls in flight. */
#ifndef IN_FLIGHT_H
#define IN_FLIGHT_H

#include "input.h"

/* Of a profile that was read from a live file into which somebody still records: the names of the callers' programs,
 * and, as far as the mount tells them at once in its control file, the paths that calls work on. A mount that hangs
 * may not answer: then there are no paths. */
void in_flight_find_out(struct input *input);

#endif
