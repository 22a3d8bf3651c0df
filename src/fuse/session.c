/* Workers and the thread that waits for their end. */
#include "session.h"

#include <errno.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "crew.h"
#include "init_answer.h"
#include "ring.h"

#define WORKERS_MAX 512U
#define STOP_PATIENCE_MS 2000
#define STOP_STEP_MS 10
#define PAGE_BYTES 4096U
#define AHEAD_BYTES 65536U /* the kernel reads ahead 128 KiB at a time, and less for small files */

#define INTERRUPT_SIGNAL SIGUSR1
#define MAIN_SIGNAL SIGUSR2 /* to the main thread: a worker has ended, or wants something of it */

#define LOOK_EVERY_NS 2000000L   /* at the crew */
#define NUDGE_EVERY_NS 10000000L /* system calls that are to be interrupted */
#define NUDGE_MISSES 3U
#define RING_LOOK_EVERY_NS 20000000L /* for interrupts that were lost */
#define RING_LOOKS_PER_LOCK 50U
#define NS_PER_S 1000000000L
#define LATER_NS NS_PER_S

/* A request to be interrupted. */
struct interrupt {
    uint64_t request;
    unsigned misses; /* scans in a row that found no worker at it: not yet, or no longer */
};

/* A thread that serves requests: a worker, libfuse's for a ring, or one that waits for a lock. */
struct session_server {
    struct session_server *next; /* of those that are no workers */
    struct session *session;
    pthread_t thread;
    struct worker *worker;  /* that it is; else NULL */
    bool on_ring;           /* libfuse's */
    uint64_t seen;          /* the main thread's: what it could be interrupted at when it looked last */
    pid_t caller;           /* atomic; of the request that it is at */
    uint64_t request;       /* atomic; the one that it is at; 0: none */
    uint64_t interruptible; /* atomic; that one, while it may be interrupted; else 0 */
    unsigned interrupters;  /* atomic; others that may be about to signal it */
};

struct worker {
    struct session_server server;
    struct crew_member member;
    bool counted;             /* among the idle; its own */
    bool lacks_fsetid;        /* says the request of its caller; its own */
    bool is_ahead;            /* see struct crew_call; its own */
    uint64_t answered_cycles; /* when the request was served; 0: not yet; its own */
    bool ended;               /* atomic */
};

