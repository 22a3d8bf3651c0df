/* Who is in the crew, in which manner it serves, and its beginning and end. */
#include "crew_private.h"

#include <unistd.h>

#define BEGIN_SWITCHES 4U
#define ONE_BY_ONE_CALLS 32U
#define FREE_PER_CPU 2U
#define PAUSE_HZ 1000U /* 1 ms; doubled after each end that came soon */
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

unsigned crew_most_in(const struct crew *crew, enum crew_manner manner) {
    unsigned cpus = crew_most(crew);
    if (crew_is_bound(manner))
        return cpus;
    if (manner == CREW_IS_ALONE)
        return 1;
    return FREE_PER_CPU * cpus < CREW_MAX ? FREE_PER_CPU * cpus : CREW_MAX;
}

/* ---- Joining and leaving ---- */

static bool join_locked(struct crew *crew, struct crew_member *worker) {
    unsigned count = crew->count;
    if (count >= crew_wanted(crew))
        return false;
    crew->members[count] = worker;
    crew_start_window(worker);
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
        manner = crew_current_manner(crew);
        take_manner(crew, worker, manner);
    } while (manner != crew_current_manner(crew));
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
void crew_rank_by_manner_locked(struct crew *crew) {
    static const enum cpu_rank ranks[CREW_MANNERS] = {[CREW_GIVES_WAY] = CPU_RANK_BEHIND,
                                                      [CREW_GOES_FIRST] = CPU_RANK_FIRST,
                                                      [CREW_IS_ALONE] = CPU_RANK_FIRST,
                                                      [CREW_IS_FREE] = CPU_RANK_HOME};
    rank_locked(crew, crew->company <= CREW_HAS_QUEUE ? CPU_RANK_HOME : ranks[crew->manner]);
}

void crew_set_manner_locked(struct crew *crew, enum crew_manner manner) {
    if (manner == crew->manner)
        return;
    __atomic_store_n(&crew->manner, manner, __ATOMIC_RELEASE);
    for (unsigned index = 0; index < crew->count; index++)
        take_manner(crew, crew->members[index], manner);
}

bool crew_join(struct crew *crew, struct crew_member *worker) {
    if (crew_count(crew) >= crew_wanted(crew))
        return false;
    pthread_mutex_lock(&crew->lock);
    bool joined = crew->count > 0 && join_locked(crew, worker);
    pthread_mutex_unlock(&crew->lock);
    if (joined)
        crew_enter(crew, worker);
    return joined;
}

