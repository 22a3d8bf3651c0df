/* Turns, rounds, and the comparison. */
#include "run_vs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "calibration.h"
#include "command.h"
#include "comparison.h"
#include "run_child.h"
#include "run_looks.h"
#include "screen.h"
#include "verdict_page.h"

struct side {
    struct aggstats_profile *runs; /* [rounds that count][directory] */
    struct aggstats_profile *last; /* of the run just made: [directory] */
    int status;                    /* of the first run that failed, and was not the last for that */
};

struct versus {
    const struct run_vs *vs;
    const char *const *commands[VS_SIDES];
    int start_fd; /* the current directory, below the mounts */
    struct side sides[VS_SIDES];
    size_t rounds_count; /* that count */
    int stop_status;     /* 0: all rounds were made */
    unsigned next_look;  /* after so many rounds; 0: none, or each operation is decided */
};

/* ---- Profiles of a side ------------------------------------------------------------------------- */

static int side_init(struct side *ret_side, size_t count) {
    *ret_side = (struct side){.last = calloc(count, sizeof(*ret_side->last))};
    return ret_side->last ? 0 : -ENOMEM;
}

static void finish_profiles(struct aggstats_profile *profiles, size_t count) {
    for (size_t i = 0; profiles && i < count; i++)
        aggstats_profile_finish(&profiles[i]);
}

static void side_finish(struct side *side, size_t run_count, size_t directory_count) {
    finish_profiles(side->runs, run_count * directory_count);
    finish_profiles(side->last, directory_count);
    free(side->runs);
    free(side->last);
}

