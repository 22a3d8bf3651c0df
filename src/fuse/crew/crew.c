/* The crew of workers for short requests. A member holds the lock only outside of SCHED_IDLE, where it might keep it
 * for long. */
#include "crew.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#define WINDOW_CALLS 64U
#define BEGIN_CALLS 16U /* the same before a crew: each may wake a CPU */
#define BEGIN_SWITCHES 4U
#define MANY_SLOW 8U
#define MANY_SWITCHES 16U
#define FEW_SWITCHES 8U
#define MANY_SLEEPS 40U
#define SETTLED_WINDOWS 16U
#define LOOK_EVERY 256U      /* calls: the scheduler has moved the caller meanwhile */
#define LOOK_AFTER_SLEEP 4U  /* calls: it may have, if one had to wait for it */
#define MANY_AWAY_LOOKS 16U  /* in a row */
#define ASK_EVERY 16U        /* calls: whether one waits for something, and others for it */
#define MANY_HELD_UP 3U      /* of the four asked in a window */
#define QUEUE_CALLS 64U      /* in a row: who only closes files has a queue of some calls now and then */
#define QUEUELESS_WINDOWS 4U /* in a row */
#define ONE_BY_ONE_CALLS 32U
#define QUEUE_KNOWN_S 4U
#define QUIET_LOOKS 20U
#define LONE_LOOKS 5U
#define COMPANY_LOOKS 5U
#define SOME_ON_NAMES 4U /* one in so many calls */
#define CALM_LOOKS 5U
#define FREE_PER_CPU 2U
#define STUCK_LOOKS 5U

#define SLOW_HZ 10000U   /* 100 us */
#define SLEEP_HZ 200000U /* 5 us: a request that was there takes less to receive */
#define PAUSE_HZ 1000U   /* 1 ms; doubled after each end that came soon */
#define PAUSE_MAX_S 1U
#define CROWD_PER_CPU 3U
#define CROWD_PAUSE_HZ 10U /* 100 ms until the next look */
#define STARVED_MAX_S 2U   /* after a member got no CPU; from 1 ms on, as the pause */
#define WORTH_CALLS 5000U
#define FED_CALLS 20000U /* after so many, being without a CPU may be chance */

void crew_init(struct crew *crew, const struct aggstats_clock *clock, bool allowed) {
    *crew = (struct crew){.clock = *clock};
    pthread_mutex_init(&crew->lock, NULL);
    crew->number = 1;
    cpu_find_home(&crew->home);
    unsigned cpus = (unsigned)CPU_COUNT(&crew->home.cpus);
    /* On one CPU there is no other to be woken. */
    if (!allowed || !crew->home.idle_possible || cpus < 2)
        return;
    cpu_find_group(&crew->home);
    crew->crowd = CROWD_PER_CPU * (unsigned)sysconf(_SC_NPROCESSORS_ONLN); /* all that are counted */
    crew->most = cpus < CREW_MAX ? cpus : CREW_MAX;
}

void crew_finish(struct crew *crew) {
    cpu_forget_home(&crew->home);
    pthread_mutex_destroy(&crew->lock);
}

static unsigned count_of(const struct crew *crew) {
    return __atomic_load_n(&crew->count, __ATOMIC_ACQUIRE);
}

static unsigned most_of(const struct crew *crew) {
    return __atomic_load_n(&crew->most, __ATOMIC_RELAXED);
}

static bool is_bound(enum crew_manner manner) {
    return manner == CREW_GIVES_WAY || manner == CREW_GOES_FIRST;
}

static unsigned most_in(const struct crew *crew, enum crew_manner manner) {
    unsigned cpus = most_of(crew);
    if (is_bound(manner))
        return cpus;
    if (manner == CREW_IS_ALONE)
        return 1;
    return FREE_PER_CPU * cpus < CREW_MAX ? FREE_PER_CPU * cpus : CREW_MAX;
}

static unsigned wanted_by(const struct crew *crew) {
    return __atomic_load_n(&crew->wanted, __ATOMIC_ACQUIRE);
}

static enum crew_manner manner_of(const struct crew *crew) {
    return __atomic_load_n(&crew->manner, __ATOMIC_ACQUIRE);
}

