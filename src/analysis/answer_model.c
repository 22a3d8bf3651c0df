/* The first answers from a profile. */
#include "answer_model.h"

#include <math.h>
#include <string.h>

#include "aggstats/numbers.h"
#include "base.h"
#include "mounts.h"

/* ---- How much of the time ----------------------------------------------------------------------- */

/* Of the share. With a larger error, report the sum over callers: it is an exact upper bound, if it is below 1. */
#define BUSY_ERROR_MAX 0.25

/* So many samples with a single call in flight must have been seen: then with 95 % certainty two calls overlapped in
 * less than a tenth of that time (the rule of three: 3 / samples). */
#define ONE_BY_ONE_MIN 30

static void find_shares(const struct aggstats_profile *profile, struct answer_model *model) {
    const struct aggstats_busy *busy = &profile->busy;
    if (!profile->has_elapsed || profile->elapsed_cycles == 0)
        return;
    model->elapsed_share = model->sum.total_cycles / (double)profile->elapsed_cycles;
    if (busy->looks == 0 || busy->busy == 0)
        return;
    model->busy_share = (double)busy->busy / (double)busy->looks;
    model->busy_error = figures_binomial(busy->busy, busy->looks).half;
    model->busy_most = busy->most;
    model->has_busy = model->busy_error <= BUSY_ERROR_MAX * model->busy_share || model->elapsed_share > 1;
    /* Calls that have not ended are not in the sum. */
    model->is_one_by_one = busy->most == 1 && busy->busy >= ONE_BY_ONE_MIN && model->elapsed_share <= 1 &&
                           profile->in_flight_count == 0 && figures_left(profile) == 0;
}

/* ---- The rest of the time ---- */

static double cycles_of_ns(const struct aggstats_profile *profile, uint64_t ns) {
    return (double)ns * (double)profile->clock.frequency_hz / 1e9;
}

/* A command is of one thread if that had at least so much of the CPU time (run_user.c). */
#define FIRST_THREAD_MIN 0.98

/* With one thread calls do not overlap, so the time beside calls is the elapsed time less the sum of the calls. With
 * several threads this difference is a lower bound. */
static void find_rest(const struct aggstats_profile *profile, struct answer_model *model) {
    struct answer_rest *rest = &model->rest;
    if (!profile->has_cpu || !profile->has_elapsed || profile->clock.frequency_hz == 0)
        return;
    const double user = cycles_of_ns(profile, profile->user_ns);
    const double system = cycles_of_ns(profile, profile->system_ns);
    const double beside = fmax(0, (double)profile->elapsed_cycles - model->sum.total_cycles);
    rest->cpu = user + system;
    rest->kind = profile->has_queue && model->elapsed_share <= 1 ? ANSWER_REST_ONE : ANSWER_REST_SEVERAL;
    if (rest->kind == ANSWER_REST_SEVERAL) {
        if (profile->in_flight_count == 0 && figures_left(profile) == 0 &&
            !aggstats_profile_label(profile, "still_running"))
            rest->idle_least = fmax(0, beside - rest->cpu);
        return;
    }
    rest->within_least = fmax(0, FIRST_THREAD_MIN * rest->cpu - beside);
    rest->computing_least = fmin(user + fmax(0, system - model->sum.total_cycles), beside);
    rest->computing_most = fmin(user + system, beside);
    rest->others_most = beside - rest->computing_least;
    rest->queued_most = fmin(cycles_of_ns(profile, profile->queue_ns), rest->others_most);
    rest->others_least = fmax(0, beside - rest->computing_most - rest->queued_most);
}

/* ---- What a mount adds ---- */

/* Per request. A larger difference comes from calls that overlapped background reads and writes. */
#define FUSE_ADDS_MAX_NS 1000000

/* The programs' waiting time, less the time in the lower file system, is spent in FUSE, in the page cache, or on
 * copying. Programs wait in the kernel for locks that the mount does not forward. The kernel reads ahead, writes back and
 * releases while nobody waits. */
