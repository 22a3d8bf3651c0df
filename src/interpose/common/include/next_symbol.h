/* Finds functions in the objects that the loader has loaded behind this object, like dlsym(RTLD_NEXT, ...), up to the C
 * library: objects behind the C library may be unloaded later.
 *
 * The functions here only read the objects' symbol tables and memory that never changes. They take no lock, and use no
 * thread-local variable (errno) and no message of dlerror(3). So they may be called at any time, also in a signal
 * handler, and in a child of clone(2) that has no thread area (wrapper.h). */
#ifndef NEXT_SYMBOL_H
#define NEXT_SYMBOL_H

#include <stdbool.h>

/* False if the C library or another one on the way to it has other tables. */
bool next_symbol_works(void);

/* The default version. NULL: there is none, or dlsym(3) must tell which it is */
void *next_symbol(const char *symbol);

#endif
