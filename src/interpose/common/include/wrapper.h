/* What a function that stands before one of libc's consists of.
 *
 * It is given libc's name by an assembler label: so neither the headers' declarations and macros, nor what the compiler
 * knows of a function of that name, gets in the way. */
#ifndef WRAPPER_H
#define WRAPPER_H

#include "real.h"

/* Begins the definition of the wrapper of SYMBOL; real_SYMBOL() is what it stands before, found at the first call. */
#define WRAPPER(RETURNS, SYMBOL, PARAMETERS)                                                                           \
    typedef RETURNS function_##SYMBOL PARAMETERS;                                                                      \
    static function_##SYMBOL *found_##SYMBOL;                                                                          \
    static inline function_##SYMBOL *real_##SYMBOL(void) {                                                             \
        function_##SYMBOL *real = __atomic_load_n(&found_##SYMBOL, __ATOMIC_RELAXED);                                  \
        if (__builtin_expect(!real, 0)) {                                                                              \
            real = (function_##SYMBOL *)(__UINTPTR_TYPE__)real_find(#SYMBOL);                                          \
            __atomic_store_n(&found_##SYMBOL, real, __ATOMIC_RELAXED);                                                 \
        }                                                                                                              \
        return real;                                                                                                   \
    }                                                                                                                  \
    extern __attribute__((visibility("default"))) RETURNS wrap_##SYMBOL PARAMETERS __asm__(#SYMBOL);                   \
    RETURNS wrap_##SYMBOL PARAMETERS

#endif