static void find_fuse(const struct aggstats_profile *profile, struct answer_model *model) {
    static const char *const not_waited_for[] = {"READ", "WRITE", "RELEASE", "RELEASEDIR", "FORGET"};
    const char *layer = aggstats_profile_label(profile, "layer");
    struct answer_fuse *fuse = &model->fuse;
    fuse->is_between = layer && strcmp(layer, "fs") == 0;
    fuse->is_known = profile->has_program && profile->clock.frequency_hz > 0;
    fuse->has_local_locks = fuse->is_between && model->lock_cycles == 0 && !aggstats_profile_label(profile, "locks");
    if (!fuse->is_known)
        return;
    double below = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        if (word_index(not_waited_for, ARRAY_SIZE(not_waited_for), profile->ops[i].name) == ARRAY_SIZE(not_waited_for))
            below += (double)profile->ops[i].total_cycles;
    if (model->lock_cycles == 0)
        fuse->hidden_lock_cycles = cycles_of_ns(profile, profile->locking_ns);
    fuse->has_hidden_locks = fuse->hidden_lock_cycles > ANSWER_SHARE_MIN * (double)profile->elapsed_cycles;
    fuse->added_most = fmax(0, cycles_of_ns(profile, profile->program_ns) - fuse->hidden_lock_cycles - below);
    fuse->is_added_close =
        fuse->added_most > 0 && fuse->added_most <= cycles_of_ns(profile, FUSE_ADDS_MAX_NS) * (double)model->sum.calls;
}

/* ---- Page faults ---- */

#define FAULTS_MIN 10 /* fewer are the program's own pages */

/* Mapped files are read by page faults. The kernel does not tell whose they are: those of programs' own pages and of
 * swapped memory are among them. So they count only if files were mapped; and of one thread, if what it waited for outside
 * of its calls is a share of the time that matters. */
static void find_faults(const struct aggstats_profile *profile, struct answer_model *model) {
    const struct answer_rest *rest = &model->rest;
    const char *layer = aggstats_profile_label(profile, "layer");
    const uint64_t faults = profile->has_page_faults ? profile->page_faults.major : 0;
    const struct aggstats_op_profile *maps = aggstats_profile_op(profile, "MMAP");
    if (!layer || strcmp(layer, "user") != 0 || !maps || maps->calls == 0 || !profile->has_elapsed)
        return;
    if (faults >= FAULTS_MIN &&
        (rest->kind != ANSWER_REST_ONE || rest->others_most >= ANSWER_SHARE_MIN * (double)profile->elapsed_cycles))
        model->major_faults = faults;
}

/* ---- The disk ----------------------------------------------------------------------------------- */

/* Whether all that read calls got is of file systems for which the kernel itself reads from disks. */
static bool are_reads_local(const struct aggstats_profile *profile) {
    bool has_any = false;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        const char *type = strrchr(group->name, ' ');
        const struct mounts_entry entry = {.type = type ? type + 1 : ""};
        if (group->grouping != AGGSTATS_BY_FILESYSTEM || !bytes_has_calls(&group->profile, BYTES_READ))
            continue;
        if (group->who != AGGSTATS_WHO_ID || !type || mounts_may_hang(&entry))
            return false;
        has_any = true;
    }
    return has_any;
}

/* Calls on what does not count, such as pipes, are not in called_bytes. Outside of its calls one thread waits for its
 * faults, among other things. */
