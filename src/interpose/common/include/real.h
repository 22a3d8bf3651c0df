/* The functions that a preloaded object wraps. */
#ifndef REAL_H
#define REAL_H

/* The next function of that name behind this object's: the one called without it. If there is none, that of the
 * library, if it is loaded, which then stays so; NULL if there is no such library. If nobody has the function: one that
 * fails with ENOSYS, returning -1. Keeps errno, but not always the message of dlerror(3). */
void *real_find(const char *symbol, const char *library);

#endif
