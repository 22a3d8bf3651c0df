/* Which facts the answer page has, and in which order. */
#include "aggstats/why.h"
#include "answer_page.h"

#include <stdlib.h>
#include <string.h>

#include "aggstats/numbers.h"
#include "aggstats/words.h"
#include "base.h"
#include "callers_text.h"
#include "disk_others.h"
#include "facts_text.h"
#include "groups.h"
#include "layers.h"

#define GROUPINGS_MAX 5

static void row_finish(struct answer_row *row) {
    free(row->whose);
    answer_next_finish(&row->next);
}

/* Takes the row over. */
static void add(struct answer_rows *rows, struct answer_row row) {
    struct answer_row *grown = reallocarray(rows->rows, rows->count + 1, sizeof(*grown));
    if (!grown) {
        row_finish(&row);
        return;
    }
    rows->rows = grown;
    rows->rows[rows->count++] = row;
}

/* ---- How much of the time ----------------------------------------------------------------------- */

static void add_elapsed(const struct aggstats_profile *profile, struct answer_rows *rows) {
    if (profile->has_elapsed)
        add(rows, (struct answer_row){
                      .kind = ANSWER_ELAPSED,
                      .cycles = (double)profile->elapsed_cycles,
                      .count = profile->has_runs ? profile->runs : profile->merged,
                      .word = profile->has_runs ? "runs" : "profiles",
                  });
}

static const char *place_of(const struct aggstats_profile *profile) {
    if (layers_of_name(layers_name(profile)) == LAYER_IS_BLOCK) /* its directories are those of the job */
        return aggstats_profile_label(profile, "devices");
    const char *lower = aggstats_profile_label(profile, "lower");
    const char *mount = aggstats_profile_label(profile, "mount");
    if (strcmp(layers_name(profile), "syscall") == 0) /* its mount may be no place of files */
        mount = NULL;
    return lower && lower[0] ? lower : mount && mount[0] ? mount : NULL;
}

/* The group of osprof show --of. */
static void find_whose(const struct aggstats_profile *profile, struct answer_row *row) {
    for (size_t i = 0; i < profile->label_count; i++) {
        const struct aggstats_label *label = &profile->labels[i];
        bool is_path = strncmp(label->key, "calls on ", strlen("calls on ")) == 0;
        if (!is_path && strncmp(label->key, "calls of", strlen("calls of")) != 0)
            continue;
        free(row->whose);
        row->whose = strdup(label->value);
        row->word = is_path ? "calls on" : label->key;
    }
}