struct session {
    struct fuse_session *fuse;
    struct crew crew;
    pthread_t main_thread;
    pthread_mutex_t lock;
    pthread_cond_t released;
    struct worker *workers[WORKERS_MAX];
    unsigned worker_count;         /* ever started */
    struct session_server *others; /* under the lock */
    unsigned parked_count;         /* workers that wait to be released */
    unsigned releases;             /* how many of them may go */
    int idle_count;       /* atomic; workers that wait for a request, or are about to; members of the crew not */
    bool receiver_wanted; /* atomic; the main thread is to add one */
    struct interrupt interrupts[WORKERS_MAX];
    unsigned interrupt_count;  /* atomic; changed under the lock; for the main thread to repeat */
    void (*later)(void *data); /* atomic; NULL: nothing is to be called */
    void *later_data;          /* under the lock */
    int64_t called_ns;         /* when something was last; the main thread's */
    bool single;
    struct ring_keeper *ring; /* NULL: requests do not come over rings */
    unsigned ring_looks;      /* the main thread's */
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
    sigaddset(&set, MAIN_SIGNAL);
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

static int add_receiver(struct session *session);

/* Takes a worker off the idle ones. Returns true if it was the last of them. */
static bool leave_idle(struct worker *worker) {
    if (!worker->counted)
        return false;
    worker->counted = false;
    return __atomic_sub_fetch(&worker->server.session->idle_count, 1, __ATOMIC_ACQ_REL) == 0;
}

/* It has taken a request; the last of the idle ones sees to it that somebody waits for the next. */
static void become_busy(struct worker *worker) {
    struct session *session = worker->server.session;
    if (leave_idle(worker) && !session->single && !crew_exists(&session->crew))
        add_receiver(session); /* if that fails, this worker comes back to the queue before long */
}

static void become_idle(struct worker *worker) {
    if (!worker->counted)
        __atomic_add_fetch(&worker->server.session->idle_count, 1, __ATOMIC_ACQ_REL);
    worker->counted = true;
}

static void wake_main_thread(struct session *session) {
    pthread_kill(session->main_thread, MAIN_SIGNAL);
}

/* By the main thread: a member of the crew may be without a CPU for long, and must not hold the lock meanwhile. */
static void ask_for_receiver(struct session *session) {
    __atomic_store_n(&session->receiver_wanted, true, __ATOMIC_SEQ_CST);
    wake_main_thread(session);
}

/* Leaves the requests to the crew, until somebody is released. */
static void park(struct worker *worker) {
    struct session *session = worker->server.session;
    pthread_mutex_lock(&session->lock);
    if (crew_exists(&session->crew)) {
        session->parked_count++;
        while (session->releases == 0 && !fuse_session_exited(session->fuse))
            pthread_cond_wait(&session->released, &session->lock);
        session->parked_count--;
        if (session->releases > 0)
            session->releases--;
    }
    pthread_mutex_unlock(&session->lock);
}

/* Until this worker is to receive the next request: as a member of the crew, or because there is none. */
static void take_turn(struct worker *worker) {
    struct crew *crew = &worker->server.session->crew;
    while (!crew_has(&worker->member) && crew_exists(crew) && !fuse_session_exited(worker->server.session->fuse)) {
        leave_idle(worker);
        if (!crew_join(crew, &worker->member))
            park(worker);
    }
    if (!crew_has(&worker->member))
        become_idle(worker);
}

/* ---- Threads that serve ---- */

static _Thread_local struct session_server *this_server;

static void add_server(struct session *session, struct session_server *server) {
    pthread_mutex_lock(&session->lock);
    server->next = session->others;
    session->others = server;
    pthread_mutex_unlock(&session->lock);
}

struct session_server *session_add_server(struct session *session, uint64_t request) {
    struct session_server *server = calloc(1, sizeof(*server));
    if (!server)
        return NULL;
    server->session = session;
    server->request = request;
    add_server(session, server);
    return server;
}

void session_be_server(struct session_server *server) {
    server->thread = pthread_self();
    this_server = server;
}

void session_remove_server(struct session_server *server) {
    if (!server)
        return;
    struct session *session = server->session;
    pthread_mutex_lock(&session->lock);
    struct session_server **link = &session->others;
    while (*link != server)
        link = &(*link)->next;
    *link = server->next;
    pthread_mutex_unlock(&session->lock);
    free(server);
}

void session_end_server(struct session_server *server, fuse_req_t req, int error) {
    if (ring_carries(req))
        ring_answer(server->session->ring, req, error);
    else
        fuse_reply_err(req, error);
    session_remove_server(server);
}

/* Of libfuse's threads the first request is the first that is heard. They are not to be cancelled in a call: it may
 * hold locks. Without memory this one's calls cannot be interrupted. */
static void join_from_ring(struct session *session) {
    struct session_server *server = calloc(1, sizeof(*server));
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    if (!server)
        return;
    server->session = session;
    server->on_ring = true;
    session_be_server(server);
    add_server(session, server);
}

/* Afterwards no signal comes any more: it would hit the next request. */
static void wait_for_interrupters(struct session_server *server) {
    while (__atomic_load_n(&server->interrupters, __ATOMIC_SEQ_CST) > 0)
        sched_yield();
}

/* Before it is answered: the one who waits for it may run then, and not us. */
static void note_served(struct worker *worker) {
    worker->answered_cycles = aggstats_clock_now(worker->server.session->crew.clock.kind);
    crew_answer(&worker->member);
}

void session_enter(struct session *session, fuse_req_t req, bool interruptible) {
    if (!this_server)
        join_from_ring(session);
    struct session_server *server = this_server;
    if (!server)
        return;
    if (!server->worker)
        __atomic_store_n(&server->caller, fuse_req_ctx(req)->pid, __ATOMIC_RELAXED);
    if (server->on_ring)
        __atomic_store_n(&server->request, ring_request(session->fuse, req), __ATOMIC_RELEASE);
    if (interruptible)
        __atomic_store_n(&server->interruptible, server->request, __ATOMIC_RELEASE); /* if seen late: it is repeated */
}

void session_leave(bool interruptible) {
    struct session_server *server = this_server;
    if (!server)
        return;
    if (interruptible)
        __atomic_exchange_n(&server->interruptible, 0, __ATOMIC_SEQ_CST);
    if (server->on_ring)
        __atomic_exchange_n(&server->request, 0, __ATOMIC_SEQ_CST);
    if (interruptible || server->on_ring)
        wait_for_interrupters(server);
    if (server->worker)
        note_served(server->worker);
}

uint64_t session_request(struct session *session, fuse_req_t req) {
    return this_server && this_server->worker ? this_server->request : ring_request(session->fuse, req);
}

/* ---- Interrupts ----
 *
 * libfuse's own way takes locks that all workers share, at every request, and knows no requests of rings. Here a thread
 * only notes what it is at, and whoever receives the rare FUSE_INTERRUPT looks for it. */

/* at: what says that the thread may be signalled while it is not 0; request: that there must be, 0: any */
static bool signal_while(struct session_server *server, const uint64_t *at, uint64_t request) {
    __atomic_add_fetch(&server->interrupters, 1, __ATOMIC_SEQ_CST);
    uint64_t found = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    bool hit = found != 0 && (request == 0 || found == request);
    if (hit)
        pthread_kill(server->thread, INTERRUPT_SIGNAL);
    __atomic_sub_fetch(&server->interrupters, 1, __ATOMIC_SEQ_CST);
    return hit;
}

static bool interrupt_if_at(struct session_server *server, uint64_t request) {
    if (__atomic_load_n(&server->request, __ATOMIC_ACQUIRE) != request)
        return false;
    signal_while(server, &server->interruptible, request);
    return true;
}

/* Returns whether a thread is at it. */
static bool interrupt_locked(struct session *session, uint64_t request) {
    bool found = false;
    for (unsigned index = 0; index < session->worker_count; index++)
        found |= interrupt_if_at(&session->workers[index]->server, request);
    for (struct session_server *server = session->others; server; server = server->next)
        found |= interrupt_if_at(server, request);
    return found;
}

/* Once is not enough: the thread may not have come to the system call, or not even have noted what it has taken. So the
 * main thread repeats it until the request is over. */
static void interrupt(struct session *session, uint64_t request) {
    pthread_mutex_lock(&session->lock);
    interrupt_locked(session, request);
    unsigned count = session->interrupt_count;
    if (count < WORKERS_MAX) {
        session->interrupts[count] = (struct interrupt){.request = request};
        __atomic_store_n(&session->interrupt_count, count + 1, __ATOMIC_SEQ_CST);
    }
    pthread_mutex_unlock(&session->lock);
    wake_main_thread(session);
}

static void repeat_interrupts(struct session *session) {
    unsigned kept = 0;
    pthread_mutex_lock(&session->lock);
    for (unsigned index = 0; index < session->interrupt_count; index++) {
        struct interrupt interrupt = session->interrupts[index];
        interrupt.misses = interrupt_locked(session, interrupt.request) ? 0 : interrupt.misses + 1;
        if (interrupt.misses < NUDGE_MISSES)
            session->interrupts[kept++] = interrupt;
    }
    __atomic_store_n(&session->interrupt_count, kept, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&session->lock);
}

static void interrupt_if_killed(struct session_server *server) {
    uint64_t at = __atomic_load_n(&server->interruptible, __ATOMIC_ACQUIRE);
    bool lasts = at != 0 && at == server->seen;
    server->seen = at;
    if (lasts && cpu_is_killed(__atomic_load_n(&server->caller, __ATOMIC_RELAXED)))
        signal_while(server, &server->interruptible, at);
}

/* The kernel sends no FUSE_INTERRUPT if the signal comes before a ring's thread has taken the request. So the main
 * thread looks itself whether the callers of calls that last have been killed; less often of those that wait for locks,
 * who may be many. */
static void find_lost_interrupts(struct session *session) {
    bool looks_at_locks = session->ring_looks++ % RING_LOOKS_PER_LOCK == 0;
    pthread_mutex_lock(&session->lock);
    for (struct session_server *server = session->others; server; server = server->next) {
        if (server->on_ring || looks_at_locks)
            interrupt_if_killed(server);
    }
    pthread_mutex_unlock(&session->lock);
}

/* ---- What is read from a request before libfuse sees it ---- */

bool session_caller_lacks_fsetid(void) {
    return this_server && this_server->worker && this_server->worker->lacks_fsetid;
}

static bool says_lacks_fsetid(uint32_t opcode, const char *body) {
    struct fuse_write_in write;
    struct fuse_setattr_in setattr;
    struct fuse_create_in create;
    switch (opcode) {
    case FUSE_WRITE:
        memcpy(&write, body, sizeof(write));
        return write.write_flags & FUSE_WRITE_KILL_SUIDGID;
    case FUSE_SETATTR:
        memcpy(&setattr, body, sizeof(setattr));
        return setattr.valid & FATTR_KILL_SUIDGID;
    case FUSE_CREATE: /* which may find a file, and truncate it */
        memcpy(&create, body, sizeof(create));
        return create.open_flags & FUSE_OPEN_KILL_SUIDGID;
    default:
        return false;
    }
}

static bool is_large_read(uint32_t opcode, const char *body) {
    struct fuse_read_in read;
    if (opcode != FUSE_READ)
        return false;
    memcpy(&read, body, sizeof(read));
    return read.size >= AHEAD_BYTES;
}

static struct fuse_in_header look_into(struct worker *worker, const struct fuse_buf *request) {
    struct fuse_in_header header;
    const char *body = (const char *)request->mem + sizeof(header);
    memcpy(&header, request->mem, sizeof(header));
    __atomic_store_n(&worker->server.request, header.unique, __ATOMIC_RELEASE);
    worker->lacks_fsetid = says_lacks_fsetid(header.opcode, body);
    worker->is_ahead = is_large_read(header.opcode, body);
    return header;
}

/* It has no answer. */
static void take_interrupt(struct session *session, const struct fuse_buf *request) {
    struct fuse_interrupt_in interrupted;
    memcpy(&interrupted, (const char *)request->mem + sizeof(struct fuse_in_header), sizeof(interrupted));
    interrupt(session, interrupted.unique);
}

/* ---- Workers ---- */

static int receive(struct session *session, struct fuse_buf *buffer) {
    int result = fuse_session_receive_buf(session->fuse, buffer);
    if (result != -ECONNABORTED)
        return result;
    fuse_session_exit(session->fuse); /* the end, seen with a request half taken; libfuse knows only ENODEV */
    return 0;
}

/* Takes one request and answers it. Returns 0 at the end of the session. */
static int serve_one(struct worker *worker, struct fuse_buf *buffer) {
    struct session *session = worker->server.session;
    uint32_t clock_kind = session->crew.clock.kind;
    uint64_t wait_cycles = aggstats_clock_now(clock_kind);
    int result = receive(session, buffer);
    if (result <= 0)
        return result;
    uint64_t start_cycles = aggstats_clock_now(clock_kind);
    crew_take(&worker->member);
    become_busy(worker);
    struct fuse_in_header header = look_into(worker, buffer);
    worker->answered_cycles = 0;
    if (header.opcode == FUSE_INTERRUPT)
        take_interrupt(session, buffer);
    else
        fuse_session_process_buf(session->fuse, buffer);
    __atomic_store_n(&worker->server.request, 0, __ATOMIC_RELEASE);
    uint64_t answered_cycles = worker->answered_cycles;
    struct crew_call call = {.caller = header.pid,
                             .wait_cycles = start_cycles - wait_cycles,
                             .work_cycles = answered_cycles ? answered_cycles - start_cycles : 0,
                             .is_ahead = worker->is_ahead};
    enum crew_need need = crew_done(&session->crew, &worker->member, &call);
    if (need == CREW_NEEDS_RECEIVER)
        ask_for_receiver(session);
    else if (need == CREW_NEEDS_LOOKS)
        wake_main_thread(session);
    return result;
}

static int serve(struct worker *worker, struct fuse_buf *buffer) {
    struct session *session = worker->server.session;
    this_server = &worker->server;
    worker->member.thread = gettid();
    for (;;) {
        take_turn(worker);
        if (fuse_session_exited(session->fuse))
            return 0;
        int result = serve_one(worker, buffer);
        if (result <= 0 && result != -EINTR && result != -EAGAIN)
            return result;
    }
}

static void *run_worker(void *argument) {
    struct worker *worker = argument;
    struct session *session = worker->server.session;
    struct fuse_buf buffer = {.mem = NULL};
    int result = serve(worker, &buffer);
    free(buffer.mem);
    if (result < 0) {
        pthread_mutex_lock(&session->lock);
        session->error = result;
        pthread_mutex_unlock(&session->lock);
        fuse_session_exit(session->fuse);
    }
    wake_main_thread(session);
    __atomic_store_n(&worker->ended, true, __ATOMIC_RELEASE);
    return NULL;
}

static int start_worker_locked(struct session *session) {
    if (session->worker_count == WORKERS_MAX || fuse_session_exited(session->fuse))
        return -EAGAIN;
    CLEANUP_FREE struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return -ENOMEM;
    worker->server.session = session;
    worker->server.worker = worker;
    become_idle(worker);
    int err = pthread_create(&worker->server.thread, NULL, run_worker, worker);
    if (err != 0) {
        leave_idle(worker);
        return -err;
    }
    session->workers[session->worker_count++] = steal_pointer(&worker);
    return 0;
}

/* One more worker that waits for requests: a parked one, or a new one. */
static int add_receiver(struct session *session) {
    int err = 0;
    pthread_mutex_lock(&session->lock);
    if (session->parked_count > session->releases) {
        session->releases++;
        pthread_cond_signal(&session->released);
    } else {
        err = start_worker_locked(session);
    }
    pthread_mutex_unlock(&session->lock);
    return err;
}

/* ---- The main thread ---- */

static bool has_interrupts(struct session *session) {
    return __atomic_load_n(&session->interrupt_count, __ATOMIC_SEQ_CST) > 0;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

bool session_call_later(void (*call)(void *data), void *data) {
    if (!this_server)
        return false;
    struct session *session = this_server->session;
    pthread_mutex_lock(&session->lock);
    session->later_data = data;
    __atomic_store_n(&session->later, call, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&session->lock);
    wake_main_thread(session);
    return true;
}

static bool has_later(struct session *session) {
    return __atomic_load_n(&session->later, __ATOMIC_ACQUIRE);
}

static void do_later(struct session *session) {
    pthread_mutex_lock(&session->lock);
    void (*call)(void *data) = __atomic_exchange_n(&session->later, NULL, __ATOMIC_ACQ_REL);
    void *data = session->later_data;
    pthread_mutex_unlock(&session->lock);
    session->called_ns = now_ns();
    call(data);
}

static void look_around(struct session *session) {
    if (has_interrupts(session))
        repeat_interrupts(session);
    if (session->ring)
        find_lost_interrupts(session);
    if (crew_exists(&session->crew) && crew_look(&session->crew, fuse_session_fd(session->fuse)))
        add_receiver(session);
    if (has_later(session) && now_ns() - session->called_ns >= LATER_NS)
        do_later(session);
}

/* How often to do so; 0: there is nothing to look at. */
static int64_t look_step_ns(struct session *session) {
    if (crew_exists(&session->crew))
        return LOOK_EVERY_NS;
    if (has_interrupts(session))
        return NUDGE_EVERY_NS;
    if (session->ring)
        return RING_LOOK_EVERY_NS;
    return has_later(session) ? LATER_NS : 0;
}

/* Looks around every so often, also while signals come. ret_looked_ns: when it did last. */
static int wait_for_signal(struct session *session, int64_t *ret_looked_ns) {
    sigset_t ending = ending_signals();
    int64_t step_ns = look_step_ns(session);
    if (step_ns == 0)
        return sigwaitinfo(&ending, NULL);
    int64_t left_ns = *ret_looked_ns + step_ns - now_ns();
    left_ns = left_ns < 0 ? 0 : left_ns < step_ns ? left_ns : step_ns;
    const struct timespec left = {.tv_sec = left_ns / NS_PER_S, .tv_nsec = left_ns % NS_PER_S};
    int signal = sigtimedwait(&ending, NULL, &left);
    if (now_ns() - *ret_looked_ns >= step_ns) {
        look_around(session);
        *ret_looked_ns = now_ns();
    }
    return signal;
}

static int wait_for_end(struct session *session) {
    int64_t looked_ns = 0;
    for (;;) {
        int signal = wait_for_signal(session, &looked_ns);
        if (signal > 0 && signal != MAIN_SIGNAL)
            return signal;
        if (fuse_session_exited(session->fuse))
            return 0;
        if (__atomic_exchange_n(&session->receiver_wanted, false, __ATOMIC_SEQ_CST))
            add_receiver(session);
    }
}

/* ---- The end ---- */

/* Nudges libfuse's threads out of their system calls. Returns how many of them are in one, or 1 until all have ended.
 */
static unsigned nudge_ring_locked(struct session *session) {
    unsigned running = 0;
    if (!session->ring || ring_has_ended(session->ring))
        return 0;
    for (struct session_server *server = session->others; server; server = server->next)
        running += server->on_ring && signal_while(server, &server->request, 0);
    return running > 0 ? running : 1;
}

/* Nudges the threads that have not ended out of their system calls. Returns how many there are. */
static unsigned nudge_servers(struct session *session) {
    pthread_mutex_lock(&session->lock);
    unsigned running = nudge_ring_locked(session);
    pthread_cond_broadcast(&session->released);
    for (unsigned index = 0; index < session->worker_count; index++) {
        struct worker *worker = session->workers[index];
        if (!__atomic_load_n(&worker->ended, __ATOMIC_ACQUIRE)) {
            running++;
            pthread_kill(worker->server.thread, INTERRUPT_SIGNAL);
        }
    }
    pthread_mutex_unlock(&session->lock);
    return running;
}

/* Waits for threads to leave, as long as that is a matter of patience. Returns how many hang. */
static unsigned wait_for_servers(struct session *session) {
    const struct timespec step = {.tv_nsec = STOP_STEP_MS * 1000000L};
    unsigned running = nudge_servers(session);
    for (int waited_ms = 0; running > 0 && waited_ms < STOP_PATIENCE_MS; waited_ms += STOP_STEP_MS) {
        nanosleep(&step, NULL);
        running = nudge_servers(session);
    }
    return running;
}

static void join_servers(struct session *session) {
    for (unsigned index = 0; index < session->worker_count; index++)
        pthread_join(session->workers[index]->server.thread, NULL);
}

/* ---- Life cycle ---- */

int session_create(struct fuse_session *fuse, const struct session_options *options, struct session **ret_session) {
    CLEANUP_FREE struct session *session = calloc(1, sizeof(*session));
    if (!session)
        return -ENOMEM;
    session->fuse = fuse;
    session->single = options->single;
    if (options->over_ring && !(session->ring = ring_keeper_create(fuse)))
        return -ENOMEM;
    crew_init(&session->crew, &options->clock, !options->single && !session->ring);
    session->main_thread = pthread_self();
    pthread_mutex_init(&session->lock, NULL);
    pthread_cond_init(&session->released, NULL);
    *ret_session = steal_pointer(&session);
    return 0;
}

void session_destroy(struct session *session) {
    if (!session)
        return;
    for (unsigned index = 0; index < session->worker_count; index++)
        free(session->workers[index]);
    while (session->others) {
        struct session_server *server = session->others;
        session->others = server->next;
        free(server);
    }
    ring_keeper_destroy(session->ring);
    crew_finish(&session->crew);
    pthread_cond_destroy(&session->released);
    pthread_mutex_destroy(&session->lock);
    free(session);
}

int session_negotiate(struct session *session) {
    struct fuse_buf buffer = {.mem = NULL};
    int err = init_answer_attach(session->fuse);
    if (err == 0 && fuse_session_receive_buf(session->fuse, &buffer) > 0)
        fuse_session_process_buf(session->fuse, &buffer);
    free(buffer.mem);
    return err;
}

void session_set_thread_home(const struct session *session, pthread_attr_t *attr) {
    cpu_set_home(&session->crew.home, attr);
}

/* Who will answer over the ring. */
static bool has_lock_waiters(struct session *session) {
    pthread_mutex_lock(&session->lock);
    const struct session_server *server = session->others;
    while (server && server->on_ring)
        server = server->next;
    pthread_mutex_unlock(&session->lock);
    return server;
}

unsigned session_stop(struct session *session) {
    fuse_session_exit(session->fuse);
    crew_disband(&session->crew);
    if (session->ring && !has_lock_waiters(session))
        ring_end(session->ring);
    unsigned hung = wait_for_servers(session);
    if (hung == 0)
        join_servers(session);
    return hung;
}

struct session_outcome session_run(struct session *session) {
    struct session_outcome outcome = {.error = add_receiver(session)};
    if (outcome.error == 0)
        outcome.signal = wait_for_end(session);
    if (outcome.error == 0)
        outcome.error = session->error;
    outcome.end = outcome.error < 0 ? SESSION_FAILED : outcome.signal > 0 ? SESSION_SIGNALLED : SESSION_UNMOUNTED;
    return outcome;
}
