/* The table of rules, and what a profile says to them. */
#include "advice.h"

#include <math.h>
#include <string.h>

#include "base.h"
#include "bytes.h"
#include "figures.h"

/* What beginning and ending a call takes outside of its latency, generously. */
#define CALL_EDGES_NS 1000

#define TINY_BYTES 1024.0
#define COMMIT_BYTES_MAX 262144.0
#define CALLS_FOR_ANOTHER 16 /* so many calls come with one open; then a larger buffer saves most of them */
#define PLACE_MIN 0.5        /* of the latency: a program or a place has most */
#define OVERLAP_MAX 1.1      /* sum over union, of calls that hardly overlap */
#define CROWD_MAX 2.0        /* sum over union, of calls that mostly do not overlap */

struct finding {
    const struct aggstats_profile *profile;
    const struct advice_known *known;
    const struct rule *rule;
};

struct rule {
    const char *name;
    const char *ops;  /* ops of all layers that the rule is about, separated by blanks */
    const char *with; /* ops that come with these, and may be saved too */
    wide_count calls_min;

    /* True for an op that is meant. NULL: all are */
    bool (*takes)(const struct finding *it, const struct aggstats_op_profile *op);

    /* How many calls of it are meant. NULL: all that have ended */
    uint64_t (*count)(const struct aggstats_op_profile *op);

    /* True if the rule applies to what was found, which it may complete. NULL: always */
    bool (*applies)(const struct finding *it, struct advice *advice);

    const char *remedy;
};

/* ---- How long calls were in flight -------------------------------------------------------------- */

/* Calls of several ops. */
struct calls {
    wide_count count;
    double cycles; /* of their latencies */
    uint64_t looks;
};

static void add_calls(struct calls *calls, const struct finding *it, const struct aggstats_op_profile *op) {
    calls->count += figures_finished(op, it->profile->resolution);
    calls->cycles += (double)op->total_cycles;
    calls->looks += op->busy_looks;
}

/* Beside so many latencies, in cycles. */
static double edges_of(const struct finding *it, wide_count calls) {
    return CALL_EDGES_NS * 1e-9 * (double)it->profile->clock.frequency_hz * (double)calls;
}

/* As shares of the elapsed time. */
struct in_flight {
    double share;
    double most;
};

/* Where the union is exact, only what begins and ends calls is beside it. */
static struct in_flight find_in_flight(const struct finding *it, const struct calls *calls) {
    const struct aggstats_busy *busy = &it->profile->busy;
    const double elapsed = (double)it->profile->elapsed_cycles;
    const uint64_t looks = calls->looks < busy->busy ? calls->looks : busy->busy;
    const struct figures_interval interval = figures_binomial(looks, busy->looks);
    struct in_flight found = {(double)looks / (double)busy->looks, interval.middle + interval.half};
    if (it->known->is_one_by_one) {
        found.share = calls->cycles / elapsed;
        found.most = fmax(found.share, fmin(found.most, (calls->cycles + edges_of(it, calls->count)) / elapsed));
    }
    found.most = fmin(found.most, 1);
    return found;
}

/* ---- Names of operations ---- */

