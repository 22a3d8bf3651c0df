/* Programs that forbid themselves system calls (seccomp(2)): nothing is observed from then on, since one of our own
 * calls may get the program killed. */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "wrapper.h"

/* Without a filter, libseccomp only tests what the kernel supports. */
static inline bool sandbox_by_prctl(int option, unsigned long mode, unsigned long filter) {
    return option == PR_SET_SECCOMP && (mode == SECCOMP_MODE_STRICT || filter != 0);
}

/* For other system calls values may be unset, and must not be read. */
static inline bool sandbox_by_syscall(long number, const long values[6]) {
    if (__builtin_expect(number != SYS_seccomp, 1))
        return false;
    const bool is_strict = values[0] == SECCOMP_SET_MODE_STRICT && values[1] == 0 && values[2] == 0;
    const bool is_filter = values[0] == SECCOMP_SET_MODE_FILTER && values[2] != 0;
    return is_strict || is_filter;
}

typedef long sandbox_call_fn(long number, ...);

/* A system call has at most six arguments; all six are passed on. */
static inline long sandbox_pass_on(sandbox_call_fn *real, long number, const long values[6]) {
    return real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

/* The wrappers of prctl(2), and of syscall(2), which libseccomp uses.
 * LEAVE_ALONE: a function, called before
 * CALL:        makes a system call, as sandbox_pass_on() */
#define WRAP_SANDBOX(LEAVE_ALONE, CALL)                                                                                \
    WRAPPER(int, prctl, (int option, ...)) {                                                                           \
        va_list arguments;                                                                                             \
        va_start(arguments, option);                                                                                   \
        unsigned long values[4];                                                                                       \
        for (size_t i = 0; i < 4; i++)                                                                                 \
            values[i] = va_arg(arguments, unsigned long);                                                              \
        va_end(arguments);                                                                                             \
        if (sandbox_by_prctl(option, values[0], values[1]))                                                            \
            LEAVE_ALONE();                                                                                             \
        return real_prctl()(option, values[0], values[1], values[2], values[3]);                                       \
    }                                                                                                                  \
    WRAPPER(long, syscall, (long number, ...)) {                                                                       \
        va_list arguments;                                                                                             \
        va_start(arguments, number);                                                                                   \
        long values[6];                                                                                                \
        for (size_t i = 0; i < 6; i++)                                                                                 \
            values[i] = va_arg(arguments, long);                                                                       \
        va_end(arguments);                                                                                             \
        if (sandbox_by_syscall(number, values))                                                                        \
            LEAVE_ALONE();                                                                                             \
        return CALL(real_syscall(), number, values);                                                                   \
    }

#endif
