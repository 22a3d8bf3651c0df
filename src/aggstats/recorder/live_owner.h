/* Private: the thread that owns a block of a shared live file.
 *
 * A word names the owner: the lower half is its number as of gettid(2), the upper half the inode number of its PID
 * namespace. A thread takes a block by replacing a word that names no living thread with its own word. The kernel is
 * asked whether a thread lives. So nothing needs to be done when a thread ends, however it ends. After execve(2) a
 * thread has the same number: it takes over its former block. If it cannot be known whether
 * a thread lives, because its number is of another namespace, the thread is taken to live. */
#ifndef LIVE_OWNER_H
#define LIVE_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef uint64_t live_owner; /* 0: nobody */

/* In which the own PID is a number; 0: unknown. May change errno */
uint32_t live_owner_namespace(void);

/* The word of the calling thread, which does not change while it lives.
 * owns_memory: false: in a child that has borrowed its parent's memory, as after vfork(2): the word of the parent's
 * thread */
live_owner live_owner_self(bool owns_memory, uint32_t namespace);

/* False: the thread has ended. May change errno
 * namespace: the caller's */
bool live_owner_lives(live_owner owner, uint32_t namespace);

/* Takes a block for the thread with that word. Returns false if a living thread has it, or takes it at the moment.
 * checks: how many times the kernel may still be asked; beyond that others are taken to live */
bool live_owner_take(live_owner *owner, live_owner self, unsigned *checks);

#endif
