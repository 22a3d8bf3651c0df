/* What a worker does about the crew at each call: it notes what the call was like, and after a window of calls begins a
 * crew, lets it grow, leaves or ends it. */
#include "crew_private.h"

#include <poll.h>
#include <sys/resource.h>

#define BEGIN_CALLS 16U /* the window of a worker that is no member: each of them may wake a CPU */
#define MANY_SLOW 8U
#define MANY_SWITCHES 16U
#define FEW_SWITCHES 8U
#define MANY_SLEEPS 40U
#define SETTLED_WINDOWS 16U
#define LOOK_AFTER_SLEEP 4U  /* calls: the scheduler may have moved the caller, if one had to wait for it */
#define MANY_AWAY_LOOKS 16U  /* in a row */
#define ASK_EVERY 16U        /* calls: whether one waits for something, and others for it */
#define MANY_HELD_UP 3U      /* of the four asked in a window */
#define QUEUE_CALLS 64U      /* in a row: who only closes files has a queue of some calls now and then */
#define QUEUELESS_WINDOWS 4U /* in a row */

#define SLOW_HZ 10000U   /* 100 us */
#define SLEEP_HZ 200000U /* 5 us: a request that was there takes less to receive */

void crew_start_window(struct crew_member *worker) {
    worker->calls = 0;
    worker->slow_calls = 0;
    worker->switches = 0;
    worker->on_names = 0;
    worker->sleeps = 0;
    worker->queued = false;
    worker->held_up = 0;
    worker->callers = 0;
}

static void advance(struct crew_member *worker) {
    __atomic_store_n(&worker->progress, worker->progress + 1, __ATOMIC_RELEASE);
}

