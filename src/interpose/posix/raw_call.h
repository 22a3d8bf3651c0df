/* Private: system calls that a program makes by number, with syscall(2). */
#ifndef RAW_CALL_H
#define RAW_CALL_H

#include "sandbox.h"

/* Makes the call, and counts it if it is one of a function that counts, and programs are known to make it so: libuv
 * closes files, and asks for attributes; where the C library is older than the kernel, many do. real: syscall(2) */
long raw_call(sandbox_call_fn *real, long number, const long values[6]);

#endif