static void find_disk(const struct aggstats_profile *profile, struct answer_model *model) {
    const char *layer = aggstats_profile_label(profile, "layer");
    struct answer_disk *disk = &model->disk;
    if (!layer || strcmp(layer, "user") != 0 || !profile->has_storage_read)
        return;
    disk->storage_bytes = (double)profile->storage_read_bytes;
    disk->called_bytes = bytes_moved(profile, BYTES_READ).bytes;
    disk->major_faults = profile->has_page_faults ? profile->page_faults.major : 0;
    disk->is_local = are_reads_local(profile);
    if (model->rest.kind == ANSWER_REST_ONE && disk->major_faults > 0)
        disk->fault_most_cycles = model->rest.others_most / (double)disk->major_faults;
    /* What a thread waited for outside of its calls is too little to matter: so are its faults. */
    const bool is_idle_known = model->rest.kind == ANSWER_REST_ONE &&
                               model->rest.others_most < ANSWER_SHARE_MIN * (double)profile->elapsed_cycles;
    const double bytes = is_idle_known ? disk->called_bytes : fmax(disk->storage_bytes, disk->called_bytes);
    disk->is_known = bytes >= ANSWER_DISK_MIN_BYTES;
}

/* ---- Peaks -------------------------------------------------------------------------------------- */

#define KERNELS_MIN 0.95

/* Before the first write to a file the kernel asks for its security.capability, on a FUSE mount by GETXATTR. Nearly
 * always there is none: these calls are not made by the program. If there are more of them than changes of files,
 * programs ask too: ls -l for access control lists. */
bool answer_is_kernels(const struct aggstats_profile *profile, const struct aggstats_op_profile *op) {
    static const char *const changes[] = {"WRITE", "SETATTR", "FALLOCATE", "COPY_FILE_RANGE"};
    uint64_t none = op->failures[aggstats_failure_of_name("ENODATA")];
    wide_count changed = 0;
    for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
        const struct aggstats_op_profile *change = aggstats_profile_op(profile, changes[i]);
        changed += change ? change->calls : 0;
    }
    return strcmp(op->name, "GETXATTR") == 0 && none > 0 &&
           (double)none >= KERNELS_MIN * (double)figures_finished(op, profile->resolution) && none <= changed;
}

static struct answer_peak peak_of(const struct answer_model *model, const struct aggstats_op_profile *op,
                                  unsigned resolution, const struct peak *peak) {
    const double total = (double)op->total_cycles;
    bool is_exact = op->longest_cycles > 0; /* unless there are calls after the peak */
    for (unsigned bucket = peak->last + 1; bucket < 64 * resolution; bucket++)
        is_exact = is_exact && op->buckets[bucket] == 0;
    const double longest = is_exact ? (double)op->longest_cycles : aggstats_bucket_upper(peak->last, resolution);
    const double mean = fmin(total * peak->latency_share / (double)peak->calls, longest); /* the share is an estimate */
    return (struct answer_peak){
        .op = op,
        .peak = *peak,
        .cost_share = model->sum.total_cycles > 0 ? total / model->sum.total_cycles * peak->latency_share : 0,
        .op_calls = figures_finished(op, resolution),
        .mean_cycles = mean,
        .longest_cycles = longest,
        .is_longest_exact = is_exact,
        .is_uneven = mean >= ANSWER_UNEVEN_MIN * peak->p50_cycles,
    };
}

/* Inserts the peak, unless ANSWER_PEAKS_MAX others are more expensive. */
static void add_peak(struct answer_model *model, const struct answer_peak *peak) {
    size_t place = model->peak_count;
    while (place > 0 && model->peaks[place - 1].cost_share < peak->cost_share)
        place--;
    if (place == ANSWER_PEAKS_MAX)
        return;
    model->peak_count += model->peak_count < ANSWER_PEAKS_MAX;
    memmove(&model->peaks[place + 1], &model->peaks[place], (model->peak_count - 1 - place) * sizeof(model->peaks[0]));
    model->peaks[place] = *peak;
}

