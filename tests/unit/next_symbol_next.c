/* Behind the library that asks, before the C library: one of its functions has the name of one of libc's. */
#include "next_symbol_asker.h"

int next_only(void) {
    return 1;
}

int next_wrapper(int byte) {
    return byte;
}
