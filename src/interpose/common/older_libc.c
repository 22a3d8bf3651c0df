/* Definitions for the linker's --wrap: each calls the oldest version of a symbol. A symbol that the program's C
 * library lacks is NULL here, and its caller does without it. */
#include "older_libc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/* ---- Symbols with newer versions: the oldest version suffices. NULL: no loaded library has the symbol ---- */

#define OLDEST(SYMBOL, VERSION)                                                                                        \
    extern __typeof__(SYMBOL) oldest_##SYMBOL __attribute__((weak));                                                   \
    __asm__(".symver oldest_" #SYMBOL "," #SYMBOL "@" VERSION);                                                        \
    extern __typeof__(SYMBOL) __wrap_##SYMBOL;

OLDEST(dlopen, OLDEST_VERSION)
OLDEST(dlsym, OLDEST_VERSION)
OLDEST(dlvsym, OLDEST_VERSION)
OLDEST(dlerror, OLDEST_VERSION)
OLDEST(pthread_sigmask, OLDEST_VERSION)
OLDEST(pthread_mutex_trylock, OLDEST_VERSION) /* only to see whether there is a library of threads */

extern const char *gnu_get_libc_version(void) __attribute__((weak));

bool older_libc_can_join(void) {
    return gnu_get_libc_version && oldest_pthread_mutex_trylock && oldest_pthread_sigmask;
}

int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *ret_before) {
    return oldest_pthread_sigmask(how, set, ret_before);
}

/* ---- Numbers: newer headers take other functions, which read "0b1" too; no text that is read here has that ---- */

extern unsigned long long oldest_strtoull(const char *text, char **ret_end, int base) __asm__("strtoull");
extern unsigned long long __wrap___isoc23_strtoull(const char *text, char **ret_end, int base);

unsigned long long __wrap___isoc23_strtoull(const char *text, char **ret_end, int base) {
    return oldest_strtoull(text, ret_end, base);
}

/* ---- The loader's: where a program has no libdl, it is loaded by what libc itself loads libraries with ---- */

#define OF_LIBC 0x80000000U /* a flag: libc asks */

extern void *__libc_dlopen_mode(const char *name, int flags) __attribute__((weak));
extern void *__libc_dlsym(void *library, const char *symbol) __attribute__((weak));

static void *find_in_libdl(const char *symbol) {
    void *library =
        __libc_dlopen_mode && __libc_dlsym ? __libc_dlopen_mode("libdl.so.2", (int)(RTLD_NOW | OF_LIBC)) : NULL;
    return library ? __libc_dlsym(library, symbol) : NULL;
}

#define FOUND(SYMBOL)                                                                                                  \
    (oldest_##SYMBOL ? oldest_##SYMBOL : (__typeof__(SYMBOL) *)(__UINTPTR_TYPE__)find_in_libdl(#SYMBOL))

void *__wrap_dlopen(const char *name, int flags) {
    __typeof__(dlopen) *real = FOUND(dlopen);
    return real ? real(name, flags) : NULL;
}

void *__wrap_dlsym(void *library, const char *symbol) {
    __typeof__(dlsym) *real = FOUND(dlsym);
    return real ? real(library, symbol) : NULL;
}

void *__wrap_dlvsym(void *library, const char *symbol, const char *version) {
    __typeof__(dlvsym) *real = FOUND(dlvsym);
    return real ? real(library, symbol, version) : NULL;
}

char *__wrap_dlerror(void) {
    __typeof__(dlerror) *real = FOUND(dlerror);
    return real ? real() : NULL;
}
