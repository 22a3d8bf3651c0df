/* Workers and the thread that waits for their end. */
#include "session.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base.h"

#define WORKERS_MAX 512U
#define STOP_PATIENCE_MS 2000
#define STOP_STEP_MS 10
#define PAGE_BYTES 4096U

#define INTERRUPT_SIGNAL SIGUSR1
#define WORKER_ENDED_SIGNAL SIGUSR2

struct worker {
    pthread_t thread;
    struct session *session;
    bool ended; /* atomic */
};

struct session {
    struct fuse_session *fuse;
    pthread_t main_thread;
    pthread_mutex_t lock;
    struct worker *workers[WORKERS_MAX];
    unsigned worker_count; /* ever started */
    int idle_count;        /* atomic; workers that wait for a request, or are about to */
    bool single;
    int error;
};

/* ---- Signals ---- */

static void do_nothing(int signal) {
    (void)signal;
}

static sigset_t ending_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, WORKER_ENDED_SIGNAL);
    return set;
}

void session_prepare_signals(void) {
    struct sigaction interrupt = {.sa_handler = do_nothing}; /* no SA_RESTART: that is its purpose */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t ending = ending_signals();
    sigaction(INTERRUPT_SIGNAL, &interrupt, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* a limit of file sizes is an error of the write, not our end */
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
}

int session_interrupt_signal(void) {
    return INTERRUPT_SIGNAL;
}

/* ---- Workers ---- */

struct reply_buffer {
    void *data;
    size_t size_bytes;
};

static pthread_key_t reply_buffer_key;
static pthread_once_t reply_buffer_once = PTHREAD_ONCE_INIT;

static void free_reply_buffer(void *pointer) {
    struct reply_buffer *buffer = pointer;
    free(buffer->data);
    free(buffer);
}

static void make_reply_buffer_key(void) {
    pthread_key_create(&reply_buffer_key, free_reply_buffer);
}

void *session_reply_buffer(size_t size_bytes) {
    pthread_once(&reply_buffer_once, make_reply_buffer_key);
    struct reply_buffer *buffer = pthread_getspecific(reply_buffer_key);
    if (!buffer) {
        buffer = calloc(1, sizeof(*buffer));
        if (!buffer || pthread_setspecific(reply_buffer_key, buffer) != 0) {
            free(buffer);
            return NULL;
        }
    }
    if (buffer->size_bytes < size_bytes) {
        void *grown;
        if (posix_memalign(&grown, PAGE_BYTES, size_bytes) != 0)
            return NULL;
        free(buffer->data);
        *buffer = (struct reply_buffer){.data = grown, .size_bytes = size_bytes};
    }
    return buffer->data;
}

static int start_worker(struct session *session);

/* Takes one request off the idle workers' list; the last of them sees to it that somebody waits for the next. */
static void become_busy(struct session *session) {
    if (__atomic_sub_fetch(&session->idle_count, 1, __ATOMIC_ACQ_REL) == 0 && !session->single)
        start_worker(session); /* if that fails, this worker comes back to the queue before long */
}

static void become_idle(struct session *session) {
    __atomic_add_fetch(&session->idle_count, 1, __ATOMIC_ACQ_REL);
}

static int serve(struct session *session, struct fuse_buf *buffer) {
    while (!fuse_session_exited(session->fuse)) {
        int result = fuse_session_receive_buf(session->fuse, buffer);
        if (result == -EINTR || result == -EAGAIN)
            continue;
        if (result <= 0)
            return result;
        become_busy(session);
        fuse_session_process_buf(session->fuse, buffer);
        become_idle(session);
    }
    return 0;
}

static void *run_worker(void *argument) {
    struct worker *worker = argument;
    struct session *session = worker->session;
    struct fuse_buf buffer = {.mem = NULL};
    int result = serve(session, &buffer);
    free(buffer.mem);
    if (result < 0) {
        pthread_mutex_lock(&session->lock);
        session->error = result;
        pthread_mutex_unlock(&session->lock);
        fuse_session_exit(session->fuse);
    }
    pthread_kill(session->main_thread, WORKER_ENDED_SIGNAL);
    __atomic_store_n(&worker->ended, true, __ATOMIC_RELEASE);
    return NULL;
}

static int start_worker_locked(struct session *session) {
    if (session->worker_count == WORKERS_MAX || fuse_session_exited(session->fuse))
        return -EAGAIN;
    CLEANUP_FREE struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return -ENOMEM;
    worker->session = session;
    become_idle(session);
    int err = pthread_create(&worker->thread, NULL, run_worker, worker);
    if (err != 0) {
        __atomic_sub_fetch(&session->idle_count, 1, __ATOMIC_ACQ_REL);
        return -err;
    }
    session->workers[session->worker_count++] = steal_pointer(&worker);
    return 0;
}

static int start_worker(struct session *session) {
    pthread_mutex_lock(&session->lock);
    int err = start_worker_locked(session);
    pthread_mutex_unlock(&session->lock);
    return err;
}

/* ---- The end ---- */

static int wait_for_end(struct session *session) {
    sigset_t ending = ending_signals();
    for (;;) {
        int signal = sigwaitinfo(&ending, NULL);
        if (signal == WORKER_ENDED_SIGNAL && fuse_session_exited(session->fuse))
            return 0;
        if (signal > 0 && signal != WORKER_ENDED_SIGNAL)
            return signal;
    }
}

/* Nudges the workers that have not ended out of their system calls. Returns how many there are. */
static unsigned nudge_workers(struct session *session) {
    unsigned running = 0;
    pthread_mutex_lock(&session->lock);
    for (unsigned index = 0; index < session->worker_count; index++) {
        struct worker *worker = session->workers[index];
        if (!__atomic_load_n(&worker->ended, __ATOMIC_ACQUIRE)) {
            running++;
            pthread_kill(worker->thread, INTERRUPT_SIGNAL);
        }
    }
    pthread_mutex_unlock(&session->lock);
    return running;
}

/* Waits for workers to leave, as long as that is a matter of patience. Returns how many hang. */
static unsigned stop_workers(struct session *session) {
    const struct timespec step = {.tv_nsec = STOP_STEP_MS * 1000000L};
    unsigned running = nudge_workers(session);
    for (int waited_ms = 0; running > 0 && waited_ms < STOP_PATIENCE_MS; waited_ms += STOP_STEP_MS) {
        nanosleep(&step, NULL);
        running = nudge_workers(session);
    }
    return running;
}

static void join_workers(struct session *session) {
    for (unsigned index = 0; index < session->worker_count; index++) {
        pthread_join(session->workers[index]->thread, NULL);
        free(session->workers[index]);
    }
}

struct session_outcome session_run(struct fuse_session *fuse, bool single) {
    struct session_outcome outcome = {.end = SESSION_FAILED};
    struct session *session = calloc(1, sizeof(*session));
    if (!session) {
        outcome.error = -ENOMEM;
        return outcome;
    }
    session->fuse = fuse;
    session->single = single;
    session->main_thread = pthread_self();
    pthread_mutex_init(&session->lock, NULL);

    outcome.error = start_worker(session);
    if (outcome.error == 0)
        outcome.signal = wait_for_end(session);
    fuse_session_exit(fuse);
    outcome.hung_workers = stop_workers(session);
    if (outcome.error == 0)
        outcome.error = session->error;
    outcome.end = outcome.error < 0 ? SESSION_FAILED : outcome.signal > 0 ? SESSION_SIGNALLED : SESSION_UNMOUNTED;
    if (outcome.hung_workers == 0) {
        join_workers(session);
        pthread_mutex_destroy(&session->lock);
        free(session);
    }
    return outcome;
}
