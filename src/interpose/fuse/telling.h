/* Reports the daemon's requests and answers, and the state of the daemon itself, in the ring (request_ring.h). The
 * caller decides whether bytes are a request or an answer.
 * Threads: any.
 * Signals: may be called in handlers. All functions keep errno */
#ifndef TELLING_H
#define TELLING_H

#include "request_ring.h"

/* Call before main(). Without a ring nothing is reported, and nothing need be parsed. */
void telling_start(void);
bool telling_is_on(void);

/* The program forbids itself system calls: nothing is reported from now on. */
void telling_stop(void);

/* In cycles of the ring's clock. */
uint64_t telling_now(void);

/* True if the descriptor is the device. */
bool telling_is_device(int fd);

/* True if the descriptor may be the device: it is the device, or this thread read its latest request from it. In the
 * latter case a write that answers this request is taken for an answer. */
bool telling_may_be_device(int fd);

/* bytes: the beginning of a request read from the device; time_cycles: when it came */
void tell_request(int fd, const void *bytes, size_t size_bytes, uint64_t time_cycles);

/* The parts of an answer. */
struct answer {
    const void *bytes; /* the header and the beginning of the body */
    size_t size_bytes;
    const char *body; /* NULL: it is not contiguous, or not readable */
    size_t body_bytes;
    int fd; /* of the device */
};

/* Call before it is written: afterwards the caller may be the first to look at what was counted. */
void tell_answer(const struct answer *answer);

/* A request or an answer could not be parsed. */
void tell_unseen(void);

/* The mount is gone. */
void tell_end(int fd);

/* A descriptor of the device is a clone of another one, and serves the same mount. */
void tell_clone(int fd, int original_fd);

/* The process, if it has served a mount, cannot be observed from now on. */
void tell_leaving(enum request_leaving how);

#endif
