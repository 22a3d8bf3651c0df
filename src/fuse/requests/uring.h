/* libfuse serves requests over io_uring: after the answer to INIT it has a ring for each CPU and a thread that serves
 * it. These threads call the glue, which reports each call to the loop (loop_enter()). So they can be
 * interrupted, and are known to hang, like workers. No worker is chosen then (pool.h): the threads already run on the
 * callers' CPUs. FORGET and FUSE_INTERRUPT still come through the device.
 *
 * libfuse does not pass on a request's number, and if it cannot make rings, it continues without them; this file finds
 * out both. Before libfuse 3.18 there are no rings. */
#ifndef URING_H
#define URING_H

#include <fuse_lowlevel.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What keeps the kernel's requests from coming over rings. */
enum ring_obstacle {
    RING_NONE,
    RING_KERNEL_CANNOT,
    RING_KERNEL_MAY_NOT,  /* switched off in RING_SWITCH */
    RING_TOO_FEW,         /* the kernel waits for rings of CPUs that libfuse did not count */
    RING_THREADS_MISSING, /* libfuse could not start them, and said why */
};

struct ring_reply_thread;

#define RING_SWITCH "/sys/module/fuse/parameters/enable_uring"

#ifdef HAVE_FUSE_IO_URING

/* True if the loaded libfuse was built with rings: an option of its build, which its version does not show. */
bool ring_is_built_in(void);

/* True if the loaded libfuse is 3.18.2 or later: earlier ones may use memory of their rings after it was freed
 * (CVE-2026-33150). */
bool ring_is_sound(void);

/* True if the loaded libfuse passes on that the caller of a ring's request lacks CAP_FSETID: since 3.18.3. Earlier
 * libraries may be loaded than the one whose headers we were compiled with. */
bool ring_tells_fsetid(void);

/* The number of threads of this process. */
unsigned ring_threads(void);

/* Call after INIT was answered. offered: by the kernel; threads_before: ring_threads() from before the answer */
enum ring_obstacle ring_find_obstacle(bool offered, unsigned threads_before);

/* True if the request came over a ring. */
bool ring_carries(fuse_req_t req);

/* The request's number, by which FUSE_INTERRUPT names it; 0 if it cannot be found out. */
uint64_t ring_request(const struct fuse_session *fuse, fuse_req_t req);

/* Memory into which the answer's data can be read without another copy, with room for size_bytes. NULL if the request
 * did not come over a ring. */
void *ring_reply_memory(fuse_req_t req, size_t size_bytes);

/* ---- The reply thread ----
 *
 * Answers the requests of threads that do not belong to libfuse. A thread that answers over a ring also takes the next
 * request from the ring, and that request would be lost if the thread then ended. So such threads let the reply thread
 * answer. The reply thread also ends libfuse's threads, for which libfuse waits however long they hang. */

/* Call before INIT is answered. Returns NULL without memory */
struct ring_reply_thread *ring_reply_thread_create(struct fuse_session *fuse);

/* Returns after the answer was sent. Threads: any, before ring_end() */
void ring_answer(struct ring_reply_thread *ring, fuse_req_t req, int error);

/* Tells libfuse's threads to end. Returns whether they have ended. Call after fuse_session_exit() */
void ring_end(struct ring_reply_thread *ring);
bool ring_has_ended(struct ring_reply_thread *ring);

/* Call after they have ended. Accepts NULL */
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
