/* Functions of the objects that the loader has loaded behind this one, as dlsym(RTLD_NEXT, ...) finds them, up to the C
 * library: what is behind that may be unloaded some day.
 *
 * Only their symbol tables are read, and memory that nobody changes: this takes no lock, and uses no variable of a thread
 * (errno) and no message of dlerror(3). So it may be called at any time, in a signal handler and in a child of clone(2)
 * that has no thread area (wrapper.h) too. */
#ifndef NEXT_SYMBOL_H
#define NEXT_SYMBOL_H

#include <stdbool.h>

/* False if the C library or another one on the way to it has other tables. */
bool next_symbol_works(void);

/* The default version. NULL: there is none, or dlsym(3) must tell which it is */
void *next_symbol(const char *symbol);

#endif
