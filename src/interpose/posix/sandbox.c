/* A program that forbids itself system calls is left alone from then on: ours may be among those that it is killed for.
 */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "counting.h"

static void leave_alone(void) {
    if (!preload_looks())
        return;
    if (preload_join(&posix_ops))
        aggstats_recorder_note(__atomic_load_n(&preload.recorder, __ATOMIC_ACQUIRE), POSIX_NOTE_SANDBOXED, 1);
    preload_stop();
    fd_table_forget_range(0, FD_TABLE_SIZE - 1);
}

WRAPPER(int, prctl, (int option, ...)) {
    va_list arguments;
    va_start(arguments, option);
    unsigned long values[4];
    for (size_t i = 0; i < 4; i++)
        values[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    if (option == PR_SET_SECCOMP)
        leave_alone();
    return real_prctl()(option, values[0], values[1], values[2], values[3]);
}

/* What libseccomp uses. All system calls take six arguments at most, whatever is there of them. */
WRAPPER(long, syscall, (long number, ...)) {
    va_list arguments;
    va_start(arguments, number);
    long values[6];
    for (size_t i = 0; i < 6; i++)
        values[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_seccomp && (values[0] == SECCOMP_SET_MODE_STRICT || values[0] == SECCOMP_SET_MODE_FILTER))
        leave_alone();
    return real_syscall()(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