static uint64_t calls_since_joined(const struct crew_member *member) {
    return (__atomic_load_n(&member->progress, __ATOMIC_RELAXED) - member->joined) / 2;
}

static void start_window(struct crew_member *worker) {
    worker->calls = 0;
    worker->slow_calls = 0;
    worker->switches = 0;
    worker->on_names = 0;
    worker->sleeps = 0;
    worker->queued = false;
    worker->held_up = 0;
    worker->callers = 0;
}

/* ---- Where members are bound to ---- */

static void unbind(struct crew *crew, struct crew_member *worker) {
    uint32_t own = worker->crew;
    if (worker->cpu >= 0)
        __atomic_compare_exchange_n(&crew->taken[worker->cpu], &own, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    worker->cpu = -1;
}

static bool is_taken(const struct crew *crew, int cpu) {
    return __atomic_load_n(&crew->taken[cpu], __ATOMIC_RELAXED) == __atomic_load_n(&crew->number, __ATOMIC_RELAXED);
}

/* What an earlier crew has left there does not count. */
static bool take_cpu(struct crew *crew, const struct crew_member *worker, int cpu) {
    uint32_t left = __atomic_load_n(&crew->taken[cpu], __ATOMIC_RELAXED);
    return left != worker->crew && __atomic_compare_exchange_n(&crew->taken[cpu], &left, worker->crew, false,
                                                               __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* The CPU of a caller, if one may be bound to it; else -1. */
static int cpu_of_caller(const struct crew *crew, uint32_t caller) {
    int cpu = cpu_of_thread(caller);
    return cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &crew->home.cpus) ? cpu : -1;
}

static bool bind_to(struct crew *crew, struct crew_member *worker, int cpu) {
    if (!take_cpu(crew, worker, cpu))
        return false;
    unbind(crew, worker);
    worker->cpu = cpu;
    cpu_move(worker->thread, cpu);
    return true;
}

static bool runs_here(const struct crew *crew, const struct crew_member *worker, uint32_t caller) {
    return worker->cpu >= 0 && cpu_of_caller(crew, caller) == worker->cpu;
}

/* To the CPU of its caller, unless another member is there. */
static void follow_caller(struct crew *crew, struct crew_member *worker) {
    int cpu = cpu_of_caller(crew, worker->caller);
    if (cpu < 0)
        return;
    bool is_there = cpu == worker->cpu || bind_to(crew, worker, cpu) || runs_here(crew, worker, worker->other);
    worker->away_looks = is_there ? 0 : worker->away_looks + 1;
}

/* To one where no other member is. */
static void spread(struct crew *crew, struct crew_member *worker) {
    bool bound = false;
    for (int cpu = 0; !bound && cpu < CPU_SETSIZE; cpu++)
        bound = CPU_ISSET(cpu, &crew->home.cpus) && bind_to(crew, worker, cpu);
}

/* To wherever the system puts it, which may take it some 70 ms: till then not where the caller runs. */
static void be_free(struct crew *crew, struct crew_member *worker) {
    if (worker->cpu < 0)
        return;
    cpu_leave(&crew->home, worker->thread, worker->cpu);
    unbind(crew, worker);
}

static void find_place(struct crew *crew, struct crew_member *worker) {
    enum crew_manner manner = manner_of(crew);
    worker->since_look = 0;
    worker->placed = manner;
    if (!is_bound(manner))
        be_free(crew, worker);
    else if (manner == CREW_GIVES_WAY || worker->cpu < 0)
        follow_caller(crew, worker);
    if (manner == CREW_GOES_FIRST && worker->cpu < 0)
        spread(crew, worker);
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
    if (count >= wanted_by(crew))
        return false;
    crew->members[count] = worker;
    start_window(worker);
    worker->windows = 0;
    worker->away_looks = 0;
    worker->queue_calls = 0;
    worker->queueless = 0;
    worker->joined = worker->progress;
    worker->cpu = -1;
    worker->crew = crew->number;
    worker->seen_progress = 0;
    worker->since_look = LOOK_EVERY;
    __atomic_store_n(&worker->seen_callers, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&worker->seen_on_names, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&worker->seen_queue, false, __ATOMIC_RELAXED);
    __atomic_store_n(&worker->in, true, __ATOMIC_RELEASE);
    __atomic_store_n(&crew->count, count + 1, __ATOMIC_RELEASE);
    return true;
}

static void take_manner(const struct crew *crew, const struct crew_member *member, enum crew_manner manner) {
    if (manner == CREW_GOES_FIRST)
        cpu_go_first(&crew->home, member->thread);
    else if (manner == CREW_GIVES_WAY)
        cpu_go_idle(member->thread);
    else
        cpu_go_home(&crew->home, member->thread);
}

/* If the crew has ended since, so has this. */
void crew_enter(struct crew *crew, struct crew_member *worker) {
    enum crew_manner manner;
    do {
        manner = manner_of(crew);
        take_manner(crew, worker, manner);
    } while (manner != manner_of(crew));
    if (!crew_has(worker))
        cpu_go_home(&crew->home, worker->thread);
}

static void rank_locked(struct crew *crew, enum cpu_rank rank) {
    if (rank == crew->rank)
        return;
    crew->rank = rank;
    cpu_rank_group(&crew->home, rank);
}

/* For several callers a crew gives way, or goes first, as a group too. For one there is little to be gained, and on
 * busy CPUs the member would come too late, but not late enough to be seen as one that gets none; for several it is
 * tried. */
static void rank_by_manner_locked(struct crew *crew) {
    static const enum cpu_rank ranks[CREW_MANNERS] = {[CREW_GIVES_WAY] = CPU_RANK_BEHIND,
                                                      [CREW_GOES_FIRST] = CPU_RANK_FIRST,
                                                      [CREW_IS_ALONE] = CPU_RANK_FIRST,
                                                      [CREW_IS_FREE] = CPU_RANK_HOME};
    rank_locked(crew, crew->company <= CREW_HAS_QUEUE ? CPU_RANK_HOME : ranks[crew->manner]);
}

static void set_manner_locked(struct crew *crew, enum crew_manner manner) {
    if (manner == crew->manner)
        return;
    __atomic_store_n(&crew->manner, manner, __ATOMIC_RELEASE);
    for (unsigned index = 0; index < crew->count; index++)
        take_manner(crew, crew->members[index], manner);
}

bool crew_join(struct crew *crew, struct crew_member *worker) {
    if (count_of(crew) >= wanted_by(crew))
        return false;
    pthread_mutex_lock(&crew->lock);
    bool joined = crew->count > 0 && join_locked(crew, worker);
    pthread_mutex_unlock(&crew->lock);
    if (joined)
        crew_enter(crew, worker);
    return joined;
}

static unsigned number_of(uint64_t callers) {
    return (unsigned)__builtin_popcountll(callers);
}

/* Where members got no CPU lately, they are not to be bound to one. */
static bool was_starved(const struct crew *crew) {
    return aggstats_clock_now(crew->clock.kind) < __atomic_load_n(&crew->starved_cycles, __ATOMIC_RELAXED);
}

static bool is_crowded(const struct crew *crew) {
    return cpu_wanting_threads() > crew->crowd;
}

/* Callers who change or look up names mostly hold locks that others spin for, and are best not kept from going on. */
static enum crew_company company_of(const struct crew *crew, uint64_t callers, unsigned calls, unsigned on_names) {
    unsigned number = number_of(callers);
    if (number <= 1)
        return CREW_HAS_ONE;
    unsigned cpus = (unsigned)CPU_COUNT(&crew->home.cpus);
    if (number <= cpus || on_names >= calls / SOME_ON_NAMES)
        return CREW_HAS_FEW;
    return number <= 2 * cpus ? CREW_HAS_MORE : CREW_HAS_MANY;
}

/* With the manner that is best as far as can be told before it is measured. */
static void begin_trial_locked(struct crew *crew, bool is_starved) {
    if (is_starved)
        crew_trial_begin(&crew->trial, CREW_IS_ALONE);
    else if (crew->company == CREW_HAS_QUEUE)
        crew_trial_begin_queue(&crew->trial);
    else if (crew->company == CREW_HAS_MORE)
        crew_trial_begin_more(&crew->trial);
    else
        crew_trial_begin(&crew->trial, crew->company == CREW_HAS_MANY ? CREW_GOES_FIRST : CREW_GIVES_WAY);
}

static enum crew_company company_at_beginning(const struct crew *crew, const struct crew_member *worker,
                                              bool is_starved, bool crowded) {
    if (is_starved)
        return CREW_IS_NOT_KNOWN; /* until it is over */
    return crowded ? CREW_HAS_MANY : company_of(crew, worker->callers, worker->calls, worker->on_names);
}

static bool is_queue_known(const struct crew *crew, uint64_t now) {
    return now < __atomic_load_n(&crew->queue_cycles, __ATOMIC_RELAXED);
}

/* The last crew has ended because of a queue, and there is no sign that this is over. */
static bool has_queue_still(const struct crew *crew, const struct crew_member *worker, uint64_t now) {
    return __atomic_load_n(&crew->rests, __ATOMIC_RELAXED) && is_queue_known(crew, now) &&
           number_of(worker->callers) <= 1 && __atomic_load_n(&crew->one_by_one, __ATOMIC_RELAXED) < ONE_BY_ONE_CALLS;
}

static bool begin(struct crew *crew, struct crew_member *worker) {
    uint64_t now = aggstats_clock_now(crew->clock.kind);
    if (most_of(crew) == 0 || now < __atomic_load_n(&crew->again_cycles, __ATOMIC_RELAXED))
        return false;
    if (has_queue_still(crew, worker, now))
        return false;
    bool is_starved = was_starved(crew);
    if (is_starved && number_of(worker->callers) <= most_of(crew))
        return false;
    bool crowded = is_crowded(crew);
    if (crowded && (is_starved || worker->switches < BEGIN_SWITCHES)) {
        __atomic_store_n(&crew->again_cycles, now + crew->clock.frequency_hz / CROWD_PAUSE_HZ, __ATOMIC_RELAXED);
        return false;
    }
    pthread_mutex_lock(&crew->lock);
    bool begins = crew->count == 0 && most_of(crew) > 0;
    if (begins) {
        __atomic_store_n(&crew->rests, false, __ATOMIC_RELAXED);
        crew->quiet_looks = 0;
        __atomic_store_n(&crew->wanted, 1, __ATOMIC_RELEASE);
        crew->lone_looks = 0;
        crew->company = company_at_beginning(crew, worker, is_starved, crowded);
        crew->company_looks = 0;
        crew->calm_looks = 0;
        __atomic_store_n(&crew->is_calm, false, __ATOMIC_RELAXED);
        crew->stuck_looks = 0;
        crew->calls_before = 0;
        begin_trial_locked(crew, is_starved);
        __atomic_store_n(&crew->manner, crew->trial.settled, __ATOMIC_RELEASE);
        join_locked(crew, worker);
    }
    pthread_mutex_unlock(&crew->lock);
    return begins;
}

static void leave(struct crew *crew, struct crew_member *worker) {
    cpu_go_home(&crew->home, worker->thread);
    unbind(crew, worker);
    worker->since_look = LOOK_EVERY;
    pthread_mutex_lock(&crew->lock);
    for (unsigned index = 0; crew_has(worker) && crew->count > 1 && index < crew->count; index++) {
        if (crew->members[index] != worker)
            continue;
        __atomic_store_n(&worker->in, false, __ATOMIC_RELEASE);
        crew->members[index] = crew->members[crew->count - 1];
        crew->calls_before += calls_since_joined(worker);
        __atomic_store_n(&crew->count, crew->count - 1, __ATOMIC_RELEASE);
        __atomic_store_n(&crew->wanted, crew->count, __ATOMIC_RELEASE);
    }
    bool stays = crew_has(worker); /* the others have left meanwhile */
    pthread_mutex_unlock(&crew->lock);
    if (stays)
        crew_enter(crew, worker);
    else
        cpu_go_home(&crew->home, worker->thread); /* the main thread may have changed its manner meanwhile */
}

/* A crew that was soon over was a mistake: the next begins later. */
static uint64_t next_pause(const struct crew *crew, uint64_t earlier_cycles, unsigned longest_s, bool was_worth) {
    uint64_t shortest = crew->clock.frequency_hz / PAUSE_HZ;
    uint64_t longest = crew->clock.frequency_hz * longest_s;
    uint64_t pause_cycles = 2 * earlier_cycles;
    if (was_worth || pause_cycles < shortest)
        return shortest;
    return pause_cycles < longest ? pause_cycles : longest;
}

enum reason {
    NO_REQUESTS,
    SLOW_CALLS, /* or one that is stuck in a call */
    NO_CPU,
    HAS_QUEUE,
};

static bool end_locked(struct crew *crew, enum reason reason) {
    uint64_t served_calls = crew->calls_before;
    unsigned count = crew->count;
    for (unsigned index = 0; index < count; index++) {
        struct crew_member *member = crew->members[index];
        __atomic_store_n(&member->in, false, __ATOMIC_RELEASE);
        cpu_go_home(&crew->home, member->thread);
        served_calls += calls_since_joined(member);
    }
    if (count == 0)
        return false;
    rank_locked(crew, CPU_RANK_HOME);
    uint32_t number = crew->number + 1;
    __atomic_store_n(&crew->number, number ? number : 1, __ATOMIC_RELEASE);
    __atomic_store_n(&crew->wanted, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&crew->count, 0, __ATOMIC_SEQ_CST);
    uint64_t now = aggstats_clock_now(crew->clock.kind);
    if (reason == SLOW_CALLS)
        crew->pause_cycles = next_pause(crew, crew->pause_cycles, PAUSE_MAX_S, served_calls >= WORTH_CALLS);
    if (reason == NO_CPU) {
        crew->hunger_cycles = next_pause(crew, crew->hunger_cycles, STARVED_MAX_S, served_calls >= FED_CALLS);
        __atomic_store_n(&crew->starved_cycles, now + crew->hunger_cycles, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&crew->one_by_one, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&crew->rests, reason == HAS_QUEUE, __ATOMIC_RELAXED);
    __atomic_store_n(&crew->again_cycles, now + (reason == SLOW_CALLS ? crew->pause_cycles : 0), __ATOMIC_RELAXED);
    return true;
}

static void end(struct crew *crew, enum reason reason) {
    pthread_mutex_lock(&crew->lock);
    end_locked(crew, reason);
    pthread_mutex_unlock(&crew->lock);
}

void crew_disband(struct crew *crew) {
    pthread_mutex_lock(&crew->lock);
    __atomic_store_n(&crew->most, 0, __ATOMIC_RELAXED);
    end_locked(crew, NO_REQUESTS);
    pthread_mutex_unlock(&crew->lock);
}

/* ---- Calls ---- */

static void advance(struct crew_member *worker) {
    __atomic_store_n(&worker->progress, worker->progress + 1, __ATOMIC_RELEASE);
}

/* How often this thread has left the CPU to wait for something. */
static long waits_of_this_thread(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

static bool requests_wait(int device_fd) {
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
    bool is_there = requests_wait(device_fd);
    worker->queued |= is_there;
    worker->queue_calls = is_there ? worker->queue_calls + 1 : 0;
}

void crew_answer(struct crew_member *worker, int device_fd) {
    if (is_asked_for_queue(worker))
        ask_for_queue(worker, device_fd);
    if (is_asked(worker))
        worker->held_up += waits_of_this_thread() != worker->waits_before && requests_wait(device_fd);
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

static void note(struct crew *crew, struct crew_member *worker, const struct crew_call *call) {
    bool slept = call->wait_cycles > crew->clock.frequency_hz / SLEEP_HZ;
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
    unsigned count = count_of(crew);
    return count < most &&
           __atomic_compare_exchange_n(&crew->wanted, &count, count + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* More workers would wait for more things at once. Free members are many as it is, and slow by being without a CPU. */
static bool holds_up(const struct crew_member *worker, enum crew_manner manner) {
    bool is_slow = worker->slow_calls >= MANY_SLOW && manner != CREW_IS_FREE;
    return is_slow || worker->held_up >= MANY_HELD_UP;
}

static bool needs_more(const struct crew *crew, const struct crew_member *worker, enum crew_manner manner) {
    unsigned count = count_of(crew);
    if (count >= most_in(crew, manner))
        return false;
    if (manner == CREW_IS_FREE)
        return true;
    if (worker->switches < MANY_SWITCHES)
        return false;
    return manner == CREW_GIVES_WAY ? has_caller_elsewhere(crew, worker) : count < number_of(worker->callers);
}

static bool is_one_too_many(const struct crew *crew, const struct crew_member *worker, enum crew_manner manner) {
    if (count_of(crew) > most_in(crew, manner))
        return true;
    if (count_of(crew) == 1 || manner != CREW_GIVES_WAY)
        return false;
    if (worker->away_looks >= MANY_AWAY_LOOKS)
        return true;
    if (worker->switches == 0 && worker->queued && is_apart(crew, worker))
        return true;
    bool has_settled = worker->switches < FEW_SWITCHES && worker->windows >= SETTLED_WINDOWS;
    return worker->sleeps >= MANY_SLEEPS && (has_settled || is_apart(crew, worker));
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
    enum crew_manner manner = manner_of(crew);
    worker->windows++;
    review_queue(worker, manner);
    __atomic_store_n(&worker->seen_callers, worker->callers, __ATOMIC_RELAXED);
    __atomic_store_n(&worker->seen_on_names, worker->on_names, __ATOMIC_RELAXED);
    if (holds_up(worker, manner)) {
        cpu_go_home(&crew->home, worker->thread);
        end(crew, SLOW_CALLS);
        return false; /* it takes the next, and sees then to it that others do */
    }
    if (needs_more(crew, worker, manner))
        return grow(crew, most_in(crew, manner));
    if (is_one_too_many(crew, worker, manner))
        leave(crew, worker);
    return false;
}

/* Every so many calls. */
static enum crew_need review(struct crew *crew, struct crew_member *worker) {
    if (crew_has(worker))
        return review_member(crew, worker) ? CREW_NEEDS_RECEIVER : CREW_NEEDS_NOTHING;
    if (worker->slow_calls == 0 && !crew_exists(crew) && begin(crew, worker))
        return CREW_NEEDS_LOOKS;
    return CREW_NEEDS_NOTHING;
}

static enum crew_need look_back(struct crew *crew, struct crew_member *worker, const struct crew_call *call) {
    enum crew_need need = CREW_NEEDS_NOTHING;
    note(crew, worker, call);
    if (worker->calls >= (crew_has(worker) ? WINDOW_CALLS : BEGIN_CALLS)) {
        need = review(crew, worker);
        start_window(worker);
    }
    if (crew_has(worker) && (worker->since_look >= LOOK_EVERY || worker->placed != manner_of(crew))) {
        find_place(crew, worker);
        if (!crew_has(worker)) { /* ended meanwhile */
            unbind(crew, worker);
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

/* ---- The main thread ---- */

/* What the members have done since the last look. */
struct findings {
    bool moved;       /* some have taken requests, or are done with some */
    bool at_work;     /* some are in a request */
    uint64_t callers; /* a bit for each, as in struct crew_member */
    unsigned windows; /* the last of each that has moved; and of their calls: */
    unsigned on_names;
    bool has_queue;                  /* requests wait for them most of the time */
    uint64_t calls;                  /* since the crew began */
    const struct crew_member *stuck; /* one that is still in the request that it was in, and has not answered it */
};

static struct findings look_at_members(struct crew *crew) {
    struct findings found = {.calls = crew->calls_before};
    for (unsigned index = 0; index < crew->count; index++) {
        struct crew_member *member = crew->members[index];
        uint64_t progress = __atomic_load_n(&member->progress, __ATOMIC_ACQUIRE);
        bool at_work = progress % 2 == 1 && __atomic_load_n(&member->answered, __ATOMIC_ACQUIRE) != progress;
        found.calls += calls_since_joined(member);
        found.at_work |= at_work;
        if (progress != member->seen_progress) {
            found.moved = true;
            uint64_t seen_callers = __atomic_load_n(&member->seen_callers, __ATOMIC_RELAXED);
            found.callers |= seen_callers;
            found.windows += seen_callers != 0;
            found.on_names += __atomic_load_n(&member->seen_on_names, __ATOMIC_RELAXED);
            found.has_queue |= __atomic_load_n(&member->seen_queue, __ATOMIC_RELAXED);
        } else if (at_work) {
            found.stuck = member;
        }
        member->seen_progress = progress;
    }
    return found;
}

static enum crew_company company_seen(const struct crew *crew, const struct findings *found) {
    enum crew_company seen = company_of(crew, found->callers, found->windows * WINDOW_CALLS, found->on_names);
    bool was_one = crew->company == CREW_HAS_ONE || crew->company == CREW_HAS_QUEUE;
    bool is_unknown = crew->manner == CREW_IS_FREE || crew->trial.step > 0; /* who has joined since has not seen it */
    bool has_queue = found->has_queue || (crew->company == CREW_HAS_QUEUE && is_unknown);
    if (seen == CREW_HAS_ONE && was_one && has_queue)
        return CREW_HAS_QUEUE;
    return seen == CREW_HAS_FEW && crew->company != CREW_HAS_FEW && is_crowded(crew) ? CREW_HAS_MANY : seen;
}

/* Another company is taken for one when it has lasted, but for the first callers beside one. */
static void know_company_locked(struct crew *crew, const struct findings *found) {
    enum crew_company seen = company_seen(crew, found);
    crew->company_looks = seen == crew->company ? 0 : crew->company_looks + 1;
    if (crew->company_looks < (crew->company <= CREW_HAS_ONE ? 1 : COMPANY_LOOKS))
        return;
    crew->company = seen;
    crew->company_looks = 0;
    begin_trial_locked(crew, false);
}

/* Members that are free, and have left the caller's CPU, serve clearly most. */
static bool is_best_free(const struct crew *crew) {
    return crew->manner == CREW_IS_FREE && crew->trial.settled == CREW_IS_FREE && crew_trial_is_clear(&crew->trial);
}

/* Workers without a crew do as well. It was found out before, or is now. */
static bool has_queue_for_no_crew_locked(struct crew *crew) {
    if (crew->company != CREW_HAS_QUEUE)
        return false;
    uint64_t now = aggstats_clock_now(crew->clock.kind);
    if (is_best_free(crew))
        __atomic_store_n(&crew->queue_cycles, now + QUEUE_KNOWN_S * crew->clock.frequency_hz, __ATOMIC_RELAXED);
    return is_queue_known(crew, now);
}

/* Where members were left without a CPU lately, a few callers need no crew. Returns whether that has ended it. */
static bool choose_manner_locked(struct crew *crew, const struct findings *found) {
    if (was_starved(crew)) {
        crew->lone_looks = number_of(found->callers) > most_of(crew) ? 0 : crew->lone_looks + 1;
        return crew->lone_looks >= LONE_LOOKS && end_locked(crew, NO_REQUESTS);
    }
    know_company_locked(crew, found);
    if (crew->company != CREW_HAS_ONE)
        crew_trial_look(&crew->trial, found->calls, aggstats_clock_now(crew->clock.kind));
    if (has_queue_for_no_crew_locked(crew))
        return end_locked(crew, HAS_QUEUE);
    set_manner_locked(crew, crew->trial.tried);
    rank_by_manner_locked(crew);
    return false;
}

/* A request that nobody has taken since the last look means that no member had a CPU. One that is not bound will; but
 * if it stays in one call, that is a long one. */
static bool look_locked(struct crew *crew, int device_fd) {
    bool ended;
    struct findings found = look_at_members(crew);
    bool is_starved = found.stuck ? cpu_is_wanted_by(found.stuck->thread) : !found.moved && requests_wait(device_fd);
    crew->quiet_looks = found.moved || is_starved ? 0 : crew->quiet_looks + 1;
    crew->stuck_looks = found.stuck || is_starved ? crew->stuck_looks + 1 : 0;
    if ((found.stuck && !is_starved) || crew->stuck_looks >= STUCK_LOOKS)
        ended = end_locked(crew, SLOW_CALLS);
    else if (is_starved && is_bound(crew->manner))
        ended = end_locked(crew, NO_CPU);
    else if (crew->quiet_looks >= QUIET_LOOKS)
        ended = end_locked(crew, NO_REQUESTS);
    else
        ended = choose_manner_locked(crew, &found);
    crew->calm_looks = number_of(found.callers) > 1 ? 0 : crew->calm_looks + 1;
    bool is_calm = crew->calm_looks >= CALM_LOOKS && !found.at_work && crew->trial.step == 0;
    __atomic_store_n(&crew->is_calm, is_calm, __ATOMIC_RELAXED);
    return ended;
}

bool crew_look(struct crew *crew, int device_fd) {
    pthread_mutex_lock(&crew->lock);
    bool ended = crew->count > 0 && look_locked(crew, device_fd); /* a member may have ended it meanwhile */
    pthread_mutex_unlock(&crew->lock);
    return ended;
}
