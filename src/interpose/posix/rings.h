/* Private: programs that use io_uring(7). Requests are written to memory that the kernel reads, so they are not
 * observed. Each process that sets up a ring is noted once. A ring is set up with syscall(2), or with a function of
 * liburing, which makes its system calls itself. */
#ifndef RINGS_H
#define RINGS_H

/* A ring was set up. Keeps errno */
void uring_made(void);

#endif