static void add_time(const struct aggstats_profile *profile, const struct answer_model *model,
                     const struct answer_source *source, struct answer_rows *rows) {
    const char *layer = aggstats_profile_label(profile, "layer");
    const bool has_unseen = aggstats_profile_has_unseen(profile);
    const struct aggstats_profile *unseen = has_unseen ? profile : NULL;
    CLEANUP_STR struct str not_told = {0};
    struct answer_row row = {.place = place_of(profile),
                             .is_of_programs = layer && strcmp(layer, "user") == 0,
                             .is_of_disk = layers_of_name(layers_name(profile)) == LAYER_IS_BLOCK,
                             .is_at_least = has_unseen || model->witness.is_at_least,
                             .is_below_fuse = model->fuse.is_between && !model->fuse.is_known,
                             .has_local_locks = model->fuse.has_local_locks};
    if (row.is_of_programs && row.place && strcmp(row.place, "/") == 0)
        row.place = NULL; /* all files */
    add_elapsed(profile, rows);
    if (model->is_one_by_one) {
        row.kind = ANSWER_ONE_BY_ONE;
        row.share = model->elapsed_share;
        row.cycles = model->sum.total_cycles;
    } else if (model->has_busy) {
        row.kind = ANSWER_BUSY;
        row.share = model->busy_share;
        row.error = model->busy_error;
        row.cycles = model->busy_share * (double)profile->elapsed_cycles;
        row.count = model->busy_most;
    } else {
        row.kind = model->sum.calls == 0 ? ANSWER_NO_CALLS : ANSWER_SUM;
        row.cycles = model->sum.total_cycles;
        row.share = model->elapsed_share;
        find_whose(profile, &row);
    }
    add(rows, row);
    if (model->sum.total_cycles > 0 && model->lock_cycles >= ANSWER_SHARE_MIN * model->sum.total_cycles)
        add(rows, (struct answer_row){.kind = ANSWER_LOCKS, .cycles = model->lock_cycles});
    if (model->fuse.is_added_close)
        add(rows,
            (struct answer_row){.kind = ANSWER_FUSE, .cycles = model->fuse.added_most, .count = model->sum.calls});
    if (model->fuse.has_hidden_locks)
        add(rows, (struct answer_row){.kind = ANSWER_HIDDEN_LOCKS, .cycles = model->fuse.hidden_lock_cycles});
    /* calls that were not seen are somewhere in the rest */
    if (model->rest.kind == ANSWER_REST_SEVERAL || (model->rest.kind == ANSWER_REST_ONE && !row.is_at_least))
        add(rows, (struct answer_row){.kind = ANSWER_REST,
                                      .rest = model->rest,
                                      .cycles = (double)profile->elapsed_cycles,
                                      .is_at_least = row.is_at_least});
    for (size_t i = 0; i < model->advice_count; i++)
        add(rows, (struct answer_row){.kind = ANSWER_ADVICE,
                                      .advice = &model->advice[i],
                                      .cycles = (double)profile->elapsed_cycles,
                                      .base = groups_base(profile)});
    if (disk_others_are_known(profile))
        add(rows, (struct answer_row){.kind = ANSWER_DISK_OTHERS, .profile = profile});
    if (model->witness.is_at_least)
        add(rows, (struct answer_row){.kind = ANSWER_MISSED_BYTES, .witness = &model->witness, .profile = unseen});
    if (model->witness.is_elsewhere && model->elapsed_share < ANSWER_SHARE_MIN)
        add(rows, (struct answer_row){.kind = ANSWER_ELSEWHERE,
                                      .share = model->witness.inside_share,
                                      .bytes = model->witness.elsewhere,
                                      .place = row.place});
    if (has_unseen || model->major_faults > 0)
        add(rows, (struct answer_row){.kind = ANSWER_NOT_SEEN, .profile = unseen, .count = model->major_faults});
    facts_text_add_not_told(&not_told, profile);
    if (not_told.length > 0)
        add(rows, (struct answer_row){.kind = ANSWER_NOT_TOLD, .profile = profile});
    if ((has_unseen || model->major_faults > 0) && !source->has_mount)
        add(rows,
            (struct answer_row){.kind = ANSWER_REMEDY, .is_of_set_id = profile->not_seen[AGGSTATS_UNSEEN_SET_ID] > 0});
    if (source->attach && model->major_faults == 0)
        add(rows, (struct answer_row){.kind = ANSWER_ATTACH, .word = source->attach});
}

/* ---- Where it went ------------------------------------------------------------------------------ */

static void add_in_flight(const struct aggstats_profile *profile, const struct answer_model *model,
                          struct answer_rows *rows) {
    if (model->oldest)
        add(rows, (struct answer_row){.kind = ANSWER_IN_FLIGHT,
                                      .count = profile->in_flight_count,
                                      .in_flight = model->oldest,
                                      .cycles = (double)model->oldest->latency_cycles});
}

static void add_peaks(const struct aggstats_profile *profile, const struct answer_model *model,
                      struct answer_rows *rows) {
    for (size_t i = 0; i < model->peak_count; i++) {
        const struct answer_peak *peak = &model->peaks[i];
        add(rows, (struct answer_row){.kind = ANSWER_PEAK,
                                      .op = peak->op,
                                      .share = peak->cost_share,
                                      .count = peak->peak.calls,
                                      .of_count = peak->op_calls,
                                      .cycles = peak->peak.p50_cycles,
                                      .longest = peak->longest_cycles,
                                      .is_bound = !peak->is_longest_exact,
                                      .is_uneven = peak->is_uneven,
                                      .is_observed = peak->wait || peak_reason_is_seen(&peak->reason),
                                      .wait = peak->wait ? &peak->wait->why : NULL,
                                      .word = peak_reason_name(&peak->reason, peak->op),
                                      .place = peak->is_file_unknown ? "(file not known: by=file)" : NULL,
                                      .group = peak->place,
                                      .base = peak->place ? groups_base(profile) : NULL});
    }
}

