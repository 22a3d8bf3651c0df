/* Private: measures how long system calls take now. A separate process measures, because attached programs do not count
 * calls of this process. */
#ifndef CALL_PROBER_H
#define CALL_PROBER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct call_prober {
    pid_t process;   /* 0: there is none */
    int socket;      /* to it */
    uint32_t device; /* of a file of its own, as the kernel has it */
};

/* The shortest measured time of a call, in ns: longer times were disturbed by other processes. */
struct call_times {
    double on_file;  /* on that file */
    double on_other; /* on a pipe */
};

/* Owner:   the caller finishes *ret_prober, also if it fails
 * Errors:  -errno */
int call_prober_start(struct call_prober *ret_prober);

/* Takes some milliseconds. Returns false if it cannot be measured */
bool call_prober_measure(const struct call_prober *prober, struct call_times *ret_times);

void call_prober_finish(struct call_prober *prober);

#endif
