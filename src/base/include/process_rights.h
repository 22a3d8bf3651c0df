/* What other processes may do, and what they see. */
#ifndef PROCESS_RIGHTS_H
#define PROCESS_RIGHTS_H

#include <stdbool.h>
#include <sys/types.h>

/* True if the thread acts as that user and has CAP_SYS_ADMIN in the user namespace of this process. The user's number
 * proves nothing: root of a container may have no capability at all. False also if this cannot be found out: the thread
 * is gone, not visible from here (0), or belongs to a process that this process may not trace.
 * Threads: any */
bool process_is_admin(pid_t thread, uid_t uid);

/* True if absolute paths mean the same to the thread as to this process: it has the same mount namespace and root
 * directory. False also if that cannot be found out.
 * Threads: any */
bool process_has_our_paths(pid_t thread);

/* True if /proc belongs to the PID namespace of this process, so that a process number means the same in both. In a
 * /proc of another namespace the number of a process names another one. False also if /proc is missing.
 * Threads: any */
bool process_numbers_are_ours(void);

#endif
