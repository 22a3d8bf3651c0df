/* Preloaded objects are loaded into programs with an older C library than the one that they were built with, and must
 * not need newer versions of its symbols: else the program does not start. So the linker takes them
 * from older_libc.c and older_calls.c instead (--wrap, in meson.build).
 *
 * Before glibc 2.34, functions of the loader and of threads are in libraries that a program need not have. */
#ifndef OLDER_LIBC_H
#define OLDER_LIBC_H

#include <stdbool.h>

/* The version of the symbols that glibc has had from the beginning. */
#if defined(__x86_64__)
#define OLDEST_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST_VERSION "GLIBC_2.17"
#elif defined(__riscv)
#define OLDEST_VERSION "GLIBC_2.27"
#else
#define OLDEST_VERSION "GLIBC_2.0"
#endif

/* True if there is glibc, and its library of threads is loaded: without that, mutexes lock nothing. */
bool older_libc_can_join(void);

#endif
