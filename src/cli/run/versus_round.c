/* Mounting, running one command and then the other, and keeping their profiles. */
#include "versus.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base.h"
#include "command.h"
#include "run_child.h"

/* ---- Profiles of a side ------------------------------------------------------------------------- */

static int side_init(struct versus_side *ret_side, size_t count) {
    *ret_side = (struct versus_side){.last = calloc(count, sizeof(*ret_side->last))};
    return ret_side->last ? 0 : -ENOMEM;
}

static void finish_profiles(struct aggstats_profile *profiles, size_t count) {
    for (size_t i = 0; profiles && i < count; i++)
        aggstats_profile_finish(&profiles[i]);
}

static void side_finish(struct versus_side *side, size_t run_count, size_t directory_count) {
    finish_profiles(side->runs, run_count * directory_count);
    finish_profiles(side->last, directory_count);
    free(side->runs);
    free(side->last);
}

int versus_init(struct versus *it) {
    int error = 0;
    for (size_t i = 0; i < VS_SIDES; i++)
        error = side_init(&it->sides[i], versus_count(it)) < 0 ? -ENOMEM : error;
    return error;
}

void versus_finish(struct versus *it) {
    for (size_t i = 0; i < VS_SIDES; i++)
        side_finish(&it->sides[i], it->rounds_count, versus_count(it));
}

/* Errors: -ENOMEM; the last run is kept completely or not at all */
static int keep_last(const struct versus *it, struct versus_side *side) {
    const size_t count = versus_count(it);
    struct aggstats_profile *grown = reallocarray(side->runs, (it->rounds_count + 1) * count, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    side->runs = grown;
    memcpy(&grown[it->rounds_count * count], side->last, count * sizeof(*grown));
    memset(side->last, 0, count * sizeof(*grown));
    return 0;
}

/* Errors: reported to the user */
static int take_user(const struct versus *it, struct versus_side *side) {
    struct recording layers = {.layers = NULL};
    int error = run_user_stop(it->vs->user, false, &layers);
    if (error == 0 && layers.count == 0)
        error = -ENODATA; /* there is no live file, as reported before */
    if (error == 0)
        side->last[0] = layers.layers[--layers.count];
    recording_finish(&layers);
    return error;
}

/* Errors: reported to the user */
static int take_profiles(const struct versus *it, struct versus_side *side) {
    struct run_mounts *mounts = it->vs->mounts;
    if (mounts->count == 0)
        return take_user(it, side);
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
 * Errors:  reported to the user; -EINTR: such a signal, *ret_signal */
static int run_mounted(const struct versus *it, const char *const *command, struct run_outcome *ret_outcome,
                       int *ret_signal) {
    const struct run_vs *vs = it->vs;
    int error = run_mounts_start(vs->mounts, vs->signals, ret_signal);
    if (error)
        return error;
    run_mounts_settle(vs->mounts);
    error = run_mounts_reset(vs->mounts);
    if (error == 0)
        error = run_user_reset(vs->user);
    if (error)
        return error;
    *ret_signal = signals_take_ending(vs->signals);
    if (*ret_signal)
        return -EINTR;
    error = run_child(command, vs->space, vs->as, vs->signals, vs->mounts, vs->user, NULL, ret_outcome);
    if (error)
        complain("cannot start a process: %s", strerror(-error));
    else
        run_mounts_stop(vs->mounts);
    return error;
}

static int enter_start(const struct versus *it) {
    if (fchdir(it->start_fd) == 0)
        return 0;
    int error = negative_errno();
    complain("cannot return to the current directory: %s", strerror(-error));
    return error;
}

/* Mounts, runs, unmounts, and takes the profiles. Errors: as above */
static int take_turn(const struct versus *it, struct versus_side *side, const char *const *command,
                     struct run_outcome *ret_outcome, int *ret_signal) {
    struct run_mounts *mounts = it->vs->mounts;
    finish_profiles(side->last, versus_count(it));
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

/* True for the statuses by which a shell says that it has not found, or could not execute, the command. */
static bool is_missing(size_t side, int status) {
    return side == VS_A && (status == RUN_NOT_FOUND || status == RUN_CANNOT_EXECUTE);
}

/* True if the runs end here; the reason has been reported then. */
static bool must_stop(const struct run_outcome *outcome, size_t side) {
    int signal = outcome->status - RUN_SIGNALLED;
    if (!outcome->is_started)
        return true;
    if (outcome->is_killed)
        complain("%s was killed by signal %d (%s): no more runs", versus_side_name(side), signal, strsignal(signal));
    else if (is_missing(side, outcome->status))
        complain("%s ended with status %d, which says that its command %s", versus_side_name(side), outcome->status,
                 outcome->status == RUN_NOT_FOUND ? "was not found" : "cannot be executed");
    return outcome->is_killed || is_missing(side, outcome->status);
}

static size_t first_side(const struct versus *it) {
    unsigned char thrown = 0;
    if (it->vs->repeat_count == 1 || getrandom(&thrown, sizeof(thrown), 0) != sizeof(thrown))
        return VS_A;
    return thrown % VS_SIDES;
}

/* In a single round, a run that was killed counts too. */
static bool counts(const struct versus *it, const struct run_outcome *outcome) {
    return outcome->is_started && (!outcome->is_killed || it->vs->repeat_count == 1);
}

int versus_make_round(struct versus *it) {
    const size_t first = first_side(it);
    for (size_t i = 0; i < VS_SIDES; i++) {
        const size_t which = (first + i) % VS_SIDES;
        struct versus_side *side = &it->sides[which];
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
    for (size_t i = 0; i < versus_count(it); i++) {
        int error = run_report_describe(&it->sides[side].last[i], side == VS_A ? other : it->vs->command, 1);
        if (error)
            return error;
    }
    return 0;
}

/* A round is saved as soon as it is over, so that it is not lost if a later one fails. */
static int save_last(const struct versus *it, size_t side) {
    int first_error = 0;
    for (size_t i = 0; it->vs->sets->given && i < versus_count(it); i++) {
        int error = run_sets_save(it->vs->sets, i, side, it->rounds_count + 1, &it->sides[side].last[i]);
        first_error = first_error ? first_error : error;
    }
    return first_error;
}

int versus_count_round(struct versus *it) {
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
