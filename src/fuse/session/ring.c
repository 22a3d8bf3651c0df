/* Requests over io_uring. */
#include "ring.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base.h"

/* It has one function for requests of rings, which says of any other request that it is none; built without rings, that
 * it can not. The request here is of neither kind: libfuse looks at a flag in it, which is not set. */
bool ring_is_built_in(void) {
    static const _Alignas(16) char nothing[4096];
    fuse_req_t none = (fuse_req_t)(uintptr_t)nothing;
    char *memory;
    size_t size_bytes;
    void *registration;
    return fuse_req_get_payload(none, &memory, &size_bytes, &registration) == -EINVAL;
}

/* Whether the libfuse that is loaded is that version, as 1,000,000 major + 1,000 minor + patch, or a later one. */
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

/* The kernel takes no ring before there is one for each of these; "0-3", or "0". */
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

/* libfuse has no function for it. A request begins with its session and its number, in every release; where it does not
 * begin with the session, nothing is known. */
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

/* ---- The keeper ---- */

/* In the memory of who waits for it to be sent. */
struct answer {
    struct answer *next;
    fuse_req_t req;
    int error;
    bool sent;
};

struct ring_keeper {
    pthread_t thread;
    struct fuse_session *fuse;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* of the next two, or that an answer was sent */
    struct answer *answers;
    bool ending;
    bool ended; /* atomic */
};

static void send_next_locked(struct ring_keeper *keeper) {
    struct answer *answer = keeper->answers;
    keeper->answers = answer->next;
    pthread_mutex_unlock(&keeper->lock);
    fuse_reply_err(answer->req, answer->error);
    pthread_mutex_lock(&keeper->lock);
    answer->sent = true;
    pthread_cond_broadcast(&keeper->changed);
}

/* Of what libfuse offers, only the end of its own loop ends its threads; and that is all there is of a loop that was
 * told to exit before. */
static void *keep(void *argument) {
    struct ring_keeper *keeper = argument;
    pthread_mutex_lock(&keeper->lock);
    while (keeper->answers || !keeper->ending) {
        if (keeper->answers)
            send_next_locked(keeper);
        else
            pthread_cond_wait(&keeper->changed, &keeper->lock);
    }
    pthread_mutex_unlock(&keeper->lock);
    fuse_session_loop(keeper->fuse);
    __atomic_store_n(&keeper->ended, true, __ATOMIC_RELEASE);
    return NULL;
}

struct ring_keeper *ring_keeper_create(struct fuse_session *fuse) {
    CLEANUP_FREE struct ring_keeper *keeper = calloc(1, sizeof(*keeper));
    if (!keeper)
        return NULL;
    keeper->fuse = fuse;
    pthread_mutex_init(&keeper->lock, NULL);
    pthread_cond_init(&keeper->changed, NULL);
    return pthread_create(&keeper->thread, NULL, keep, keeper) == 0 ? steal_pointer(&keeper) : NULL;
}

void ring_answer(struct ring_keeper *keeper, fuse_req_t req, int error) {
    pthread_mutex_lock(&keeper->lock);
    struct answer answer = {.next = keeper->answers, .req = req, .error = error};
    keeper->answers = &answer;
    pthread_cond_broadcast(&keeper->changed);
    while (!answer.sent)
        pthread_cond_wait(&keeper->changed, &keeper->lock);
    pthread_mutex_unlock(&keeper->lock);
}

void ring_end(struct ring_keeper *keeper) {
    pthread_mutex_lock(&keeper->lock);
    keeper->ending = true;
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->lock);
}

bool ring_has_ended(struct ring_keeper *keeper) {
    return __atomic_load_n(&keeper->ended, __ATOMIC_ACQUIRE);
}

void ring_keeper_destroy(struct ring_keeper *keeper) {
    if (!keeper)
        return;
    pthread_join(keeper->thread, NULL);
    pthread_cond_destroy(&keeper->changed);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
}