/* Errors: -ENOMEM; nothing is kept then, or the last run is */
static int keep_last(const struct versus *it, struct side *side) {
    const size_t count = it->vs->mounts->count;
    struct aggstats_profile *grown = reallocarray(side->runs, (it->rounds_count + 1) * count, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    side->runs = grown;
    memcpy(&grown[it->rounds_count * count], side->last, count * sizeof(*grown));
    memset(side->last, 0, count * sizeof(*grown));
    return 0;
}

/* The profile of a run. run: from 0 */
static struct aggstats_profile *run_of(const struct versus *it, size_t side, size_t run, size_t directory) {
    return &it->sides[side].runs[run * it->vs->mounts->count + directory];
}

static int take_profiles(const struct versus *it, struct side *side) {
    struct run_mounts *mounts = it->vs->mounts;
    for (size_t i = 0; i < mounts->count; i++) {
        struct input input = {0};
        int error = run_daemon_profile(&mounts->daemons[i], &mounts->options, &input);
        if (error)
            return error;
        side->last[i] = input.profile;
    }
    return 0;
}

/* ---- A turn ------------------------------------------------------------------------------------- */

/* A signal that came while nothing ran was meant for us.
 * Errors: told to the user; -EINTR: such a signal, *ret_signal */
static int run_mounted(const struct versus *it, const char *const *command, struct run_outcome *ret_outcome,
                       int *ret_signal) {
    const struct run_vs *vs = it->vs;
    int error = run_mounts_start(vs->mounts, vs->signals, ret_signal);
    if (error)
        return error;
    run_mounts_settle(vs->mounts);
    error = run_mounts_reset(vs->mounts);
    if (error)
        return error;
    *ret_signal = run_signals_take_ending(vs->signals);
    if (*ret_signal)
        return -EINTR;
    error = run_child(command, vs->space, vs->signals, vs->mounts, ret_outcome);
    if (error)
        complain("cannot start a process: %s", strerror(-error));
    else
        run_mounts_settle(vs->mounts);
    return error;
}

static int enter_start(const struct versus *it) {
    if (fchdir(it->start_fd) == 0)
        return 0;
    int error = negative_errno();
    complain("cannot return to the current directory: %s", strerror(-error));
    return error;
}

/* Mounts, runs, unmounts, and has the profiles. Errors: as above */
static int take_turn(const struct versus *it, struct side *side, const char *const *command,
                     struct run_outcome *ret_outcome, int *ret_signal) {
    struct run_mounts *mounts = it->vs->mounts;
    finish_profiles(side->last, mounts->count);
    int error = enter_start(it);
    if (error)
        return error;
    run_mounts_renew(mounts);
    error = run_mounted(it, command, ret_outcome, ret_signal);
    int signal = run_mounts_end(mounts, it->vs->signals);
    if (error)
        return error;
    error = take_profiles(it, side);
    if (error == 0 && signal && !ret_outcome->is_killed)
        *ret_signal = signal;
    return error;
}

/* ---- Rounds ------------------------------------------------------------------------------------- */

static const char *name_of(size_t side) {
    return side == VS_A ? "A (--vs)" : "B";
}

/* What a shell says that has not found, or could not execute, the command it was given. */
static bool is_missing(size_t side, int status) {
    return side == VS_A && (status == RUN_NOT_FOUND || status == RUN_CANNOT_EXECUTE);
}

/* Whether the runs end here; if so, why has been told. */
static bool must_stop(const struct run_outcome *outcome, size_t side) {
    int signal = outcome->status - RUN_SIGNALLED;
    if (!outcome->is_started)
        return true;
    if (outcome->is_killed)
        complain("%s was killed by signal %d (%s): no more runs", name_of(side), signal, strsignal(signal));
    else if (is_missing(side, outcome->status))
        complain("%s ended with status %d, which says that its command %s", name_of(side), outcome->status,
                 outcome->status == RUN_NOT_FOUND ? "was not found" : "cannot be executed");
    return outcome->is_killed || is_missing(side, outcome->status);
}

static size_t first_side(const struct versus *it) {
    unsigned char thrown = 0;
    if (it->vs->repeat_count == 1 || getrandom(&thrown, sizeof(thrown), 0) != sizeof(thrown))
        return VS_A;
    return thrown % VS_SIDES;
}

/* Of one round, which is all that there is, a run that was killed counts too. */
static bool counts(const struct versus *it, const struct run_outcome *outcome) {
    return outcome->is_started && (!outcome->is_killed || it->vs->repeat_count == 1);
}

/* Returns 0: all went well; -ECANCELED: the runs end here, before the round is complete; other errors: told */
static int make_round(struct versus *it) {
    const size_t first = first_side(it);
    for (size_t i = 0; i < VS_SIDES; i++) {
        const size_t which = (first + i) % VS_SIDES;
        struct side *side = &it->sides[which];
        struct run_outcome outcome = {.is_started = true};
        int signal = 0;
        int error = take_turn(it, side, it->commands[which], &outcome, &signal);
        if (error && error != -EINTR)
            return error;
        if (signal) {
            complain("signal %d (%s): no more runs", signal, strsignal(signal));
            it->stop_status = RUN_SIGNALLED + signal;
        } else if (must_stop(&outcome, which)) {
            it->stop_status = outcome.status;
        }
        if (side->status == 0 && !it->stop_status)
            side->status = outcome.status;
        bool is_whole = error == 0 && i == VS_SIDES - 1 && counts(it, &outcome);
        if (it->stop_status && !is_whole)
            return -ECANCELED;
    }
    return 0;
}

static int describe_last(const struct versus *it, size_t side) {
    const char *other[] = {it->vs->other, NULL};
    for (size_t i = 0; i < it->vs->mounts->count; i++) {
        int error = run_report_describe(&it->sides[side].last[i], side == VS_A ? other : it->vs->command, 1);
        if (error)
            return error;
    }
    return 0;
}

/* A round is saved as soon as it is over: what was measured is not lost if a later one goes wrong. */
static int save_last(const struct versus *it, size_t side) {
    int first_error = 0;
    for (size_t i = 0; it->vs->sets->given && i < it->vs->mounts->count; i++) {
        int error = run_sets_save(it->vs->sets, i, side, it->rounds_count + 1, &it->sides[side].last[i]);
        first_error = first_error ? first_error : error;
    }
    return first_error;
}

static int count_round(struct versus *it) {
    int save_error = 0;
    for (size_t side = 0; side < VS_SIDES; side++) {
        int error = describe_last(it, side);
        if (!error) {
            int not_saved = save_last(it, side);
            save_error = save_error ? save_error : not_saved;
            error = keep_last(it, &it->sides[side]);
        }
        if (error) {
            complain("cannot keep the profiles of a run: %s", strerror(-error));
            return error;
        }
    }
    it->rounds_count++;
    return save_error;
}

/* ---- Looks -------------------------------------------------------------------------------------- */

static bool is_auto(const struct run_vs *vs) {
    return vs->repeat_count == 0;
}

/* Owner: the caller finishes *ret_result. Errors: -errno */
static int judge_sets(const struct versus *it, size_t directory, struct verdict_result *ret_result) {
    const struct verdict_options options = {
        .at_least = VERDICT_AT_LEAST,
        .alpha = VERDICT_ALPHA / (is_auto(it->vs) ? run_looks_count(it->vs->most_count) : 1),
    };
    const size_t count = VS_SIDES * it->rounds_count;
    CLEANUP_FREE struct aggstats_profile *profiles = calloc(count, sizeof(*profiles));
    if (!profiles)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        profiles[i] = *run_of(it, i / it->rounds_count, i % it->rounds_count, directory);
    int error = verdict_compare(profiles, it->rounds_count, count, &options, ret_result);
    for (size_t i = 0; i < count; i++) /* they may have been brought to one clock rate */
        *run_of(it, i / it->rounds_count, i % it->rounds_count, directory) = profiles[i];
    return error;
}

/* Returns the error. */
static int complain_not_compared(const struct versus *it, size_t directory, int error) {
    complain("cannot compare the profiles of %s: %s", it->vs->mounts->daemons[directory].name, strerror(-error));
    return error;
}

struct undecided {
    size_t ops;
    size_t of_ops;
    bool has_common; /* whether everything has changed together */
};

static void tell_undecided(const struct versus *it, const struct undecided *undecided) {
    if (undecided->ops > 0)
        complain("after %zu rounds %zu of %zu operations are not decided", it->rounds_count, undecided->ops,
                 undecided->of_ops);
    else if (undecided->has_common)
        complain("after %zu rounds it is not decided whether everything has changed together", it->rounds_count);
    else
        complain("after %zu rounds all operations are decided", it->rounds_count);
}

/* Compares all runs so far. Errors: told to the user */
static int take_look(struct versus *it) {
    struct undecided undecided = {0};
    for (size_t i = 0; i < it->vs->mounts->count; i++) {
        struct verdict_result result;
        int error = judge_sets(it, i, &result);
        if (error)
            return complain_not_compared(it, i, error);
        undecided.ops += result.word_counts[VERDICT_UNDECIDED];
        undecided.of_ops += result.op_count;
        undecided.has_common |= result.has_common && result.common_word == VERDICT_UNDECIDED;
        verdict_finish(&result);
    }
    tell_undecided(it, &undecided);
    bool is_decided = undecided.ops == 0 && !undecided.has_common;
    it->next_look = is_decided ? 0 : run_looks_next((unsigned)it->rounds_count, it->vs->most_count);
    return 0;
}

static int look_if_due(struct versus *it) {
    return is_auto(it->vs) && it->rounds_count == it->next_look ? take_look(it) : 0;
}

static time_t now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* With --repeat auto, why no more rounds are made is told. */
static bool are_done(const struct versus *it, time_t start_s) {
    const struct run_vs *vs = it->vs;
    if (!is_auto(vs))
        return it->rounds_count == vs->repeat_count;
    if (it->next_look == 0)
        return true;
    if (it->rounds_count == vs->most_count)
        complain("no more rounds than %u (--max-repeat)", vs->most_count);
    else if (vs->most_seconds > 0 && now_s() - start_s >= (time_t)vs->most_seconds)
        complain("no more rounds than %zu: the time is up (--max-time)", it->rounds_count);
    else
        return false;
    return true;
}

/* Errors: told to the user */
static int warm_up(struct versus *it) {
    int error = 0;
    for (unsigned i = 0; i < it->vs->warmup_count && !error && !it->stop_status; i++)
        error = make_round(it);
    return error;
}

static int make_rounds(struct versus *it) {
    const time_t start_s = now_s();
    int error = warm_up(it);
    while (!error && !it->stop_status && !are_done(it, start_s)) {
        error = make_round(it);
        if (!error)
            error = count_round(it);
        if (!error)
            error = look_if_due(it);
    }
    return error == -ECANCELED ? 0 : error;
}

/* ---- The comparison ----------------------------------------------------------------------------- */

/* Prints a comparison, or else a verdict. */
static int print_page(const struct versus *it, size_t directory, const struct comparison *comparison,
                      const struct verdict_page *verdict) {
    const struct run_mounts *mounts = it->vs->mounts;
    FILE *stream;
    int error = run_report_open(&stream);
    if (error)
        return error;
    const struct screen screen = screen_of(stream, 0, false);
    if (mounts->count > 1) {
        screen_print_key(&screen, "directory");
        screen_print_untrusted(&screen, INK_PLAIN, mounts->daemons[directory].name);
        putc('\n', stream);
    }
    if (comparison)
        comparison_print(comparison, &screen);
    else
        verdict_page_print(verdict, &screen);
    return fclose(stream) == 0 ? 0 : negative_errno();
}

/* One run of each. */
static int compare_pair(const struct versus *it, size_t directory) {
    const struct aggstats_profile *a = run_of(it, VS_A, 0, directory);
    const struct aggstats_profile *b = run_of(it, VS_B, 0, directory);
    const struct compare_options options = compare_defaults(DISTANCE_METHOD_DEFAULT);
    struct compare_result result = {0};
    int error = compare_profiles(a, b, &options, &result);
    if (error)
        return error;
    struct calibration a_times;
    struct calibration b_times;
    calibration_for_pair(a, b, &a_times, &b_times);
    const struct comparison comparison = {
        .result = &result,
        .a_name = aggstats_profile_label(a, "command"),
        .b_name = aggstats_profile_label(b, "command"),
        .a_times = &a_times,
        .b_times = &b_times,
    };
    error = print_page(it, directory, &comparison, NULL);
    calibration_finish(&a_times);
    calibration_finish(&b_times);
    compare_finish(&result);
    return error;
}

static int print_sets(const struct versus *it, size_t directory, const struct verdict_result *result) {
    const struct verdict_page page = {
        .result = result,
        .a_name = aggstats_profile_label(run_of(it, VS_A, 0, directory), "command"),
        .b_name = aggstats_profile_label(run_of(it, VS_B, 0, directory), "command"),
        .is_job = true,
    };
    return print_page(it, directory, NULL, &page);
}

static int compare_sets(const struct versus *it, size_t directory) {
    struct verdict_result result;
    int error = judge_sets(it, directory, &result);
    if (error)
        return error;
    error = print_sets(it, directory, &result);
    verdict_finish(&result);
    return error;
}

/* ---- Reporting ---------------------------------------------------------------------------------- */

static int save_pair(const struct versus *it, size_t directory) {
    int first_error = 0;
    for (size_t side = 0; it->vs->target->given && side < VS_SIDES; side++) {
        int error = run_target_save(it->vs->target, directory, side, run_of(it, side, 0, directory));
        first_error = first_error ? first_error : error;
    }
    return first_error;
}

/* What is said of one directory does not depend on the others. */
static int report_directory(const struct versus *it, size_t directory) {
    int save_error = save_pair(it, directory);
    int error = it->rounds_count == 1 ? compare_pair(it, directory) : compare_sets(it, directory);
    if (error)
        complain_not_compared(it, directory, error);
    return save_error ? save_error : error;
}

static int report(const struct versus *it) {
    int first_error = 0;
    if (it->sides[VS_A].status)
        complain("%s ended with status %d%s", name_of(VS_A), it->sides[VS_A].status,
                 it->vs->warmup_count + it->rounds_count > 1 ? ", in one run at least" : "");
    for (size_t i = 0; i < it->vs->mounts->count; i++) {
        int error = report_directory(it, i);
        first_error = first_error ? first_error : error;
    }
    return first_error;
}

static int run_and_report(struct versus *it) {
    int error = make_rounds(it);
    int report_error = it->rounds_count > 0 ? report(it) : 0;
    if (error || report_error)
        return RUN_FAILED;
    if (it->rounds_count == 0)
        complain("nothing is compared: the two commands have not both been run");
    return it->sides[VS_B].status ? it->sides[VS_B].status : it->stop_status;
}

int run_vs(const struct run_vs *vs) {
    const char *shell[] = {"/bin/sh", "-c", vs->other, NULL};
    struct versus it = {.vs = vs, .commands = {[VS_A] = shell, [VS_B] = vs->command}};
    CLEANUP_FD int start_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (start_fd < 0) {
        complain("cannot open the current directory: %s", strerror(errno));
        return RUN_FAILED;
    }
    it.start_fd = start_fd;
    it.next_look = is_auto(vs) ? run_looks_next(0, vs->most_count) : 0;
    int error = 0;
    for (size_t i = 0; i < VS_SIDES; i++)
        error = side_init(&it.sides[i], vs->mounts->count) < 0 ? -ENOMEM : error;
    if (error)
        complain("no memory");
    int status = error ? (int)RUN_FAILED : run_and_report(&it);
    for (size_t i = 0; i < VS_SIDES; i++)
        side_finish(&it.sides[i], it.rounds_count, vs->mounts->count);
    return status;
}
