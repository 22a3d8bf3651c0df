/* Hashing texts. */
#include "base.h"

uint64_t hash_text(uint64_t before, const char *text) {
    for (; *text; text++)
        before = (before ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return before;
}
