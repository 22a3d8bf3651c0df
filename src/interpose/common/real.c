/* Symbols that exist only for old programs are found by version: dlsym(3) finds only default ones.
 *
 * Another C library, such as musl, loads preloaded objects too, and must not miss any symbol. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "older_libc.h"
#include "own_call.h"
#include "wrapper.h"

extern __typeof__(dlvsym) dlvsym __attribute__((weak)); /* NOLINT(readability-redundant-declaration): weak is new */

static long is_missing(void) {
    errno = ENOSYS;
    return -1;
}

static void *next_of(const char *symbol) {
    void *found = dlsym(RTLD_NEXT, symbol);
    return found || !dlvsym ? found : dlvsym(RTLD_NEXT, symbol, OLDEST_VERSION);
}

static void *loaded_in(const char *library, const char *symbol) {
    void *loaded = library ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    return loaded ? dlsym(loaded, symbol) : NULL;
}

static void *ask_loader(const char *symbol, const char *library) {
    int saved_errno = errno;
    void *found = next_of(symbol);
    if (!found)
        found = loaded_in(library, symbol);
    if (!found)
        dlerror(); /* the program must not see this error */
    errno = saved_errno;
    return found ? found : (void *)(__UINTPTR_TYPE__)is_missing;
}

void *real_find(const char *symbol, const char *library) {
    void *found = next_symbol(symbol);
    return found ? found : ask_loader(symbol, library);
}

own_call_fn *own_call_found;

own_call_fn *own_call_find(void) {
    own_call_fn *found = (own_call_fn *)(__UINTPTR_TYPE__)real_find("syscall", NULL);
    __atomic_store_n(&own_call_found, found, __ATOMIC_RELAXED);
    return found;
}
