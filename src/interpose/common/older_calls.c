/* Replacements of libc functions that the oldest supported libc (older_libc.h) lacks. The linker uses these
 * replacements in a preloaded object. */
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "own_call.h"

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