/* How often this thread has left the CPU to wait for something. */
static long waits_of_this_thread(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

bool crew_requests_wait(int device_fd) {
    struct pollfd device = {.fd = device_fd, .events = POLLIN};
    return poll(&device, 1, 0) == 1 && device.revents & POLLIN;
}

static bool is_asked(const struct crew_member *worker) {
    return worker->calls % ASK_EVERY == 0 && crew_has(worker);
}

void crew_take(struct crew_member *worker) {
    advance(worker);
    if (is_asked(worker))
        worker->waits_before = waits_of_this_thread();
}

/* One call of each window, and not always the same of those that come again and again; where requests waited, those
 * after it too, until it is clear that they do always. */
static bool is_asked_for_queue(const struct crew_member *worker) {
    bool is_first = worker->calls == worker->windows % WINDOW_CALLS;
    bool goes_on = worker->queue_calls > 0 && worker->queue_calls < QUEUE_CALLS;
    return (is_first || goes_on) && crew_has(worker);
}

static void ask_for_queue(struct crew_member *worker, int device_fd) {
    bool is_there = crew_requests_wait(device_fd);
    worker->queued |= is_there;
    worker->queue_calls = is_there ? worker->queue_calls + 1 : 0;
}

void crew_answer(struct crew_member *worker, int device_fd) {
    if (is_asked_for_queue(worker))
        ask_for_queue(worker, device_fd);
    if (is_asked(worker))
        worker->held_up += waits_of_this_thread() != worker->waits_before && crew_requests_wait(device_fd);
    __atomic_store_n(&worker->answered, worker->progress, __ATOMIC_RELEASE);
}

/* Of a queue some calls need not be waited for, or come to several workers at a time. Who counts at once may lose
 * each other's. */
static void note_whether_one_by_one(struct crew *crew, const struct crew_call *call, bool slept) {
    unsigned before = __atomic_load_n(&crew->one_by_one, __ATOMIC_RELAXED);
    unsigned less = before > 0 ? before - 1 : 0;
    unsigned now = call->is_beside ? 0 : slept ? before + 1 : less;
    if (now != before)
        __atomic_store_n(&crew->one_by_one, now, __ATOMIC_RELAXED);
}

static bool has_slept(const struct crew *crew, const struct crew_call *call) {
    return call->wait_cycles > crew->clock.frequency_hz / SLEEP_HZ;
}

bool crew_may_ask(const struct crew *crew, const struct crew_member *worker, const struct crew_call *call) {
    if (!crew_is_possible(crew))
        return false;
    if (!crew_has(worker))
        return worker->calls + 1 >= BEGIN_CALLS;
    unsigned since_look = worker->since_look + 1;
    return worker->calls + 1 >= WINDOW_CALLS || since_look >= LOOK_EVERY ||
           (since_look >= LOOK_AFTER_SLEEP && has_slept(crew, call)) || worker->placed != crew_current_manner(crew);
}

static void note(struct crew *crew, struct crew_member *worker, const struct crew_call *call) {
    bool slept = has_slept(crew, call);
    worker->calls++;
    worker->sleeps += slept;
    if (__atomic_load_n(&crew->rests, __ATOMIC_RELAXED))
        note_whether_one_by_one(crew, call, slept);
    worker->slow_calls += call->is_ahead || call->work_cycles > crew->clock.frequency_hz / SLOW_HZ;
    worker->on_names += call->is_on_name;
    worker->since_look++;
    if (slept && worker->since_look >= LOOK_AFTER_SLEEP)
        worker->since_look = LOOK_EVERY;
    if (call->caller != 0 && call->caller != worker->caller) {
        worker->other = worker->caller;
        worker->caller = call->caller;
        worker->switches++;
    }
    if (call->caller != 0)
        worker->callers |= UINT64_C(1) << call->caller % 64;
}

static bool grow(struct crew *crew, unsigned most) {
    unsigned count = crew_count(crew);
    return count < most &&
           __atomic_compare_exchange_n(&crew->wanted, &count, count + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* More workers would wait for more things at once. Free members are many as it is, and slow by being without a CPU. */
static bool holds_up(const struct crew_member *worker, enum crew_manner manner) {
    bool is_slow = worker->slow_calls >= MANY_SLOW && manner != CREW_IS_FREE;
    return is_slow || worker->held_up >= MANY_HELD_UP;
}

static bool needs_more(const struct crew *crew, const struct crew_member *worker, enum crew_manner manner) {
    unsigned count = crew_count(crew);
    if (count >= crew_most_in(crew, manner))
        return false;
    if (manner == CREW_IS_FREE)
        return true;
    if (worker->switches < MANY_SWITCHES)
        return false;
    return manner == CREW_GIVES_WAY ? crew_has_caller_elsewhere(crew, worker)
                                    : count < crew_count_callers(worker->callers);
}

static bool is_one_too_many(const struct crew *crew, const struct crew_member *worker, enum crew_manner manner) {
    if (crew_count(crew) > crew_most_in(crew, manner))
        return true;
    if (crew_count(crew) == 1 || manner != CREW_GIVES_WAY)
        return false;
    if (worker->away_looks >= MANY_AWAY_LOOKS)
        return true;
    if (worker->switches == 0 && worker->queued && crew_is_apart(crew, worker))
        return true;
    bool has_settled = worker->switches < FEW_SWITCHES && worker->windows >= SETTLED_WINDOWS;
    return worker->sleeps >= MANY_SLEEPS && (has_settled || crew_is_apart(crew, worker));
}

/* Many members may leave no request to wait: that says nothing of the queue. */
static void review_queue(struct crew_member *worker, enum crew_manner manner) {
    if (manner == CREW_IS_FREE)
        return;
    worker->queueless = worker->queued ? 0 : worker->queueless + 1;
    if (worker->queue_calls >= QUEUE_CALLS || worker->queueless >= QUEUELESS_WINDOWS)
        __atomic_store_n(&worker->seen_queue, worker->queued, __ATOMIC_RELAXED);
}

/* Every so many calls. Returns true if one more worker is to wait for requests. */
static bool review_member(struct crew *crew, struct crew_member *worker) {
    enum crew_manner manner = crew_current_manner(crew);
    worker->windows++;
    review_queue(worker, manner);
    __atomic_store_n(&worker->seen_callers, worker->callers, __ATOMIC_RELAXED);
    __atomic_store_n(&worker->seen_on_names, worker->on_names, __ATOMIC_RELAXED);
    if (holds_up(worker, manner)) {
        cpu_go_home(&crew->home, worker->thread);
        crew_end(crew, CREW_ENDS_SLOW);
        return false; /* it takes the next, and sees then to it that others do */
    }
    if (needs_more(crew, worker, manner))
        return grow(crew, crew_most_in(crew, manner));
    if (is_one_too_many(crew, worker, manner))
        crew_leave(crew, worker);
    return false;
}

/* Every so many calls. */
static enum crew_need review(struct crew *crew, struct crew_member *worker) {
    if (crew_has(worker))
        return review_member(crew, worker) ? CREW_NEEDS_RECEIVER : CREW_NEEDS_NOTHING;
    if (worker->slow_calls == 0 && !crew_exists(crew) && crew_begin(crew, worker))
        return CREW_NEEDS_LOOKS;
    return CREW_NEEDS_NOTHING;
}

static enum crew_need look_back(struct crew *crew, struct crew_member *worker, const struct crew_call *call) {
    enum crew_need need = CREW_NEEDS_NOTHING;
    note(crew, worker, call);
    if (worker->calls >= (crew_has(worker) ? WINDOW_CALLS : BEGIN_CALLS)) {
        need = review(crew, worker);
        crew_start_window(worker);
    }
    if (crew_has(worker) && (worker->since_look >= LOOK_EVERY || worker->placed != crew_current_manner(crew))) {
        crew_find_place(crew, worker);
        if (!crew_has(worker)) { /* ended meanwhile */
            crew_unbind(crew, worker);
            cpu_go_home(&crew->home, worker->thread);
        }
    }
    return need;
}

enum crew_need crew_done(struct crew *crew, struct crew_member *worker, const struct crew_call *call) {
    enum crew_need need = crew_is_possible(crew) ? look_back(crew, worker, call) : CREW_NEEDS_NOTHING;
    advance(worker);
    return need;
}
