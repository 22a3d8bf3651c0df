/* The functions that a preloaded object stands before. */
#ifndef REAL_H
#define REAL_H

/* The next function of that name behind this object's: what would be called without it. Of one that nobody has, a
 * function that fails with ENOSYS, returning -1. Keeps errno. */
void *real_find(const char *symbol);

#endif
