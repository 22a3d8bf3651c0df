/* What other processes may do, and what they see. */
#ifndef PROCESS_RIGHTS_H
#define PROCESS_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

/* True if the thread acts as that user and has CAP_SYS_ADMIN in the user namespace of this process. The user's number
 * tells nothing of it: root of a container may have no capability at all. False also if that cannot be found out: the
 * thread is gone, not visible from here (0), or belongs to somebody whom this process may not trace.
 * Threads: any */
bool process_is_admin(pid_t thread, uid_t uid);

/* True if absolute paths lead the thread where they lead this process: it has the same mount namespace and root
 * directory. False also if that cannot be found out.
 * Threads: any */
bool process_has_our_paths(pid_t thread);

/* True if /proc is of this process's own process namespace, so that a number means the same process there as to this
 * one. With that of another, what is read there is of others. False also where it is missing.
 * Threads: any */
bool process_numbers_are_ours(void);

#endif
