/* Of a library of test_next_symbol, loaded before the next one. */
#ifndef NEXT_SYMBOL_ASKER_H
#define NEXT_SYMBOL_ASKER_H

#include <stdbool.h>

#pragma GCC visibility push(default)
bool asker_works(void);
void *asker_reads(const char *symbol);
void *asker_asks_loader(const char *symbol);

/* Of the next library. */
int next_only(void);
int next_wrapper(int byte) __asm__("putw");
#pragma GCC visibility pop

#endif
