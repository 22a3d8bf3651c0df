/* The crew of workers for short requests. A member holds the lock only outside of SCHED_IDLE, where it might keep it
 * for long. */
#include "crew.h"

#include <poll.h>
#include <string.h>

#define WINDOW_CALLS 64U
#define MANY_SLOW 8U
#define FEW_SLOW 1U
#define MANY_SWITCHES 16U
#define FEW_SWITCHES 8U
#define MANY_SLEEPS 40U
#define SETTLED_WINDOWS 16U
#define LOOK_EVERY 256U     /* calls: the scheduler has moved the caller meanwhile */
#define LOOK_AFTER_SLEEP 4U /* calls: it may have moved the caller, if one had to wait for it */
#define QUIET_LOOKS 20U

#define SLOW_HZ 10000U   /* 100 us */
#define SLEEP_HZ 200000U /* 5 us: a request that was there takes less to receive */
#define PAUSE_HZ 1000U   /* 1 ms; doubled after each end that came soon */
#define PAUSE_MAX_S 1U
#define WORTH_CALLS 5000U

void crew_init(struct crew *crew, const struct aggstats_clock *clock, bool allowed) {
    *crew = (struct crew){.clock = *clock};
    pthread_mutex_init(&crew->lock, NULL);
    if (!allowed)
        return;
    cpu_find_home(&crew->home);
    unsigned cpus = (unsigned)CPU_COUNT(&crew->home.cpus);
    if (crew->home.idle_possible)
        crew->most = cpus < CREW_MAX ? cpus : CREW_MAX;
}

void crew_finish(struct crew *crew) {
    pthread_mutex_destroy(&crew->lock);
}

static unsigned count_of(const struct crew *crew) {
    return __atomic_load_n(&crew->count, __ATOMIC_ACQUIRE);
}

static unsigned wanted_by(const struct crew *crew) {
    return __atomic_load_n(&crew->wanted, __ATOMIC_ACQUIRE);
}

static uint64_t calls_since_joined(const struct crew_member *member) {
    return (__atomic_load_n(&member->progress, __ATOMIC_RELAXED) - member->joined) / 2;
}

static void start_window(struct crew_member *worker) {
    worker->calls = 0;
    worker->slow_calls = 0;
    worker->switches = 0;
    worker->sleeps = 0;
}

/* ---- Where members are bound to ---- */

static void unbind(struct crew *crew, struct crew_member *worker) {
    if (worker->cpu >= 0)
        __atomic_clear(&crew->taken[worker->cpu], __ATOMIC_RELEASE);
    worker->cpu = -1;
}

/* The CPU of a caller, if one may be bound to it; else -1. */
static int cpu_of_caller(const struct crew *crew, uint32_t caller) {
    int cpu = cpu_of_thread(caller);
    return cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &crew->home.cpus) ? cpu : -1;
}

static bool is_taken(const struct crew *crew, int cpu) {
    return __atomic_load_n(&crew->taken[cpu], __ATOMIC_RELAXED);
}

/* To the CPU of its caller, unless another member is there. */
static void follow_caller(struct crew *crew, struct crew_member *worker) {
    worker->since_look = 0;
    int cpu = cpu_of_caller(crew, worker->caller);
    if (cpu < 0 || cpu == worker->cpu || __atomic_test_and_set(&crew->taken[cpu], __ATOMIC_ACQUIRE))
        return;
    unbind(crew, worker);
    worker->cpu = cpu;
    cpu_move(worker->thread, cpu);
}

/* Its callers run where another member is: each request wakes this one, and then the caller, across CPUs. */
static bool is_apart(const struct crew *crew, const struct crew_member *worker) {
    int cpu = cpu_of_caller(crew, worker->caller);
    return cpu >= 0 && cpu != worker->cpu && is_taken(crew, cpu);
}

/* A caller runs where no member is. */
static bool has_caller_elsewhere(const struct crew *crew, const struct crew_member *worker) {
    int cpu = cpu_of_caller(crew, worker->other);
    if (cpu < 0 || is_taken(crew, cpu))
        cpu = cpu_of_caller(crew, worker->caller);
    return cpu >= 0 && !is_taken(crew, cpu);
}

/* ---- Joining and leaving ---- */

static bool join_locked(struct crew *crew, struct crew_member *worker) {
    unsigned count = crew->count;
    if (count >= crew->wanted)
        return false;
    crew->members[count] = worker;
    start_window(worker);
    worker->windows = 0;
    worker->joined = worker->progress;
    worker->cpu = -1;
    worker->since_look = LOOK_EVERY;
    __atomic_store_n(&worker->in, true, __ATOMIC_RELEASE);
    __atomic_store_n(&crew->count, count + 1, __ATOMIC_RELEASE);
    return true;
}

