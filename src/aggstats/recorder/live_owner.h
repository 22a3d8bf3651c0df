/* Private: who has a block of a shared live file.
 *
 * A thread holds the block's robust lock, and the kernel releases it when the thread ends. That fails for a thread that
 * the C library does not know, such as the child of clone(2) called by its number: the kernel knows no list of its
 * locks. Such a thread leaves its numbers instead of holding the lock, and whether it lives is asked when the block is
 * wanted. Where that cannot be known, because the numbers are of another PID namespace, it lives. */
#ifndef LIVE_OWNER_H
#define LIVE_OWNER_H

#include <stdbool.h>

#include "live_file.h"

/* Asks about several blocks. checks_max is set, all else zeroed. */
struct live_owner_asker {
    unsigned checks_max; /* system calls; beyond that such owners are taken to live */
    uint64_t namespace;  /* the own one; 0: not yet known */
};

/* In which the own PID is a number; 0: unknown. May change errno */
uint64_t live_owner_namespace(void);

/* Takes the lock; ends with pthread_mutex_unlock(), or with live_owner_keep(). Returns false if a living thread has the
 * block. */
bool live_owner_take(struct live_owner *owner, struct live_owner_asker *asker);

/* The calling thread has the block from now on.
 * memory_pid: the process that the memory belongs to; in a child that has borrowed it, the parent's thread has the
 * block */
void live_owner_keep(struct live_owner *owner, pid_t memory_pid, struct live_owner_asker *asker);

#endif