static void find_peaks(const struct aggstats_profile *profile, struct answer_model *model) {
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        struct peak peaks[PEAKS_MAX];
        size_t count = answer_is_kernels(profile, op) ? 0 : peaks_find(op, profile->resolution, peaks);
        for (size_t j = 0; j < count; j++) {
            const struct answer_peak peak = peak_of(model, op, profile->resolution, &peaks[j]);
            add_peak(model, &peak);
        }
    }
    while (model->peak_count > 1 && model->peaks[model->peak_count - 1].cost_share <
                                        (model->peak_count > ANSWER_PEAKS_MIN ? ANSWER_SHARE_MIN : ANSWER_SHARE_NONE))
        model->peak_count--;
}

/* ---- Places of peaks ---- */

static double latency_in(const struct aggstats_op_profile *op, const struct peak *peak, unsigned resolution) {
    double cycles = 0;
    for (unsigned bucket = peak->first; op && bucket <= peak->last; bucket++)
        cycles += (double)op->buckets[bucket] * aggstats_bucket_mean(bucket, resolution);
    return cycles;
}

static const struct aggstats_group *find_place(const struct aggstats_profile *profile, const struct answer_peak *peak,
                                               enum aggstats_grouping grouping) {
    const double least = ANSWER_PLACE_MIN * latency_in(peak->op, &peak->peak, profile->resolution);
    for (size_t i = 0; i < profile->group_count && least > 0; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        if (group->grouping != grouping || group->who != AGGSTATS_WHO_ID || group->name[0] != '/')
            continue;
        const struct aggstats_op_profile *op = aggstats_profile_op(&group->profile, peak->op->name);
        if (latency_in(op, &peak->peak, profile->resolution) >= least)
            return group;
    }
    return NULL;
}

/* By directory, or else by file. */
static enum aggstats_grouping grouping_of_paths(const struct aggstats_profile *profile) {
    return profile->groupings & 1U << AGGSTATS_BY_DIRECTORY ? AGGSTATS_BY_DIRECTORY : AGGSTATS_BY_FILE;
}

/* A groups_weigh_fn; context: the answer_peak. */
static double weigh_peak(const struct aggstats_group *group, const void *context) {
    const struct answer_peak *peak = context;
    return latency_in(aggstats_profile_op(&group->profile, peak->op->name), &peak->peak, group->profile.resolution);
}

/* A groups_weigh_fn. */
static double weigh_all(const struct aggstats_group *group, const void *context) {
    (void)context;
    return figures_sum(&group->profile).total_cycles;
}

/* As groups_find_prefix(), but none that the directory of the profile is in: pages say which that is. */
static struct groups_prefix find_prefix(const struct aggstats_profile *profile, enum aggstats_grouping grouping,
                                        double least, groups_weigh_fn weigh, const void *context) {
    const struct groups_prefix found = groups_find_prefix(profile, grouping, least, weigh, context);
    const char *lower = groups_base(profile) ? NULL : aggstats_profile_label(profile, "lower");
    const bool is_around = found.path && lower && strncmp(lower, found.path, found.length) == 0 &&
                           (lower[found.length] == '/' || lower[found.length] == '\0');
    return is_around ? (struct groups_prefix){NULL, 0, 0} : found;
}

static void find_below(const struct aggstats_profile *profile, struct answer_model *model) {
    double most[ANSWER_BELOW_FEW] = {0}; /* of directories, the largest first */
    double few = 0;
    if (!(profile->groupings & 1U << AGGSTATS_BY_DIRECTORY) || model->sum.total_cycles <= 0)
        return;
    for (size_t i = 0; i < profile->group_count; i++) {
        double total = profile->groups[i].grouping == AGGSTATS_BY_DIRECTORY ? weigh_all(&profile->groups[i], NULL) : 0;
        for (size_t j = 0; j < ARRAY_SIZE(most); j++) {
            const double smaller = fmin(most[j], total);
            most[j] = fmax(most[j], total);
            total = smaller;
        }
    }
    for (size_t j = 0; j < ARRAY_SIZE(most); j++)
        few += most[j];
    if (most[0] < ANSWER_PLACE_MIN * model->sum.total_cycles && few < ANSWER_BELOW_MIN * model->sum.total_cycles)
        model->below =
            find_prefix(profile, AGGSTATS_BY_DIRECTORY, ANSWER_BELOW_MIN * model->sum.total_cycles, weigh_all, NULL);
}