/* Of a worker that has become a member: if the crew has ended since, so has this. */
static void enter_idle_class(struct crew *crew, struct crew_member *worker) {
    cpu_go_idle(worker->thread);
    if (!crew_has(worker))
        cpu_go_home(&crew->home, worker->thread);
}

bool crew_join(struct crew *crew, struct crew_member *worker) {
    if (count_of(crew) >= wanted_by(crew))
        return false;
    pthread_mutex_lock(&crew->lock);
    bool joined = crew->count > 0 && join_locked(crew, worker);
    pthread_mutex_unlock(&crew->lock);
    if (joined)
        enter_idle_class(crew, worker);
    return joined;
}

static void begin(struct crew *crew, struct crew_member *worker) {
    if (aggstats_clock_now(crew->clock.kind) < __atomic_load_n(&crew->again_cycles, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&crew->lock);
    bool begins = crew->count == 0;
    if (begins) {
        __atomic_store_n(&crew->wanted, 1, __ATOMIC_RELEASE);
        crew->calls_before = 0;
        join_locked(crew, worker);
    }
    pthread_mutex_unlock(&crew->lock);
    if (begins)
        enter_idle_class(crew, worker);
}

static void leave(struct crew *crew, struct crew_member *worker) {
    cpu_go_home(&crew->home, worker->thread);
    pthread_mutex_lock(&crew->lock);
    for (unsigned index = 0; crew_has(worker) && crew->count > 1 && index < crew->count; index++) {
        if (crew->members[index] != worker)
            continue;
        __atomic_store_n(&worker->in, false, __ATOMIC_RELEASE);
        crew->members[index] = crew->members[crew->count - 1];
        crew->calls_before += calls_since_joined(worker);
        __atomic_store_n(&crew->count, crew->count - 1, __ATOMIC_RELEASE);
        __atomic_store_n(&crew->wanted, crew->count, __ATOMIC_RELEASE);
        unbind(crew, worker);
    }
    bool stays = crew_has(worker); /* the others have left meanwhile */
    pthread_mutex_unlock(&crew->lock);
    if (stays)
        enter_idle_class(crew, worker);
}

/* A crew that was soon over was a mistake: the next begins later. */
static void plan_next_locked(struct crew *crew, uint64_t served_calls) {
    uint64_t shortest = crew->clock.frequency_hz / PAUSE_HZ;
    uint64_t longest = crew->clock.frequency_hz * PAUSE_MAX_S;
    uint64_t pause_cycles = 2 * crew->pause_cycles;
    if (served_calls >= WORTH_CALLS || pause_cycles < shortest)
        pause_cycles = shortest;
    if (pause_cycles > longest)
        pause_cycles = longest;
    crew->pause_cycles = pause_cycles;
    __atomic_store_n(&crew->again_cycles, aggstats_clock_now(crew->clock.kind) + pause_cycles, __ATOMIC_RELAXED);
}

static bool end_locked(struct crew *crew) {
    uint64_t served_calls = crew->calls_before;
    unsigned count = crew->count;
    for (unsigned index = 0; index < count; index++) {
        struct crew_member *member = crew->members[index];
        __atomic_store_n(&member->in, false, __ATOMIC_RELEASE);
        cpu_go_home(&crew->home, member->thread);
        served_calls += calls_since_joined(member);
    }
    memset(crew->taken, 0, sizeof(crew->taken));
    __atomic_store_n(&crew->wanted, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&crew->count, 0, __ATOMIC_RELEASE);
    if (count > 0)
        plan_next_locked(crew, served_calls);
    return count > 0;
}

static bool end(struct crew *crew) {
    pthread_mutex_lock(&crew->lock);
    bool ended = end_locked(crew);
    pthread_mutex_unlock(&crew->lock);
    return ended;
}

/* ---- Calls ---- */

static void advance(struct crew_member *worker) {
    __atomic_store_n(&worker->progress, worker->progress + 1, __ATOMIC_RELEASE);
}

bool crew_take(struct crew *crew, struct crew_member *worker) {
    advance(worker);
    if (!crew_has(worker))
        return false;
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* the main thread sees the progress, or we that it has stopped looking */
    return !__atomic_load_n(&crew->watched, __ATOMIC_RELAXED) &&
           !__atomic_exchange_n(&crew->watched, true, __ATOMIC_SEQ_CST);
}

static void note(const struct crew *crew, struct crew_member *worker, const struct crew_call *call) {
    bool slept = call->wait_cycles > crew->clock.frequency_hz / SLEEP_HZ;
    worker->calls++;
    worker->sleeps += slept;
    worker->slow_calls += call->work_cycles > crew->clock.frequency_hz / SLOW_HZ;
    worker->since_look++;
    if (slept && worker->since_look >= LOOK_AFTER_SLEEP)
        worker->since_look = LOOK_EVERY;
    if (call->caller != 0 && call->caller != worker->caller) {
        worker->other = worker->caller;
        worker->caller = call->caller;
        worker->switches++;
    }
}

static bool grow(struct crew *crew) {
    unsigned count = count_of(crew);
    return __atomic_compare_exchange_n(&crew->wanted, &count, count + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Every so many calls. Returns true if one more worker is to wait for requests. */
static bool review_member(struct crew *crew, struct crew_member *worker) {
    worker->windows++;
    if (worker->slow_calls >= MANY_SLOW) {
        cpu_go_home(&crew->home, worker->thread);
        return end(crew);
    }
    if (worker->switches >= MANY_SWITCHES && count_of(crew) < crew->most && has_caller_elsewhere(crew, worker))
        return grow(crew);
    if (worker->sleeps >= MANY_SLEEPS && count_of(crew) > 1 &&
        (is_apart(crew, worker) || (worker->switches < FEW_SWITCHES && worker->windows >= SETTLED_WINDOWS)))
        leave(crew, worker);
    return false;
}

bool crew_answered(struct crew *crew, struct crew_member *worker, const struct crew_call *call) {
    bool one_more = false;
    note(crew, worker, call);
    if (worker->calls >= WINDOW_CALLS) {
        if (crew_has(worker))
            one_more = review_member(crew, worker);
        else if (worker->slow_calls <= FEW_SLOW && !crew_exists(crew) && crew->most > 0)
            begin(crew, worker);
        start_window(worker);
    }
    if (crew_has(worker) && worker->since_look >= LOOK_EVERY) {
        follow_caller(crew, worker);
        if (!crew_has(worker)) /* ended meanwhile */
            cpu_go_home(&crew->home, worker->thread);
    }
    advance(worker);
    return one_more;
}

/* ---- The main thread ---- */

/* What the members have done since the last look. */
struct findings {
    bool moved;   /* some have taken or answered requests */
    bool at_work; /* one is still in the request that it was in */
};

static struct findings look_at_members(struct crew *crew) {
    struct findings found = {.moved = false};
    for (unsigned index = 0; index < crew->count; index++) {
        struct crew_member *member = crew->members[index];
        uint64_t progress = __atomic_load_n(&member->progress, __ATOMIC_SEQ_CST);
        if (progress != member->seen_progress)
            found.moved = true;
        else if (progress % 2 == 1)
            found.at_work = true;
        member->seen_progress = progress;
    }
    return found;
}

static bool requests_wait(int device_fd) {
    struct pollfd device = {.fd = device_fd, .events = POLLIN};
    return poll(&device, 1, 0) == 1 && device.revents & POLLIN;
}

static bool has_moved(const struct crew *crew) {
    for (unsigned index = 0; index < crew->count; index++) {
        const struct crew_member *member = crew->members[index];
        if (__atomic_load_n(&member->progress, __ATOMIC_SEQ_CST) != member->seen_progress)
            return true;
    }
    return false;
}

/* Stops looking, unless there was a request meanwhile: who took it has seen that we look. */
static enum crew_look rest_locked(struct crew *crew) {
    crew->quiet_looks = 0;
    __atomic_store_n(&crew->watched, false, __ATOMIC_SEQ_CST);
    if (!has_moved(crew))
        return CREW_QUIET;
    __atomic_store_n(&crew->watched, true, __ATOMIC_SEQ_CST);
    return CREW_WELL;
}

enum crew_look crew_look(struct crew *crew, int device_fd) {
    pthread_mutex_lock(&crew->lock);
    struct findings found = look_at_members(crew);
    bool is_stuck = crew->count > 0 && (found.at_work || !found.moved) && requests_wait(device_fd);
    if (is_stuck)
        end_locked(crew);
    crew->quiet_looks = found.moved || found.at_work ? 0 : crew->quiet_looks + 1;
    bool rests = crew->count == 0 || crew->quiet_looks >= QUIET_LOOKS;
    enum crew_look look = rests ? rest_locked(crew) : CREW_WELL;
    pthread_mutex_unlock(&crew->lock);
    return is_stuck ? CREW_ENDED : look;
}
