/* Where members of the crew are bound to: the CPUs of their callers, one member each. */
#include "crew_private.h"

void crew_unbind(struct crew *crew, struct crew_member *worker) {
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
    crew_unbind(crew, worker);
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
    crew_unbind(crew, worker);
}

void crew_find_place(struct crew *crew, struct crew_member *worker) {
    enum crew_manner manner = crew_current_manner(crew);
    worker->since_look = 0;
    worker->placed = manner;
    if (!crew_is_bound(manner))
        be_free(crew, worker);
    else if (manner == CREW_GIVES_WAY || worker->cpu < 0)
        follow_caller(crew, worker);
    if (manner == CREW_GOES_FIRST && worker->cpu < 0)
        spread(crew, worker);
}

bool crew_is_apart(const struct crew *crew, const struct crew_member *worker) {
    int cpu = cpu_of_caller(crew, worker->caller);
    return cpu >= 0 && cpu != worker->cpu && is_taken(crew, cpu);
}

bool crew_has_caller_elsewhere(const struct crew *crew, const struct crew_member *worker) {
    int cpu = cpu_of_caller(crew, worker->other);
    if (cpu < 0 || is_taken(crew, cpu))
        cpu = cpu_of_caller(crew, worker->caller);
    return cpu >= 0 && !is_taken(crew, cpu);
}
