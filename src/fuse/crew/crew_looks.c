/* The main thread looks after the crew: whether members get on, how many callers there are, and which manner is best.
 */
#include "crew_private.h"

#define QUIET_LOOKS 20U
#define LONE_LOOKS 5U
#define COMPANY_LOOKS 5U
#define CALM_LOOKS 5U
#define STUCK_LOOKS 5U

#define QUEUE_KNOWN_S 4U

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
        found.calls += crew_calls_since_joined(member);
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
    enum crew_company seen = crew_company_of(crew, found->callers, found->windows * WINDOW_CALLS, found->on_names);
    bool was_one = crew->company == CREW_HAS_ONE || crew->company == CREW_HAS_QUEUE;
    bool is_unknown = crew->manner == CREW_IS_FREE || crew->trial.step > 0; /* who has joined since has not seen it */
    bool has_queue = found->has_queue || (crew->company == CREW_HAS_QUEUE && is_unknown);
    if (seen == CREW_HAS_ONE && was_one && has_queue)
        return CREW_HAS_QUEUE;
    return seen == CREW_HAS_FEW && crew->company != CREW_HAS_FEW && crew_is_crowded(crew) ? CREW_HAS_MANY : seen;
}

/* Another company is taken for one when it has lasted, but for the first callers beside one. */
static void know_company_locked(struct crew *crew, const struct findings *found) {
    enum crew_company seen = company_seen(crew, found);
    crew->company_looks = seen == crew->company ? 0 : crew->company_looks + 1;
    if (crew->company_looks < (crew->company <= CREW_HAS_ONE ? 1 : COMPANY_LOOKS))
        return;
    crew->company = seen;
    crew->company_looks = 0;
    crew_begin_trial_locked(crew, false);
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
    return crew_is_queue_known(crew, now);
}

/* Where members were left without a CPU lately, a few callers need no crew. Returns whether that has ended it. */
static bool choose_manner_locked(struct crew *crew, const struct findings *found) {
    if (crew_was_starved(crew)) {
        crew->lone_looks = crew_count_callers(found->callers) > crew_most(crew) ? 0 : crew->lone_looks + 1;
        return crew->lone_looks >= LONE_LOOKS && crew_end_locked(crew, CREW_ENDS_WITHOUT_REQUESTS);
    }
    know_company_locked(crew, found);
    if (crew->company != CREW_HAS_ONE)
        crew_trial_look(&crew->trial, found->calls, aggstats_clock_now(crew->clock.kind));
    if (has_queue_for_no_crew_locked(crew))
        return crew_end_locked(crew, CREW_ENDS_FOR_QUEUE);
    crew_set_manner_locked(crew, crew->trial.tried);
    crew_rank_by_manner_locked(crew);
    return false;
}

/* A request that nobody has taken since the last look means that no member had a CPU. One that is not bound will; but
 * if it stays in one call, that is a long one. */
static bool look_locked(struct crew *crew, int device_fd) {
    bool ended;
    struct findings found = look_at_members(crew);
    bool is_starved =
        found.stuck ? cpu_is_wanted_by(found.stuck->thread) : !found.moved && crew_requests_wait(device_fd);
    crew->quiet_looks = found.moved || is_starved ? 0 : crew->quiet_looks + 1;
    crew->stuck_looks = found.stuck || is_starved ? crew->stuck_looks + 1 : 0;
    if ((found.stuck && !is_starved) || crew->stuck_looks >= STUCK_LOOKS)
        ended = crew_end_locked(crew, CREW_ENDS_SLOW);
    else if (is_starved && crew_is_bound(crew->manner))
        ended = crew_end_locked(crew, CREW_ENDS_STARVED);
    else if (crew->quiet_looks >= QUIET_LOOKS)
        ended = crew_end_locked(crew, CREW_ENDS_WITHOUT_REQUESTS);
    else
        ended = choose_manner_locked(crew, &found);
    crew->calm_looks = crew_count_callers(found.callers) > 1 ? 0 : crew->calm_looks + 1;
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