void crew_leave(struct crew *crew, struct crew_member *worker) {
    cpu_go_home(&crew->home, worker->thread);
    crew_unbind(crew, worker);
    worker->since_look = LOOK_EVERY;
    pthread_mutex_lock(&crew->lock);
    for (unsigned index = 0; crew_has(worker) && crew->count > 1 && index < crew->count; index++) {
        if (crew->members[index] != worker)
            continue;
        __atomic_store_n(&worker->in, false, __ATOMIC_RELEASE);
        crew->members[index] = crew->members[crew->count - 1];
        crew->calls_before += crew_calls_since_joined(worker);
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

/* ---- Beginning and end ---- */

bool crew_was_starved(const struct crew *crew) {
    return aggstats_clock_now(crew->clock.kind) < __atomic_load_n(&crew->starved_cycles, __ATOMIC_RELAXED);
}

static enum crew_company company_at_beginning(const struct crew *crew, const struct crew_member *worker,
                                              bool is_starved, bool crowded) {
    if (is_starved)
        return CREW_IS_NOT_KNOWN; /* until it is over */
    return crowded ? CREW_HAS_MANY : crew_company_of(crew, worker->callers, worker->calls, worker->on_names);
}

bool crew_is_queue_known(const struct crew *crew, uint64_t now) {
    return now < __atomic_load_n(&crew->queue_cycles, __ATOMIC_RELAXED);
}

/* The last crew has ended because of a queue, and there is no sign that this is over. */
static bool has_queue_still(const struct crew *crew, const struct crew_member *worker, uint64_t now) {
    return __atomic_load_n(&crew->rests, __ATOMIC_RELAXED) && crew_is_queue_known(crew, now) &&
           crew_count_callers(worker->callers) <= 1 &&
           __atomic_load_n(&crew->one_by_one, __ATOMIC_RELAXED) < ONE_BY_ONE_CALLS;
}

static void begin_locked(struct crew *crew, struct crew_member *worker, bool is_starved) {
    __atomic_store_n(&crew->rests, false, __ATOMIC_RELAXED);
    __atomic_store_n(&crew->is_calm, false, __ATOMIC_RELAXED);
    __atomic_store_n(&crew->wanted, 1, __ATOMIC_RELEASE);
    crew->company_looks = 0;
    crew->calm_looks = 0;
    crew->lone_looks = 0;
    crew->quiet_looks = 0;
    crew->stuck_looks = 0;
    crew->calls_before = 0;
    crew_begin_trial_locked(crew, is_starved);
    __atomic_store_n(&crew->manner, crew->trial.settled, __ATOMIC_RELEASE);
    join_locked(crew, worker);
}

bool crew_begin(struct crew *crew, struct crew_member *worker) {
    uint64_t now = aggstats_clock_now(crew->clock.kind);
    if (crew_most(crew) == 0 || now < __atomic_load_n(&crew->again_cycles, __ATOMIC_RELAXED))
        return false;
    if (has_queue_still(crew, worker, now))
        return false;
    bool is_starved = crew_was_starved(crew);
    if (is_starved && crew_count_callers(worker->callers) <= crew_most(crew))
        return false;
    bool crowded = crew_is_crowded(crew);
    if (crowded && (is_starved || worker->switches < BEGIN_SWITCHES)) {
        __atomic_store_n(&crew->again_cycles, now + crew->clock.frequency_hz / CROWD_PAUSE_HZ, __ATOMIC_RELAXED);
        return false;
    }
    pthread_mutex_lock(&crew->lock);
    bool begins = crew->count == 0 && crew_most(crew) > 0;
    if (begins) {
        crew->company = company_at_beginning(crew, worker, is_starved, crowded);
        begin_locked(crew, worker, is_starved);
    }
    pthread_mutex_unlock(&crew->lock);
    return begins;
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

bool crew_end_locked(struct crew *crew, enum crew_end reason) {
    uint64_t served_calls = crew->calls_before;
    unsigned count = crew->count;
    for (unsigned index = 0; index < count; index++) {
        struct crew_member *member = crew->members[index];
        __atomic_store_n(&member->in, false, __ATOMIC_RELEASE);
        cpu_go_home(&crew->home, member->thread);
        served_calls += crew_calls_since_joined(member);
    }
    if (count == 0)
        return false;
    rank_locked(crew, CPU_RANK_HOME);
    uint32_t number = crew->number + 1;
    __atomic_store_n(&crew->number, number ? number : 1, __ATOMIC_RELEASE);
    __atomic_store_n(&crew->wanted, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&crew->count, 0, __ATOMIC_SEQ_CST);
    uint64_t now = aggstats_clock_now(crew->clock.kind);
    if (reason == CREW_ENDS_SLOW)
        crew->pause_cycles = next_pause(crew, crew->pause_cycles, PAUSE_MAX_S, served_calls >= WORTH_CALLS);
    if (reason == CREW_ENDS_STARVED) {
        crew->hunger_cycles = next_pause(crew, crew->hunger_cycles, STARVED_MAX_S, served_calls >= FED_CALLS);
        __atomic_store_n(&crew->starved_cycles, now + crew->hunger_cycles, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&crew->one_by_one, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&crew->rests, reason == CREW_ENDS_FOR_QUEUE, __ATOMIC_RELAXED);
    __atomic_store_n(&crew->again_cycles, now + (reason == CREW_ENDS_SLOW ? crew->pause_cycles : 0), __ATOMIC_RELAXED);
    return true;
}

void crew_end(struct crew *crew, enum crew_end reason) {
    pthread_mutex_lock(&crew->lock);
    crew_end_locked(crew, reason);
    pthread_mutex_unlock(&crew->lock);
}

void crew_disband(struct crew *crew) {
    pthread_mutex_lock(&crew->lock);
    __atomic_store_n(&crew->most, 0, __ATOMIC_RELAXED);
    crew_end_locked(crew, CREW_ENDS_WITHOUT_REQUESTS);
    pthread_mutex_unlock(&crew->lock);
}