/* The busiest of a grouping, and those with a share that matters. */
static void add_groups(const struct aggstats_profile *profile, const struct answer_model *model,
                       enum aggstats_grouping grouping, struct answer_rows *rows) {
    bool has_any = false;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        double total = group->grouping == grouping ? figures_sum(&group->profile).total_cycles : 0;
        double share = model->sum.total_cycles > 0 ? total / model->sum.total_cycles : 0;
        if (group->grouping != grouping || (has_any && share < ANSWER_SHARE_MIN))
            continue;
        add(rows, (struct answer_row){.kind = ANSWER_GROUP, .grouping = grouping, .group = group, .share = share});
        has_any = true;
    }
    if (!has_any)
        add(rows, (struct answer_row){.kind = ANSWER_GROUP, .grouping = grouping});
}

/* True unless all is on that of "/", as on most machines. */
static bool has_file_systems(const struct aggstats_profile *profile, const struct answer_model *model) {
    double largest = 0;
    bool is_root = true;
    for (size_t i = 0; i < profile->group_count; i++) {
        const struct aggstats_group *group = &profile->groups[i];
        const double total = figures_sum(&group->profile).total_cycles;
        if (group->grouping == AGGSTATS_BY_FILESYSTEM && total > largest) {
            largest = total;
            is_root = strncmp(group->name, "/ ", 2) == 0;
        }
    }
    return largest > 0 && (!is_root || largest < (1 - ANSWER_SHARE_MIN) * model->sum.total_cycles);
}

/* Where the time went comes first. Those after GROUPINGS_MAX are omitted, because the page is bounded. */
static void add_all_groups(const struct aggstats_profile *profile, const struct answer_model *model,
                           struct answer_rows *rows) {
    static const enum aggstats_grouping order[] = {AGGSTATS_BY_FILESYSTEM, AGGSTATS_BY_FILE,    AGGSTATS_BY_DIRECTORY,
                                                   AGGSTATS_BY_PROGRAM,    AGGSTATS_BY_PROCESS, AGGSTATS_BY_UID,
                                                   AGGSTATS_BY_CGROUP};
    _Static_assert(ARRAY_SIZE(order) == GROUPING_COUNT, "each grouping has its place");
    unsigned count = 0;
    for (size_t i = 0; i < ARRAY_SIZE(order) && count < GROUPINGS_MAX; i++) {
        if (!(profile->groupings & 1U << order[i]) ||
            (order[i] == AGGSTATS_BY_FILESYSTEM && !has_file_systems(profile, model)))
            continue;
        add_groups(profile, model, order[i], rows);
        count++;
    }
}

/* What most slow calls of that operation waited for. */
static const struct aggstats_why *main_cause(const struct aggstats_profile *profile, const char *op) {
    static const struct aggstats_why unknown = {.words = ""};
    for (size_t i = 0; i < profile->cause_count; i++)
        if (strcmp(profile->causes[i].op, op) == 0)
            return &profile->causes[i].why;
    return &unknown;
}

static void add_holder(const struct aggstats_profile *profile, const struct answer_model *model,
                       struct answer_rows *rows) {
    const char *op = model->peak_count > 0 ? model->peaks[0].op->name : "";
    const struct aggstats_why *cause = main_cause(profile, op);
    const struct aggstats_call *longest = NULL;
    for (size_t i = 0; i < profile->slow_call_count; i++) {
        const struct aggstats_call *call = &profile->slow_calls[i];
        if (call->chain && strcmp(call->op, op) == 0 && aggstats_why_is_same(&call->cause, cause) &&
            (!longest || call->latency_cycles > longest->latency_cycles))
            longest = call;
    }
    if (longest)
        add(rows, (struct answer_row){
                      .kind = ANSWER_HOLDER, .slow_call = longest, .cycles = (double)longest->latency_cycles});
}

