/* Turns, rounds, and the comparison. */
#include "run_vs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "calibration.h"
#include "command.h"
#include "comparison.h"
#include "run_child.h"
#include "screen.h"

struct side {
    struct aggstats_profile *sums; /* for each directory, of the rounds that count */
    struct aggstats_profile *last; /* of the run just made */
    int status;                    /* of the first run that failed, and was not the last for that */
};

struct versus {
    const struct run_vs *vs;
    const char *const *commands[VS_SIDES];
    int start_fd; /* the current directory, below the mounts */
    struct side sides[VS_SIDES];
    unsigned rounds_count; /* that count */
    int stop_status;       /* 0: all rounds were made */
};

/* ---- Profiles of a side ------------------------------------------------------------------------- */

static int side_init(struct side *ret_side, size_t count) {
    *ret_side = (struct side){
        .sums = calloc(count, sizeof(*ret_side->sums)),
        .last = calloc(count, sizeof(*ret_side->last)),
    };
    return ret_side->sums && ret_side->last ? 0 : -ENOMEM;
}

static void forget_last(struct side *side, size_t count) {
    for (size_t i = 0; i < count; i++)
        aggstats_profile_finish(&side->last[i]);
}

static void side_finish(struct side *side, size_t count) {
    for (size_t i = 0; side->sums && i < count; i++)
        aggstats_profile_finish(&side->sums[i]);
    if (side->last)
        forget_last(side, count);
    free(side->sums);
    free(side->last);
}

static int add_last(const struct versus *it, struct side *side) {
    for (size_t i = 0; i < it->vs->mounts->count; i++) {
        int error = aggstats_profile_add(&side->sums[i], &side->last[i]);
        if (error) {
            complain("cannot add up the profiles of %s: %s", it->vs->mounts->daemons[i].name, strerror(-error));
            return error;
        }
    }
    return 0;
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
    forget_last(side, mounts->count);
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

/* Returns 0: all went well; -ECANCELED: the runs end here, before the round is complete; other errors: told */
static int make_round(struct versus *it) {
    for (size_t i = 0; i < VS_SIDES; i++) {
        struct side *side = &it->sides[i];
        struct run_outcome outcome = {.is_started = true};
        int signal = 0;
        int error = take_turn(it, side, it->commands[i], &outcome, &signal);
        if (error && error != -EINTR)
            return error;
        if (signal) {
            complain("signal %d (%s): no more runs", signal, strsignal(signal));
            it->stop_status = RUN_SIGNALLED + signal;
        } else if (must_stop(&outcome, i)) {
            it->stop_status = outcome.status;
        }
        if (side->status == 0 && !it->stop_status)
            side->status = outcome.status;
        bool is_whole = error == 0 && i == VS_B && outcome.is_started;
        if (it->stop_status && !is_whole)
            return -ECANCELED;
    }
    return 0;
}

/* After an error the sums are no longer those of whole rounds. */
static int count_round(struct versus *it) {
    int error = add_last(it, &it->sides[VS_A]);
    if (error == 0)
        error = add_last(it, &it->sides[VS_B]);
    it->rounds_count = error ? 0 : it->rounds_count + 1;
    return error;
}

static int make_rounds(struct versus *it) {
    for (unsigned i = 0; i < it->vs->warmup_count + it->vs->repeat_count && !it->stop_status; i++) {
        int error = make_round(it);
        if (error == 0 && i >= it->vs->warmup_count)
            error = count_round(it);
        if (error)
            return error == -ECANCELED ? 0 : error;
    }
    return 0;
}

/* ---- The comparison ----------------------------------------------------------------------------- */

static int print_comparison(const struct versus *it, size_t directory, const struct comparison *comparison) {
    const struct run_mounts *mounts = it->vs->mounts;
    CLEANUP_FD int fd = dup(STDERR_FILENO);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w"); /* buffered, as standard error is not */
    if (!stream)
        return negative_errno();
    steal_fd(&fd);
    struct screen screen = screen_of(stream, 0, false);
    putc('\n', stream);
    if (mounts->count > 1) {
        screen_print(&screen, INK_FAINT, "directory");
        putc(' ', stream);
        screen_print_untrusted(&screen, INK_PLAIN, mounts->daemons[directory].name);
        putc('\n', stream);
    }
    comparison_print(comparison, &screen);
    return fclose(stream) == 0 ? 0 : negative_errno();
}

static int compare_directory(const struct versus *it, size_t directory) {
    const struct aggstats_profile *a = &it->sides[VS_A].sums[directory];
    const struct aggstats_profile *b = &it->sides[VS_B].sums[directory];
    const struct compare_options options = compare_defaults(DISTANCE_METHOD_DEFAULT);
    struct compare_result result = {0};
    int error = compare_profiles(a, b, &options, &result);
    if (error) {
        complain("cannot compare the profiles of %s: %s", it->vs->mounts->daemons[directory].name, strerror(-error));
        return error;
    }
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
    error = print_comparison(it, directory, &comparison);
    calibration_finish(&a_times);
    calibration_finish(&b_times);
    compare_finish(&result);
    return error;
}

/* ---- Reporting ---------------------------------------------------------------------------------- */

static int save_directory(const struct versus *it, size_t directory) {
    int first_error = 0;
    for (size_t side = 0; side < VS_SIDES; side++) {
        int error = run_target_save(it->vs->target, directory, side, &it->sides[side].sums[directory]);
        first_error = first_error ? first_error : error;
    }
    return first_error;
}

static int describe_directory(const struct versus *it, size_t directory) {
    const char *other[] = {it->vs->other, NULL};
    int error = run_report_describe(&it->sides[VS_A].sums[directory], other, it->rounds_count);
    if (error == 0)
        error = run_report_describe(&it->sides[VS_B].sums[directory], it->vs->command, it->rounds_count);
    if (error)
        complain("cannot show the profiles of %s: %s", it->vs->mounts->daemons[directory].name, strerror(-error));
    return error;
}

/* What is said of one directory does not depend on the others. */
static int report_directory(const struct versus *it, size_t directory) {
    int error = describe_directory(it, directory);
    if (error)
        return error;
    int save_error = it->vs->target->given ? save_directory(it, directory) : 0;
    error = compare_directory(it, directory);
    return save_error ? save_error : error;
}

static int report(const struct versus *it) {
    int first_error = 0;
    if (it->sides[VS_A].status)
        complain("%s ended with status %d%s", name_of(VS_A), it->sides[VS_A].status,
                 it->vs->warmup_count + it->vs->repeat_count > 1 ? ", in one run at least" : "");
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
    int error = 0;
    for (size_t i = 0; i < VS_SIDES; i++)
        error = side_init(&it.sides[i], vs->mounts->count) < 0 ? -ENOMEM : error;
    if (error)
        complain("no memory");
    int status = error ? (int)RUN_FAILED : run_and_report(&it);
    for (size_t i = 0; i < VS_SIDES; i++)
        side_finish(&it.sides[i], vs->mounts->count);
    return status;
}
