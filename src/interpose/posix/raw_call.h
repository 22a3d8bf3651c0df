/* Private: system calls that a program makes by number, with syscall(2). */
#ifndef RAW_CALL_H
#define RAW_CALL_H

#include "sandbox.h"

/* Makes the call. Counts it if it is that of a counted function, and programs are known to make it so: libuv closes
 * files and asks for attributes; with a C library older than the kernel, many do. real: syscall(2) */
long raw_call(sandbox_call_fn *real, long number, const long values[6]);

#endif