static void add_callers(const struct aggstats_profile *profile, struct answer_rows *rows) {
    const char *op = callers_text_first(profile);
    if (op)
        add(rows, (struct answer_row){.kind = ANSWER_CALLERS, .profile = profile, .word = op});
}

/* ---- How much, what failed ---------------------------------------------------------------------- */

static void add_moved(const struct aggstats_profile *profile, const struct answer_model *model,
                      struct answer_rows *rows) {
    static const char *const words[BYTES_WAY_COUNT] = {
        [BYTES_READ] = "read", [BYTES_WRITTEN] = "written", [BYTES_COPIED] = "copied"};
    for (size_t i = 0; i < model->transfer_count; i++) {
        const struct answer_transfer *transfer = &model->transfers[i];
        add(rows, (struct answer_row){.kind = ANSWER_MOVED,
                                      .op = transfer->moved.op,
                                      .word = words[transfer->way],
                                      .bytes = transfer->moved.bytes,
                                      .per_elapsed_second = transfer->per_elapsed_second,
                                      .per_call_second = transfer->per_call_second});
    }
    if (profile->has_cache && (profile->cache.read_bytes > 0 || profile->cache.unjudged_bytes > 0))
        add(rows, (struct answer_row){.kind = ANSWER_CACHED, .profile = profile});
    if (layers_has_kernel_data(profile))
        add(rows, (struct answer_row){.kind = ANSWER_NONE_MOVED, .word = LAYERS_KERNEL_DATA});
    else if (model->transfer_count == 0 && model->knows_outcomes)
        add(rows, (struct answer_row){.kind = ANSWER_NONE_MOVED, .word = "none read or written"});
}

static void add_cost(const struct aggstats_profile *profile, struct answer_rows *rows) {
    const char *why_unknown = aggstats_profile_label(profile, "cost");
    if (profile->has_cost || why_unknown)
        add(rows, (struct answer_row){.kind = ANSWER_COST, .profile = profile, .word = why_unknown});
}

/* That nothing failed is not known where some calls are not told. */
static void add_failed(const struct aggstats_profile *profile, const struct answer_model *model,
                       struct answer_rows *rows) {
    wide_count others = model->failed_calls;
    for (size_t i = 0; i < model->failure_count; i++) {
        const struct answer_failure *failure = &model->failures[i];
        add(rows, (struct answer_row){.kind = ANSWER_FAILED,
                                      .op = failure->op,
                                      .word = failure->is_search ? NULL : aggstats_failure_name(failure->failure),
                                      .count = failure->calls});
        others -= failure->calls;
    }
    if (others > 0)
        add(rows, (struct answer_row){.kind = ANSWER_OTHERS_FAILED, .count = others});
    const bool are_all_told = strcmp(layers_name(profile), "syscall") != 0;
    if (model->failure_count == 0 && model->knows_outcomes && are_all_told)
        add(rows, (struct answer_row){.kind = ANSWER_NONE_FAILED, .count = model->asked_for});
}

/* ---- The whole ---------------------------------------------------------------------------------- */

void answer_rows_make(const struct aggstats_profile *profile, const struct answer_model *model,
                      const struct answer_source *source, bool wants_calibration, struct answer_rows *ret_rows) {
    struct answer_next next[ANSWER_NEXT_MAX];
    *ret_rows = (struct answer_rows){0};
    add_time(profile, model, source, ret_rows);
    add_in_flight(profile, model, ret_rows);
    add_holder(profile, model, ret_rows);
    add_callers(profile, ret_rows);
    add_peaks(profile, model, ret_rows);
    add_all_groups(profile, model, ret_rows);
    add_moved(profile, model, ret_rows);
    add_failed(profile, model, ret_rows);
    add_cost(profile, ret_rows);
    size_t count = answer_next_find(source, profile, model, wants_calibration, next);
    for (size_t i = 0; i < count; i++)
        add(ret_rows, (struct answer_row){.kind = ANSWER_NEXT, .next = next[i]});
}

/* ---- Leaving out -------------------------------------------------------------------------------- */

#define ANY_GROUPING AGGSTATS_UNGROUPED

/* What gives way if a page has too many lines, in this order: the rows of a kind after the first `keep`. What is in no
 * row of this table never gives way: the first sentence, and the oldest call in flight. */
