/* Symbols that exist only for old programs are found by version: dlsym(3) finds only default ones.
 *
 * Another C library, such as musl, loads preloaded objects too, and must not miss any symbol. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "older_libc.h"
#include "own_call.h"
#include "wrapper.h"

extern __typeof__(dlvsym) dlvsym __attribute__((weak)); /* NOLINT(readability-redundant-declaration): weak is new */

static long is_missing(void) {
    errno = ENOSYS;
    return -1;
}

static void *ask_loader(const char *symbol, const char *library) {
    int saved_errno = errno;
    void *found = dlsym(RTLD_NEXT, symbol);
    if (!found && dlvsym)
        found = dlvsym(RTLD_NEXT, symbol, OLDEST_VERSION);
    void *loaded = found || !library ? NULL : dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded)
        found = dlsym(loaded, symbol);
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

/* ---- Functions that the oldest supported libc (older_libc.h) lacks, for the linker's --wrap ---- */

pid_t __wrap_gettid(void);
ssize_t __wrap_getrandom(void *to, size_t size, unsigned flags);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __wrap_fstat(int fd, struct stat *ret_attr);
int __wrap_fstat64(int fd, struct stat64 *ret_attr);
int __wrap_fstatat64(int dir_fd, const char *path, struct stat64 *ret_attr, int flags);

pid_t __wrap_gettid(void) {
    return (pid_t)own_call(SYS_gettid);
}

ssize_t __wrap_getrandom(void *to, size_t size, unsigned flags) {
    return own_call(SYS_getrandom, to, size, flags);
}

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
    return (int)own_call(SYS_renameat2, from_fd, from, to_fd, to, flags);
}

int __wrap_fstat(int fd, struct stat *ret_attr) {
    return (int)own_call(SYS_fstat, fd, ret_attr);
}

int __wrap_fstat64(int fd, struct stat64 *ret_attr) {
    return (int)own_call(SYS_fstat, fd, ret_attr);
}

int __wrap_fstatat64(int dir_fd, const char *path, struct stat64 *ret_attr, int flags) {
    return (int)own_call(SYS_newfstatat, dir_fd, path, ret_attr, flags);
}