static bool is_listed(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static wide_count count_of(const struct finding *it, const char *ops) {
    wide_count count = 0;
    for (size_t i = 0; i < it->profile->op_count; i++)
        if (is_listed(ops, it->profile->ops[i].name))
            count += figures_finished(&it->profile->ops[i], it->profile->resolution);
    return count;
}

#define SYNCS "FSYNC FDATASYNC"
#define OPENS "OPEN FOPEN CREATE"
#define SEEKS "LSEEK FSEEK"

/* ---- Who, and where ---- */

static double latency_of(const struct aggstats_profile *calls, const char *ops) {
    double cycles = 0;
    for (size_t i = 0; i < calls->op_count; i++)
        if (is_listed(ops, calls->ops[i].name))
            cycles += (double)calls->ops[i].total_cycles;
    return cycles;
}

/* The group with most of the latency of these ops; NULL: none has. */
static const struct aggstats_group *find_group(const struct finding *it, enum aggstats_grouping grouping) {
    const double least = PLACE_MIN * latency_of(it->profile, it->rule->ops);
    for (size_t i = 0; i < it->profile->group_count && least > 0; i++) {
        const struct aggstats_group *group = &it->profile->groups[i];
        if (group->grouping == grouping && group->who == AGGSTATS_WHO_ID && group->name[0] &&
            latency_of(&group->profile, it->rule->ops) >= least)
            return group;
    }
    return NULL;
}

/* ---- Conditions --------------------------------------------------------------------------------- */

/* Groups of commits by many threads at once are batches already. */
static bool are_small_commits(const struct finding *it, struct advice *advice) {
    const double written = bytes_moved(it->profile, BYTES_WRITTEN).bytes;
    return written <= COMMIT_BYTES_MAX * (double)advice->calls &&
           latency_of(it->profile, it->rule->ops) <= CROWD_MAX * advice->busy_cycles;
}

static double asked_of_each(const struct finding *it, const struct aggstats_op_profile *op) {
    const uint64_t calls = figures_finished(op, it->profile->resolution);
    return calls > 0 ? (double)op->asked_bytes / (double)calls : 0;
}

static bool is_tiny(const struct finding *it, const struct aggstats_op_profile *op) {
    const double bytes = asked_of_each(it, op);
    return bytes > 0 && bytes <= TINY_BYTES;
}

/* Many come after one open, with no seek between them: they are of one large piece. */
static bool are_in_order(const struct finding *it, struct advice *advice) {
    advice->bytes = asked_of_each(it, advice->op);
    return count_of(it, OPENS) * CALLS_FOR_ANOTHER <= advice->calls && count_of(it, SEEKS) * 10 <= advice->calls;
}

/* What is synced after each write cannot be held back. */
static bool are_in_order_and_not_synced(const struct finding *it, struct advice *advice) {
    return are_in_order(it, advice) && count_of(it, SYNCS) * 10 <= advice->calls;
}

static uint64_t not_there(const struct aggstats_op_profile *op) {
    return op->failures[aggstats_failure_of_name("ENOENT")];
}

static bool is_mostly_not_there(const struct finding *it, const struct aggstats_op_profile *op) {
    return not_there(op) * 2 >= figures_finished(op, it->profile->resolution);
}

/* Finds the file that was opened most often. An upper bound of its latency is the group's latency, plus the latency
 * that the group may have missed. */
static bool is_one_file(const struct finding *it, struct advice *advice) {
    const double elapsed = (double)it->profile->elapsed_cycles;
    wide_count most = 0;
    for (size_t i = 0; i < it->profile->group_count; i++) {
        const struct aggstats_group *group = &it->profile->groups[i];
        const struct finding of_group = {.profile = &group->profile, .known = it->known, .rule = it->rule};
        const bool is_file = group->grouping == AGGSTATS_BY_FILE && group->who == AGGSTATS_WHO_ID;
        const wide_count opens = is_file ? count_of(&of_group, OPENS) : 0;
        if (opens <= most)
            continue;
        most = opens;
        advice->place = group;
    }
    if (most < it->rule->calls_min)
        return false;
    const double cycles = latency_of(&advice->place->profile, it->rule->ops) + (double)advice->place->missed_cycles_max;
    const double edges = edges_of(it, figures_sum(&advice->place->profile).calls);
    const struct aggstats_op_profile *open = aggstats_profile_op(it->profile, "OPEN");
    advice->op = open ? open : advice->op;
    advice->calls = advice->of_calls = most;
    advice->busy_cycles = fmin(advice->busy_cycles, cycles);
    advice->bound = fmin(advice->bound, (cycles + edges) / elapsed);
    return cycles >= ADVICE_SHARE_MIN * elapsed;
}

/* ---- The table ---- */

/* Calls that come with a commit: journals are made, written and removed, and files locked. */
#define WITH_COMMITS                                                                                                   \
    "WRITE PWRITE WRITEV PWRITEV FWRITE FFLUSH PREAD OPEN CREATE CLOSE RELEASE FLUSH FOPEN FCLOSE UNLINK RENAME "      \
    "TRUNCATE FTRUNCATE SETATTR FALLOCATE LOCK FLOCK GETLK SETLK SETLKW STAT FSTAT STATX GETATTR LOOKUP ACCESS LSEEK " \
    "CHMOD CHOWN UTIMENS MSYNC SYNC_FILE_RANGE FSYNCDIR"

static const struct rule rules[ADVICE_RULES] = {
    [ADVICE_COMMITS] = {.name = "commits",
                        .ops = SYNCS,
                        .with = WITH_COMMITS,
                        .calls_min = 30,
                        .applies = are_small_commits,
                        .remedy = "committing more at once"},
    [ADVICE_TINY_READS] = {.name = "tiny_reads",
                           .ops = "READ READV",
                           .with = "",
                           .calls_min = 1000,
                           .takes = is_tiny,
                           .applies = are_in_order,
                           .remedy = "reading more at once"},
    [ADVICE_TINY_WRITES] = {.name = "tiny_writes",
                            .ops = "WRITE WRITEV",
                            .with = "",
                            .calls_min = 1000,
                            .takes = is_tiny,
                            .applies = are_in_order_and_not_synced,
                            .remedy = "writing more at once"},
    [ADVICE_MISSING] = {.name = "missing",
                        .ops = "LOOKUP STAT STATX ACCESS OPEN FOPEN OPENDIR READLINK",
                        .with = "",
                        .calls_min = 1000,
                        .takes = is_mostly_not_there,
                        .count = not_there,
                        .remedy = "looking in fewer places"},
    [ADVICE_REOPENED] = {.name = "reopened",
                         .ops =
                             "OPEN FOPEN CREATE CLOSE FCLOSE RELEASE FLUSH READ PREAD READV FREAD FGETS FGETC FSCANF "
                             "WRITE FWRITE FPRINTF FPUTS FSTAT STAT STATX GETATTR LOOKUP LSEEK",
                         .with = "",
                         .calls_min = 1000,
                         .applies = is_one_file,
                         .remedy = "keeping it open, or what it holds,"},
    [ADVICE_FUSE] = {.name = "fuse", .remedy = "reading and writing them where they are"},
    [ADVICE_MOUNT] = {.name = "mount", .remedy = "a run without the mount"},
};

const char *advice_rule_name(enum advice_rule rule) {
    return rules[rule].name;
}

const char *advice_remedy(enum advice_rule rule) {
    return rules[rule].remedy;
}

/* ---- Rules of operations ------------------------------------------------------------------------ */

static bool follow_rule(const struct finding *it, struct advice *advice) {
    struct calls own = {0};
    struct calls all = {0};
    for (size_t i = 0; i < it->profile->op_count; i++) {
        const struct aggstats_op_profile *op = &it->profile->ops[i];
        const uint64_t calls = figures_finished(op, it->profile->resolution);
        const bool takes =
            is_listed(it->rule->ops, op->name) && calls > 0 && (!it->rule->takes || it->rule->takes(it, op));
        if (takes) {
            advice->calls += it->rule->count ? it->rule->count(op) : calls;
            advice->of_calls += calls;
            if (!advice->op || op->total_cycles > advice->op->total_cycles)
                advice->op = op;
            add_calls(&own, it, op);
        }
        if (takes || is_listed(it->rule->with, op->name))
            add_calls(&all, it, op);
    }
    if (!advice->op || advice->calls < it->rule->calls_min)
        return false;
    const double elapsed = (double)it->profile->elapsed_cycles;
    const struct in_flight of_own = find_in_flight(it, &own);
    advice->busy_cycles = of_own.share * elapsed;
    advice->is_exact = it->known->is_one_by_one;
    advice->is_one_at_a_time = own.cycles <= OVERLAP_MAX * advice->busy_cycles;
    advice->bound = find_in_flight(it, &all).most;
    if (of_own.share < ADVICE_SHARE_MIN || (it->rule->applies && !it->rule->applies(it, advice)))
        return false;
    advice->program = find_group(it, AGGSTATS_BY_PROGRAM);
    if (!advice->place)
        advice->place = find_group(it, AGGSTATS_BY_FILE);
    if (!advice->place)
        advice->place = find_group(it, AGGSTATS_BY_DIRECTORY);
    return true;
}

/* ---- FUSE --------------------------------------------------------------------------------------- */

/* The sum over its calls, or the union of all calls. */
static bool follow_fuse(const struct finding *it, struct advice *advice) {
    const double elapsed = (double)it->profile->elapsed_cycles;
    struct figures_sum most = {0};
    for (size_t i = 0; i < it->profile->group_count; i++) {
        const struct aggstats_group *group = &it->profile->groups[i];
        const struct figures_sum sum = figures_sum(&group->profile);
        const char *type = strrchr(group->name, ' '); /* "/mnt fuse.sshfs", "/win fuseblk" */
        const bool is_fuse =
            type && (strcmp(type, " fuse") == 0 || strcmp(type, " fuseblk") == 0 || strncmp(type, " fuse.", 6) == 0);
        if (group->grouping != AGGSTATS_BY_FILESYSTEM || group->who != AGGSTATS_WHO_ID || !is_fuse ||
            sum.total_cycles <= most.total_cycles)
            continue;
        most = sum;
        advice->place = group;
    }
    if (!advice->place)
        return false;
    const struct calls all = {.count = most.calls, .cycles = it->known->total_cycles, .looks = it->profile->busy.busy};
    const struct in_flight in_flight = find_in_flight(it, &all);
    const double part = (most.total_cycles + (double)advice->place->missed_cycles_max) / elapsed;
    advice->calls = advice->of_calls = most.calls;
    advice->busy_cycles = fmin(in_flight.share, part) * elapsed;
    advice->is_exact = it->known->is_one_by_one;
    advice->is_one_at_a_time = most.total_cycles <= OVERLAP_MAX * advice->busy_cycles;
    advice->bound = fmin(in_flight.most, part + edges_of(it, most.calls) / elapsed);
    return advice->busy_cycles >= ADVICE_SHARE_MIN * elapsed;
}

/* ---- The whole ---------------------------------------------------------------------------------- */

/* Inserts the advice, unless ADVICE_MAX others have larger bounds. */
static size_t insert(struct advice all[ADVICE_MAX], size_t count, const struct advice *advice) {
    size_t place = count;
    while (place > 0 && all[place - 1].bound < advice->bound)
        place--;
    if (place == ADVICE_MAX)
        return count;
    count += count < ADVICE_MAX;
    memmove(&all[place + 1], &all[place], (count - 1 - place) * sizeof(all[0]));
    all[place] = *advice;
    return count;
}

size_t advice_find(const struct aggstats_profile *profile, const struct advice_known *known,
                   struct advice ret_advice[ADVICE_MAX]) {
    struct finding it = {.profile = profile, .known = known};
    size_t count = 0;
    const bool has_looks = profile->busy.by_op && profile->busy.looks >= ADVICE_LOOKS_MIN;
    if (!profile->has_elapsed || profile->elapsed_cycles == 0)
        return 0;
    for (unsigned rule = 0; rule < ADVICE_RULES; rule++) {
        struct advice advice = {.rule = (enum advice_rule)rule};
        it.rule = &rules[rule];
        bool is_followed = false;
        if (rule == ADVICE_MOUNT) { /* added_cycles is summed over callers, so the bound also holds if calls overlap */
            const double share = known->added_cycles / (double)profile->elapsed_cycles;
            advice.calls = advice.of_calls = figures_sum(profile).calls;
            advice.busy_cycles = known->added_cycles;
            advice.bound = fmin(share, 1);
            is_followed = share >= ADVICE_SHARE_MIN;
        } else if (has_looks) {
            is_followed = rule == ADVICE_FUSE ? follow_fuse(&it, &advice) : follow_rule(&it, &advice);
        }
        if (!is_followed)
            continue;
        advice.between = fmin(known->between_cycles / (double)profile->elapsed_cycles, 1 - advice.bound);
        count = insert(ret_advice, count, &advice);
    }
    return count;
}