static const struct {
    enum answer_kind kind;
    enum aggstats_grouping grouping;
    size_t keep;
} giving_way[] = {
    {ANSWER_NEXT, ANY_GROUPING, 2},
    {ANSWER_GROUP, AGGSTATS_BY_CGROUP, 0},
    {ANSWER_MOVED, ANY_GROUPING, 0},
    {ANSWER_NONE_MOVED, ANY_GROUPING, 0},
    {ANSWER_GROUP, AGGSTATS_BY_DIRECTORY, 0},
    {ANSWER_GROUP, AGGSTATS_BY_UID, 0},
    {ANSWER_NEXT, ANY_GROUPING, 1},
    {ANSWER_ADVICE, ANY_GROUPING, 2},
    {ANSWER_PEAK, ANY_GROUPING, ANSWER_PEAKS_MIN + 1},
    {ANSWER_PEAK, ANY_GROUPING, ANSWER_PEAKS_MIN},
    {ANSWER_GROUP, AGGSTATS_BY_PROCESS, 0},
    {ANSWER_COST, ANY_GROUPING, 0},
    {ANSWER_ADVICE, ANY_GROUPING, 1},
    {ANSWER_CACHED, ANY_GROUPING, 0},
    {ANSWER_FUSE, ANY_GROUPING, 0},
    {ANSWER_REST, ANY_GROUPING, 0},
    {ANSWER_ELSEWHERE, ANY_GROUPING, 0},
    {ANSWER_GROUP, AGGSTATS_BY_FILESYSTEM, 0},
    {ANSWER_NONE_FAILED, ANY_GROUPING, 0},
    {ANSWER_ATTACH, ANY_GROUPING, 0},
    {ANSWER_REMEDY, ANY_GROUPING, 0},
    {ANSWER_MISSED_BYTES, ANY_GROUPING, 0},
    {ANSWER_DISK_OTHERS, ANY_GROUPING, 0},
    {ANSWER_CALLERS, ANY_GROUPING, 0},
    {ANSWER_HOLDER, ANY_GROUPING, 0},
    {ANSWER_PEAK, ANY_GROUPING, 1},
    {ANSWER_GROUP, AGGSTATS_BY_PROGRAM, 0},
    {ANSWER_GROUP, AGGSTATS_BY_FILE, 0},
    {ANSWER_PEAK, ANY_GROUPING, 0},
    {ANSWER_ADVICE, ANY_GROUPING, 0},
    {ANSWER_HIDDEN_LOCKS, ANY_GROUPING, 0},
    {ANSWER_FAILED, ANY_GROUPING, 0},
    {ANSWER_NOT_TOLD, ANY_GROUPING, 0},
    {ANSWER_NOT_SEEN, ANY_GROUPING, 0},
    {ANSWER_NEXT, ANY_GROUPING, 0},
};

static void remove_row(struct answer_rows *rows, size_t index) {
    row_finish(&rows->rows[index]);
    rows->count--;
    memmove(&rows->rows[index], &rows->rows[index + 1], (rows->count - index) * sizeof(*rows->rows));
}

/* Removes the rows of a kind after the first ones. Returns false if there are none. */
static bool remove_after(struct answer_rows *rows, enum answer_kind kind, enum aggstats_grouping grouping,
                         size_t keep) {
    size_t count = 0;
    for (size_t i = 0; i < rows->count;) {
        const struct answer_row *row = &rows->rows[i];
        if (row->kind == kind && (grouping == ANY_GROUPING || row->grouping == grouping) && ++count > keep)
            remove_row(rows, i);
        else
            i++;
    }
    return count > keep;
}

bool answer_rows_leave_out(struct answer_rows *rows) {
    for (size_t i = 0; i < ARRAY_SIZE(giving_way); i++)
        if (remove_after(rows, giving_way[i].kind, giving_way[i].grouping, giving_way[i].keep))
            return true;
    return false;
}

void answer_rows_finish(struct answer_rows *rows) {
    for (size_t i = 0; i < rows->count; i++)
        row_finish(&rows->rows[i]);
    free(rows->rows);
    *rows = (struct answer_rows){0};
}
