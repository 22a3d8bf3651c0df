/* A wrapper of one of libc's functions.
 *
 * It gets libc's name by an assembler label: so neither the headers' declarations and macros, nor what the compiler
 * knows of a function of that name, gets in the way. */
#ifndef WRAPPER_H
#define WRAPPER_H

#include <stdbool.h>
#include <stddef.h>

#include "next_symbol.h"

/* False in a child that clone(2) has given a thread area of zeros, as the sandbox of Chromium does: it has no errno and
 * no other variables of a thread, so a wrapper may only pass the call on. True on other architectures, where that is
 * not known. */
static inline bool wrapper_has_thread(void) {
#if defined(__x86_64__)
    const void *thread;
    __asm__("movq %%fs:0, %0" : "=r"(thread)); /* the thread area begins with its own address */
    return thread != NULL;
#elif defined(__aarch64__)
    return *(void *const *)__builtin_thread_pointer() != NULL; /* where the thread's variables are */
#else
    return true;
#endif
}

/* Finds the function that the program would call without this object: the next function of that name behind this
 * object. If there is none, takes the function of `library`, if the library is loaded; it then stays loaded. If no
 * object has the function, returns a function that fails with ENOSYS and returns -1. Keeps errno. If next_symbol() does
 * not find the function, the message of dlerror(3) may be lost.
 * library: NULL: none */
void *real_find(const char *symbol, const char *library);

/* The functions that an object wraps, in a section whose ends the linker knows. Without pointers to symbols, which the
 * loader would have to relocate in each program. */
struct wrapper_real {
    void *found; /* atomic; NULL: not looked for yet */
    char symbol[24];
};
#define WRAPPER_REAL(SYMBOL)                                                                                           \
    static struct wrapper_real entry_##SYMBOL __attribute__((used, section("osprof_reals"))) = {.symbol = #SYMBOL}

extern struct wrapper_real wrapper_reals_begin[] __asm__("__start_osprof_reals") __attribute__((visibility("hidden")));
extern struct wrapper_real wrapper_reals_end[] __asm__("__stop_osprof_reals") __attribute__((visibility("hidden")));

static inline void *wrapper_find(struct wrapper_real *real) {
    void *found = __atomic_load_n(&real->found, __ATOMIC_RELAXED);
    if (__builtin_expect(!found, 0)) {
        found = real_find(real->symbol, NULL);
        __atomic_store_n(&real->found, found, __ATOMIC_RELAXED);
    }
    return found;
}

/* Call when the object is loaded. Each function is looked up at its first call. If the lookup needs the loader, all
 * functions are looked up now. A later lookup would do harm: the loader drops the message that dlerror(3) would return,
 * and takes a lock, which may be held for ever in a child that libc does not know about (made with clone(2)). */
static inline void wrapper_start(void) {
    const size_t count = next_symbol_works() ? 0 : (size_t)(wrapper_reals_end - wrapper_reals_begin);
    for (size_t i = 0; i < count; i++)
        wrapper_find(&wrapper_reals_begin[i]);
}

/* Begins the definition of the wrapper of SYMBOL; real_SYMBOL() is the wrapped function. */
#define WRAPPER(RETURNS, SYMBOL, PARAMETERS)                                                                           \
    typedef RETURNS function_##SYMBOL PARAMETERS;                                                                      \
    WRAPPER_REAL(SYMBOL);                                                                                              \
    static inline __attribute__((unused)) function_##SYMBOL *real_##SYMBOL(void) {                                     \
        return (function_##SYMBOL *)(__UINTPTR_TYPE__)wrapper_find(&entry_##SYMBOL);                                   \
    }                                                                                                                  \
    WRAPPER_OF_FOUND(RETURNS, SYMBOL, PARAMETERS)

/* The same if real_SYMBOL() and its type are declared already. */
#define WRAPPER_OF_FOUND(RETURNS, SYMBOL, PARAMETERS)                                                                  \
    extern __attribute__((visibility("default"))) RETURNS wrap_##SYMBOL PARAMETERS __asm__(#SYMBOL);                   \
    RETURNS wrap_##SYMBOL PARAMETERS

#endif
