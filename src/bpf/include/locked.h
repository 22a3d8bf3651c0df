/* What BPF programs and the collector of locks both know. */
#ifndef LOCKED_H
#define LOCKED_H

#include "waited.h"

#define LOCKED_THREADS_MAX 65536

/* Bits of waited_cell.kind, from the kernel (LCB_F_*): the kind of the lock, and how a thread waits. No bit: a
 * semaphore. LOCKED_READING or LOCKED_WRITING alone: a rw_semaphore; with LOCKED_SPINNING: an rwlock. */
enum locked_kind {
    LOCKED_SPINNING = 1 << 0,
    LOCKED_READING = 1 << 1,
    LOCKED_WRITING = 1 << 2,
    LOCKED_RT = 1 << 3,
    LOCKED_PERCPU = 1 << 4,
    LOCKED_MUTEX = 1 << 5,
};

/* A thread that is asleep for a lock now. */
struct locked_now {
    struct waiting_now waiting;
    unsigned owner_thread; /* 0: unknown; the kernel knows it of mutexes, and of rw_semaphores that are held to write */
    unsigned is_chosen;    /* 1: contention in this thread's process is counted */
};

#endif
