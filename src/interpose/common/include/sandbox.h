/* Programs that forbid themselves system calls (seccomp(2)). From then on a preloaded object makes no system calls of
 * its own, since the kernel might kill the program for them. */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "wrapper.h"

enum sandbox_step {
    SANDBOX_NONE,
    SANDBOX_NEAR, /* privileges are given up for good (PR_SET_NO_NEW_PRIVS): the program may forbid itself system calls
                      * next, without a function of libc */
    SANDBOX_ENTERED, /* it does so now */
};

/* Without a filter, libseccomp only tests what the kernel supports. */
static inline enum sandbox_step sandbox_by_prctl(unsigned long option, unsigned long first, unsigned long second) {
    if (option == PR_SET_NO_NEW_PRIVS && first == 1)
        return SANDBOX_NEAR;
    return option == PR_SET_SECCOMP && (first == SECCOMP_MODE_STRICT || second != 0) ? SANDBOX_ENTERED : SANDBOX_NONE;
}

/* For other system calls values may be unset, and must not be read. */
static inline enum sandbox_step sandbox_by_syscall(long number, const long values[6]) {
    if (__builtin_expect(number != SYS_seccomp && number != SYS_prctl, 1))
        return SANDBOX_NONE;
    if (number == SYS_prctl)
        return sandbox_by_prctl((unsigned long)values[0], (unsigned long)values[1], (unsigned long)values[2]);
    const bool is_strict = values[0] == SECCOMP_SET_MODE_STRICT && values[1] == 0 && values[2] == 0;
    const bool is_filter = values[0] == SECCOMP_SET_MODE_FILTER && values[2] != 0;
    return is_strict || is_filter ? SANDBOX_ENTERED : SANDBOX_NONE;
}

typedef long sandbox_call_fn(long number, ...);

/* A system call has at most six arguments; all six are passed on. */
static inline long sandbox_pass_on(sandbox_call_fn *real, long number, const long values[6]) {
    return real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

/* The wrappers of prctl(2), and of syscall(2), which libseccomp uses.
 * LEAVE_ALONE: a function of enum sandbox_step, called before
 * CALL:        makes a system call, as sandbox_pass_on() */
#define WRAP_SANDBOX(LEAVE_ALONE, CALL)                                                                                \
    WRAPPER(int, prctl, (int option, ...)) {                                                                           \
        va_list arguments;                                                                                             \
        va_start(arguments, option);                                                                                   \
        unsigned long values[4];                                                                                       \
        for (size_t i = 0; i < 4; i++)                                                                                 \
            values[i] = va_arg(arguments, unsigned long);                                                              \
        va_end(arguments);                                                                                             \
        const enum sandbox_step step = sandbox_by_prctl((unsigned long)option, values[0], values[1]);                  \
        if (step != SANDBOX_NONE)                                                                                      \
            LEAVE_ALONE(step);                                                                                         \
        return real_prctl()(option, values[0], values[1], values[2], values[3]);                                       \
    }                                                                                                                  \
    WRAPPER(long, syscall, (long number, ...)) {                                                                       \
        va_list arguments;                                                                                             \
        va_start(arguments, number);                                                                                   \
        long values[6];                                                                                                \
        for (size_t i = 0; i < 6; i++)                                                                                 \
            values[i] = va_arg(arguments, long);                                                                       \
        va_end(arguments);                                                                                             \
        const enum sandbox_step step = sandbox_by_syscall(number, values);                                             \
        if (step != SANDBOX_NONE)                                                                                      \
            LEAVE_ALONE(step);                                                                                         \
        return CALL(real_syscall(), number, values);                                                                   \
    }

#endif
