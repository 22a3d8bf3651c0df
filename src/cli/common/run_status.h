/* Exit statuses of subcommands that run another program, whose own status is theirs: as those of env(1) and timeout(1)
 */
#ifndef RUN_STATUS_H
#define RUN_STATUS_H

enum {
    RUN_FAILED = 125, /* osprof itself */
    RUN_CANNOT_EXECUTE = 126,
    RUN_NOT_FOUND = 127,
    RUN_SIGNALLED = 128, /* + the signal */
};

#endif
