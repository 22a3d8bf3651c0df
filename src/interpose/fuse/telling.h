/* What is told of the daemon's requests and answers, and of the daemon itself, in the ring (request_ring.h). Whether
 * bytes are a request or an answer is for who looks at them.
 * Threads: any.
 * Signals: may be called in handlers. All keep errno */
#ifndef TELLING_H
#define TELLING_H

#include "request_ring.h"

/* Before main(). Nothing is told, nor need be looked at, where nobody wants to know. */
void telling_start(void);
bool telling_is_on(void);

/* The program forbids itself system calls: it is left alone from now on. */
void telling_stop(void);

/* In cycles of the ring's clock. */
uint64_t telling_now(void);

/* Whether a descriptor is the device. */
bool telling_is_device(int fd);

/* Whether it may be: what a thread writes where it has read its last request is an answer, if it is one to that. */
bool telling_may_be_device(int fd);

/* bytes: the beginning of a request, from the device; time_cycles: when it came */
void tell_request(int fd, const void *bytes, size_t size_bytes, uint64_t time_cycles);

/* What an answer consists of. */
struct answer {
    const void *bytes; /* the beginning: header and first of the body */
    size_t size_bytes;
    const char *body; /* NULL: it is not in one piece, or cannot be read */
    size_t body_bytes;
    int fd; /* of the device */
};

/* Before it is written: once it is, the caller may be the first to look at what was counted. */
void tell_answer(const struct answer *answer);

/* A request, or an answer, could not be looked at. */
void tell_unseen(void);

/* The mount is gone. */
void tell_end(int fd);

/* A descriptor of the device is a clone of another one, and serves the same mount. */
void tell_clone(int fd, int original_fd);

/* The process, if it has served a mount, is not seen from now on. */
void tell_leaving(enum request_leaving how);

#endif
