/* A library of test_next_symbol, whose next objects are asked for. */
#include <dlfcn.h>

#include "next_symbol.h"
#include "next_symbol_asker.h"

bool asker_works(void) {
    return next_symbol_works();
}

void *asker_reads(const char *symbol) {
    return next_symbol(symbol);
}

/* The loader looks at where the call returns to: it may not be a jump. */
void *asker_asks_loader(const char *symbol) {
    void *volatile found = dlsym(RTLD_NEXT, symbol);
    return found;
}
