/* A program that forbids itself system calls is not observed any more, nor are programs that it executes. */
#include "sandbox.h"

#include "counting.h"
#include "environment.h"
#include "raw_call.h"

static void leave_alone(void) {
    if (!preload_looks())
        return;
    posix_note(POSIX_NOTE_SANDBOXED, 1);
    preload_stop();
    fd_table_forget_range(0, FD_TABLE_SIZE - 1);
    environment_leave(PRELOAD_VARIABLE);
}

WRAP_SANDBOX(leave_alone, raw_call)