static void find_places(const struct aggstats_profile *profile, struct answer_model *model) {
    for (size_t i = 0; i < model->peak_count; i++) {
        struct answer_peak *peak = &model->peaks[i];
        const bool is_sync = strcmp(peak->op->name, "FSYNC") == 0 || strcmp(peak->op->name, "FDATASYNC") == 0;
        double known = 0; /* latency of the peak in files that are known */
        peak->place = find_place(profile, peak, AGGSTATS_BY_FILE);
        if (!peak->place)
            peak->place = find_place(profile, peak, AGGSTATS_BY_DIRECTORY);
        const double whole = latency_in(peak->op, &peak->peak, profile->resolution);
        if (!peak->place && whole > 0)
            peak->below = find_prefix(profile, grouping_of_paths(profile), ANSWER_BELOW_MIN * whole, weigh_peak, peak);
        if (!peak->place || peak->place->grouping != AGGSTATS_BY_DIRECTORY || !is_sync)
            continue;
        for (size_t j = 0; j < profile->group_count; j++) {
            const struct aggstats_group *group = &profile->groups[j];
            const struct aggstats_op_profile *op = aggstats_profile_op(&group->profile, peak->op->name);
            if (group->grouping == AGGSTATS_BY_FILE && group->who == AGGSTATS_WHO_ID && group->name[0] == '/')
                known += latency_in(op, &peak->peak, profile->resolution);
        }
        peak->is_file_unknown = known < ANSWER_PLACE_MIN * whole;
        if (peak->is_file_unknown)
            peak->place = NULL;
    }
}

/* ---- Bytes -------------------------------------------------------------------------------------- */

static void find_transfers(const struct aggstats_profile *profile, struct answer_model *model) {
    const double hz = (double)profile->clock.frequency_hz;
    for (enum bytes_way way = 0; way < BYTES_WAY_COUNT; way++) {
        const struct bytes_moved moved = bytes_moved(profile, way);
        if (moved.bytes == 0)
            continue;
        struct answer_transfer *transfer = &model->transfers[model->transfer_count++];
        *transfer = (struct answer_transfer){.way = way, .moved = moved};
        if (profile->has_elapsed && profile->elapsed_cycles > 0)
            transfer->per_elapsed_second = moved.bytes / (double)profile->elapsed_cycles * hz;
        if (moved.total_cycles > 0)
            transfer->per_call_second = moved.bytes / moved.total_cycles * hz;
    }
}

/* ---- Failures ----------------------------------------------------------------------------------- */

static bool is_asked_for(const char *op, unsigned failure) {
    const char *name = aggstats_failure_name(failure);
    return (strcmp(op, "LOOKUP") == 0 && strcmp(name, "ENOENT") == 0) ||
           (strcmp(op, "GETXATTR") == 0 && strcmp(name, "ENODATA") == 0) ||
           (strcmp(op, "READLINK") == 0 && strcmp(name, "EINVAL") == 0) || /* asks whether it is a link */
           (strcmp(op, "IOCTL") == 0 && strcmp(name, "ENOTTY") == 0);      /* asks whether it is a terminal */
}

/* Of the layer user: loaders, shells and interpreters try one directory after the other. */
static bool is_search(const char *op, unsigned failure) {
    static const char *const ops[] = {"STAT", "STATX", "ACCESS", "OPEN", "FOPEN", "OPENDIR", "READLINK"};
    return word_index(ops, ARRAY_SIZE(ops), op) < ARRAY_SIZE(ops) &&
           strcmp(aggstats_failure_name(failure), "ENOENT") == 0;
}

