/* Private: programs that use io_uring(7). What they ask of a ring is written to memory that the kernel reads, so it is not
 * observed. Each process that sets up a ring is noted once: by syscall(2), or by a function of liburing, which makes its
 * system calls itself. */
#ifndef RINGS_H
#define RINGS_H

/* A ring was set up. Keeps errno */
void uring_made(void);

#endif
