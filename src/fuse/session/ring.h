/* Requests over io_uring, as libfuse takes them: it has a ring, and a thread that serves it, for each CPU, from the
 * answer to INIT on. FORGET and FUSE_INTERRUPT still come through the device.
 *
 * libfuse says nothing of a request's number and goes on without rings where it cannot make them; both is found out
 * here. Without a libfuse that knows rings (3.18) there are none. */
#ifndef RING_H
#define RING_H

#include <fuse_lowlevel.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What keeps the kernel's requests from coming over rings. */
enum ring_obstacle {
    RING_NONE,
    RING_KERNEL_CANNOT,
    RING_KERNEL_MAY_NOT,  /* it is switched off in RING_SWITCH */
    RING_TOO_FEW,         /* the kernel waits for rings of CPUs that libfuse does not count */
    RING_THREADS_MISSING, /* libfuse could not start them, and said why */
};

struct ring_reply_thread;

#define RING_SWITCH "/sys/module/fuse/parameters/enable_uring"

#ifdef HAVE_FUSE_IO_URING

/* Whether the libfuse that is loaded was built with rings: an option of its build, which its version does not tell. */
bool ring_is_built_in(void);

/* Whether that libfuse is 3.18.2 or later: those before may use memory of their rings after it was freed
 * (CVE-2026-33150). */
bool ring_is_sound(void);

/* Whether that libfuse says of a ring's request that its caller lacks CAP_FSETID: since 3.18.3, with whose headers
 * others may be used. */
bool ring_tells_fsetid(void);

/* How many threads this process has; to be compared from before INIT is answered. */
unsigned ring_threads(void);

/* After INIT was answered. offered: by the kernel; threads_before: ring_threads() then */
enum ring_obstacle ring_find_obstacle(bool offered, unsigned threads_before);

/* Whether the request came over a ring. */
bool ring_carries(fuse_req_t req);

/* The request's number, by which FUSE_INTERRUPT names it; 0 if that is not to be known. */
uint64_t ring_request(const struct fuse_session *fuse, fuse_req_t req);

/* Where the answer's data goes without being copied, with room for size_bytes; NULL: the request came over no ring. */
void *ring_reply_memory(fuse_req_t req, size_t size_bytes);

/* ---- The reply thread ----
 *
 * A thread of its own. Who answers over a ring takes the next request from there, and takes it along when it ends; so
 * threads that end let this one answer. And it ends libfuse's threads, for which libfuse waits however long they
 * hang. */

/* Call before INIT is answered. Returns NULL without memory */
struct ring_reply_thread *ring_reply_thread_create(struct fuse_session *fuse);

/* Returns when it is answered. Threads: any, before ring_end() */
void ring_answer(struct ring_reply_thread *ring, fuse_req_t req, int error);

/* Has libfuse's threads end, and whether they have. Call after fuse_session_exit() */
void ring_end(struct ring_reply_thread *ring);
bool ring_has_ended(struct ring_reply_thread *ring);

/* After they have ended. Accepts NULL */
void ring_reply_thread_destroy(struct ring_reply_thread *ring);

#else

static inline bool ring_is_built_in(void) {
    return false;
}
static inline bool ring_is_sound(void) {
    return false;
}
static inline bool ring_tells_fsetid(void) {
    return false;
}
static inline unsigned ring_threads(void) {
    return 0;
}
static inline enum ring_obstacle ring_find_obstacle(bool offered, unsigned threads_before) {
    (void)offered, (void)threads_before;
    return RING_THREADS_MISSING;
}
static inline bool ring_carries(fuse_req_t req) {
    (void)req;
    return false;
}
static inline uint64_t ring_request(const struct fuse_session *fuse, fuse_req_t req) {
    (void)fuse, (void)req;
    return 0;
}
static inline void *ring_reply_memory(fuse_req_t req, size_t size_bytes) {
    (void)req, (void)size_bytes;
    return NULL;
}
static inline struct ring_reply_thread *ring_reply_thread_create(struct fuse_session *fuse) {
    (void)fuse;
    return NULL;
}
static inline void ring_answer(struct ring_reply_thread *ring, fuse_req_t req, int error) {
    (void)ring, (void)req, (void)error;
}
static inline void ring_end(struct ring_reply_thread *ring) {
    (void)ring;
}
static inline bool ring_has_ended(struct ring_reply_thread *ring) {
    (void)ring;
    return true;
}
static inline void ring_reply_thread_destroy(struct ring_reply_thread *ring) {
    (void)ring;
}

#endif

#endif