static void add_failure(struct answer_model *model, const struct answer_failure *failure) {
    size_t place = model->failure_count;
    model->failed_calls += failure->calls;
    while (place > 0) { /* searches come last */
        const struct answer_failure *before = &model->failures[place - 1];
        if (failure->is_search == before->is_search ? failure->calls <= before->calls : failure->is_search)
            break;
        place--;
    }
    if (place == ANSWER_FAILURES_MAX)
        return;
    model->failure_count += model->failure_count < ANSWER_FAILURES_MAX;
    memmove(&model->failures[place + 1], &model->failures[place],
            (model->failure_count - 1 - place) * sizeof(model->failures[0]));
    model->failures[place] = *failure;
}

static void find_failures(const struct aggstats_profile *profile, struct answer_model *model) {
    for (size_t i = 0; i < profile->op_count; i++) {
        const struct aggstats_op_profile *op = &profile->ops[i];
        for (unsigned failure = 0; failure < AGGSTATS_FAILURES; failure++) {
            if (is_asked_for(op->name, failure))
                model->asked_for += op->failures[failure];
            else if (op->failures[failure] > 0)
                add_failure(model,
                            &(struct answer_failure){op, failure, op->failures[failure], is_search(op->name, failure)});
        }
        /* A recorder either counts all of these figures, or none. */
        model->knows_outcomes =
            model->knows_outcomes || op->longest_cycles > 0 || op->asked_bytes > 0 || aggstats_failed_calls(op) > 0;
    }
}

/* ---- Advice ---- */

/* If a job of one thread also waits outside of calls, no advice saves that time, unless some calls were not seen. */
static void find_advice(const struct aggstats_profile *profile, struct answer_model *model) {
    const bool is_seen = !aggstats_profile_has_unseen(profile) && !model->witness.is_at_least;
    const double beside = (double)profile->elapsed_cycles - model->sum.total_cycles - model->rest.others_least;
    const struct advice_known known = {
        .total_cycles = model->sum.total_cycles,
        .is_one_by_one = model->is_one_by_one,
        .between_cycles =
            model->rest.kind == ANSWER_REST_ONE && is_seen ? fmax(0, beside) : (double)profile->elapsed_cycles,
        .added_cycles = model->fuse.is_added_close ? model->fuse.added_most : 0,
    };
    model->advice_count = advice_find(profile, &known, model->advice);
}

/* ---- The whole ---------------------------------------------------------------------------------- */

void answer_model_make(const struct aggstats_profile *profile, const struct characteristic *times, size_t time_count,
                       struct answer_model *ret_model) {
    struct answer_model model = {
        .sum = figures_sum(profile), .lock_cycles = figures_locking(profile), .witness = bytes_witness(profile)};
    const struct peak_times held_against = {profile, times, time_count};
    find_shares(profile, &model);
    find_rest(profile, &model);
    find_fuse(profile, &model);
    find_faults(profile, &model);
    find_disk(profile, &model);
    find_peaks(profile, &model);
    for (size_t i = 0; i < model.peak_count; i++) {
        struct answer_peak *peak = &model.peaks[i];
        const struct peak_waits waits = peak_waits_find(profile, peak->op, &peak->peak);
        peak->reason = peak_reason_of(peak->op, &peak->peak, &held_against);
        /* Calls that were not watched count as not waiting for it. */
        if (waits.count > 0 &&
            waits.waits[0].share * (double)waits.known_calls >= ANSWER_WAIT_MIN * (double)peak->peak.calls)
            peak->wait = waits.waits[0].cause;
    }
    find_places(profile, &model);
    find_below(profile, &model);
    find_transfers(profile, &model);
    find_failures(profile, &model);
    for (size_t i = 0; i < profile->in_flight_count; i++)
        if (!model.oldest || profile->in_flight[i].latency_cycles > model.oldest->latency_cycles)
            model.oldest = &profile->in_flight[i];
    find_advice(profile, &model);
    *ret_model = model;
}
