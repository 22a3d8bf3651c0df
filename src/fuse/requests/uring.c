/* Requests over io_uring. */
#include "uring.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base.h"

/* fuse_req_get_payload() fails with -EINVAL for a request that did not come over a ring, and with another error if
 * libfuse was built without rings. This function passes zeroed memory as a request: libfuse tests only a flag in the
 * request, which is not set here. */
bool ring_is_built_in(void) {
    static const _Alignas(16) char nothing[4096];
    fuse_req_t none = (fuse_req_t)(uintptr_t)nothing;
    char *memory;
    size_t size_bytes;
    void *registration;
    return fuse_req_get_payload(none, &memory, &size_bytes, &registration) == -EINVAL;
}

/* True if the loaded libfuse has that version or a later one, as 1,000,000 major + 1,000 minor + patch. */
static bool libfuse_has(int wanted_version) {
    int major = 0;
    int minor = 0;
    int patch = 0;
    sscanf(fuse_pkgversion(), "%d.%d.%d", &major, &minor, &patch); /* NOLINT(cert-err34-c): small or 0 */
    return major * 1000000 + minor * 1000 + patch >= wanted_version;
}

bool ring_is_sound(void) {
    return libfuse_has(3018002);
}

bool ring_tells_fsetid(void) {
    return libfuse_has(3018003);
}

unsigned ring_threads(void) {
    unsigned count = 0;
    DIR *threads = opendir("/proc/self/task");
    for (const struct dirent *entry; threads && (entry = readdir(threads));)
        count += entry->d_name[0] != '.';
    if (threads)
        closedir(threads);
    return count;
}

/* The kernel uses no ring before there is one for each of these CPUs; the file has "0-3", or "0". */
static int possible_cpus(void) {
    CLEANUP_STREAM FILE *file = fopen("/sys/devices/system/cpu/possible", "re");
    char range[64] = "";
    if (!file || !fgets(range, sizeof(range), file))
        return 0;
    const char *last = strrchr(range, '-');
    return (int)strtol(last ? last + 1 : range, NULL, 10) + 1;
}

enum ring_obstacle ring_find_obstacle(bool offered, unsigned threads_before) {
    if (!offered)
        return access(RING_SWITCH, F_OK) < 0 ? RING_KERNEL_CANNOT : RING_KERNEL_MAY_NOT;
    if (ring_threads() <= threads_before)
        return RING_THREADS_MISSING;
    return possible_cpus() > get_nprocs_conf() ? RING_TOO_FEW : RING_NONE;
}

bool ring_carries(fuse_req_t req) {
    return fuse_req_is_uring(req);
}

/* libfuse has no function for it. In every release a request begins with its session and its number. If this one does
 * not begin with the session, the number is unknown. */
uint64_t ring_request(const struct fuse_session *fuse, fuse_req_t req) {
    struct {
        const struct fuse_session *fuse;
        uint64_t number;
    } head;
    memcpy(&head, (const void *)req, sizeof(head));
    return head.fuse == fuse ? head.number : 0;
}

void *ring_reply_memory(fuse_req_t req, size_t size_bytes) {
    char *memory;
    size_t room_bytes;
    void *registration;
    int err = ring_carries(req) ? fuse_req_get_payload(req, &memory, &room_bytes, &registration) : -EINVAL;
    return err == 0 && room_bytes >= size_bytes ? memory : NULL;
}

/* ---- The reply thread ---- */

/* Lives in the stack of the thread that waits for it to be sent. */
struct answer {
    struct answer *next;
    fuse_req_t req;
    int error;
    bool sent;
};

struct ring_reply_thread {
    pthread_t thread;
    struct fuse_session *fuse;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* of the next two, or that an answer was sent */
    struct answer *answers;
    bool ending;
    bool ended; /* atomic */
};

static void send_next_locked(struct ring_reply_thread *ring) {
    struct answer *answer = ring->answers;
    ring->answers = answer->next;
    pthread_mutex_unlock(&ring->lock);
    fuse_reply_err(answer->req, answer->error);
    pthread_mutex_lock(&ring->lock);
    answer->sent = true;
    pthread_cond_broadcast(&ring->changed);
}

/* The only function of libfuse that ends its ring threads is the end of its own loop. Run after the session was told to
 * exit, the loop does nothing else. */
static void *reply_and_end(void *argument) {
    struct ring_reply_thread *ring = argument;
    pthread_mutex_lock(&ring->lock);
    while (ring->answers || !ring->ending) {
        if (ring->answers)
            send_next_locked(ring);
        else
            pthread_cond_wait(&ring->changed, &ring->lock);
    }
    pthread_mutex_unlock(&ring->lock);
    fuse_session_loop(ring->fuse);
    __atomic_store_n(&ring->ended, true, __ATOMIC_RELEASE);
    return NULL;
}

struct ring_reply_thread *ring_reply_thread_create(struct fuse_session *fuse) {
    CLEANUP_FREE struct ring_reply_thread *ring = calloc(1, sizeof(*ring));
    if (!ring)
        return NULL;
    ring->fuse = fuse;
    pthread_mutex_init(&ring->lock, NULL);
    pthread_cond_init(&ring->changed, NULL);
    return pthread_create(&ring->thread, NULL, reply_and_end, ring) == 0 ? steal_pointer(&ring) : NULL;
}

void ring_answer(struct ring_reply_thread *ring, fuse_req_t req, int error) {
    pthread_mutex_lock(&ring->lock);
    struct answer answer = {.next = ring->answers, .req = req, .error = error};
    ring->answers = &answer;
    pthread_cond_broadcast(&ring->changed);
    while (!answer.sent)
        pthread_cond_wait(&ring->changed, &ring->lock);
    pthread_mutex_unlock(&ring->lock);
}

void ring_end(struct ring_reply_thread *ring) {
    pthread_mutex_lock(&ring->lock);
    ring->ending = true;
    pthread_cond_broadcast(&ring->changed);
    pthread_mutex_unlock(&ring->lock);
}

bool ring_has_ended(struct ring_reply_thread *ring) {
    return __atomic_load_n(&ring->ended, __ATOMIC_ACQUIRE);
}

void ring_reply_thread_destroy(struct ring_reply_thread *ring) {
    if (!ring)
        return;
    pthread_join(ring->thread, NULL);
    pthread_cond_destroy(&ring->changed);
    pthread_mutex_destroy(&ring->lock);
    free(ring);
}
