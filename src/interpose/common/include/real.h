/* The functions that a preloaded object stands before. */
#ifndef REAL_H
#define REAL_H

/* The next function of that name behind this object's: what would be called without it. If there is none, that of the
 * library, should it be loaded, which then stays so; NULL: there is no such library. Of one that nobody has, a function
 * that fails with ENOSYS, returning -1. Keeps errno, but not always what dlerror(3) is to say. */
void *real_find(const char *symbol, const char *library);

#endif
