/* Rounds of two commands, interim comparisons (looks), and the report.
 *
 * Each run has mounts of its own, with empty caches: if both were mounted at once, one would go on showing names and
 * attributes that the other has just changed. The profiles of several runs are compared as two sets.
 *
 * With --repeat auto the runs are compared after 3, 5, 8, 12 rounds and so on, each time half as many more. Each look may
 * find a false change, so the probability of any is divided among the possible looks (Bonferroni). */
#include "versus.h"

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
#include "screen.h"
#include "verdict_page.h"

struct versus_side {
    struct aggstats_profile *runs; /* [rounds that count][count_of()] */
    struct aggstats_profile *last; /* of the latest run: [count_of()] */
    struct aggstats_exit exit;     /* of that run */
    int status;                    /* of the first run that failed, unless that ended the runs */
};

struct versus {
    const struct run_vs *vs;
    const char *const *commands[VS_SIDES];
    int start_fd; /* the current directory, below the mounts */
    struct versus_side sides[VS_SIDES];
    size_t rounds_count; /* those that count */
    int stop_status;     /* 0: all rounds were made */
    bool is_so;          /* a comparison found what the exit status is asked for */
    unsigned next_look;  /* after this many rounds; 0: none, or each operation is decided */
};

/* --repeat auto */
static bool is_auto(const struct versus *it) {
    return it->vs->options->repeat_count == 0;
}

static const char *side_name(size_t side) {
    return side == VS_A ? "A (--vs)" : "B";
}

/* How many profiles a run has: one of each mounted directory, or one of the layer user. */
static size_t count_of(const struct versus *it) {
    const size_t count = it->vs->place.mounts->count;
    return count > 0 ? count : 1;
}

/* The profile of a run. run: from 0 */
static struct aggstats_profile *profile_of(const struct versus *it, size_t side, size_t run, size_t directory) {
    return &it->sides[side].runs[run * count_of(it) + directory];
}

static void finish_profiles(struct aggstats_profile *profiles, size_t count) {
    for (size_t i = 0; profiles && i < count; i++)
        aggstats_profile_finish(&profiles[i]);
}

/* ---- A turn: a command once, in mounts of its own ----------------------------------------------- */

/* Errors: reported to the user */
static int take_profiles(const struct versus *it, struct versus_side *side) {
    struct run_mounts *mounts = it->vs->place.mounts;
    struct recording layers = {.layers = NULL};
    int error = 0;
    if (mounts->count == 0) {
        error = run_user_stop(it->vs->place.user, false, &layers);
        if (error == 0 && layers.count == 0)
            error = -ENODATA; /* there is no live file, as reported before */
        if (error == 0)
            side->last[0] = layers.layers[--layers.count];
        recording_finish(&layers);
    }
    for (size_t i = 0; i < mounts->count && error == 0; i++) {
        struct input input = {0};
        error = run_daemon_profile(&mounts->daemons[i], &mounts->options, &input);
        if (error == 0)
            side->last[i] = input.profile;
    }
    return error;
}

/* A signal that came while nothing ran was meant for us.
 * Errors:  reported to the user; -EINTR: such a signal, *ret_signal */
static int run_mounted(const struct run_place *place, const char *const *command, struct run_outcome *ret_outcome,
                       int *ret_signal) {
    int error = run_mounts_start(place->mounts, place->signals, ret_signal);
    if (error)
        return error;
    run_mounts_settle(place->mounts);
    error = run_mounts_reset(place->mounts);
    if (error == 0)
        error = run_user_reset(place->user);
    if (error)
        return error;
    *ret_signal = signals_take_ending(place->signals);
    if (*ret_signal)
        return -EINTR;
    error = run_child(command, place, ret_outcome);
    if (error == 0)
        run_mounts_stop(place->mounts);
    return error;
}

/* Mounts, runs, unmounts, and takes the profiles. Errors: as above */
static int take_turn(struct versus *it, size_t which, struct run_outcome *ret_outcome, int *ret_signal) {
    const struct run_place *place = &it->vs->place;
    finish_profiles(it->sides[which].last, count_of(it));
    if (fchdir(it->start_fd) < 0) {
        int error = negative_errno();
        complain("cannot return to the current directory: %s", strerror(-error));
        return error;
    }
    run_mounts_renew(place->mounts);
    int error = run_mounted(place, it->commands[which], ret_outcome, ret_signal);
    int signal = run_mounts_end(place->mounts, place->signals);
    if (error)
        return error;
    error = take_profiles(it, &it->sides[which]);
    if (error == 0 && signal && !ret_outcome->is_killed)
        *ret_signal = signal;
    return error;
}

/* ---- Rounds ------------------------------------------------------------------------------------- */

/* True if the runs end here; the reason has been reported then. The command of A is run by a shell, which says by its
 * status that it has not found, or could not execute, the command. */
static bool must_stop(const struct run_outcome *outcome, size_t side) {
    const int status = outcome->status;
    const int signal = status - RUN_SIGNALLED;
    const bool is_missing = side == VS_A && (status == RUN_NOT_FOUND || status == RUN_CANNOT_EXECUTE);
    if (!outcome->is_started)
        return true;
    if (outcome->is_killed)
        complain("%s was killed by signal %d (%s): no more runs", side_name(side), signal, strsignal(signal));
    else if (is_missing)
        complain("%s ended with status %d, which says that its command %s", side_name(side), status,
                 status == RUN_NOT_FOUND ? "was not found" : "cannot be executed");
    return outcome->is_killed || is_missing;
}

/* Runs each command once. With several rounds, chance decides which command is first. *it has the profiles then, but does
 * not count them. In a single round, a run that was killed counts too.
 * Returns 0: success; -ECANCELED: the runs end here, before the round is complete; other errors: reported */
static int make_round(struct versus *it) {
    const bool is_single = it->vs->options->repeat_count == 1;
    unsigned char thrown = 0;
    if (!is_single && getrandom(&thrown, sizeof(thrown), 0) != sizeof(thrown))
        thrown = VS_A;
    for (size_t i = 0; i < VS_SIDES; i++) {
        const size_t which = (thrown + i) % VS_SIDES;
        struct versus_side *side = &it->sides[which];
        struct run_outcome outcome = {.is_started = true};
        int signal = 0;
        int error = take_turn(it, which, &outcome, &signal);
        if (error && error != -EINTR)
            return error;
        if (signal) {
            complain("signal %d (%s): no more runs", signal, strsignal(signal));
            it->stop_status = RUN_SIGNALLED + signal;
        } else if (must_stop(&outcome, which)) {
            it->stop_status = outcome.status;
        }
        side->exit = (struct aggstats_exit){0};
        run_outcome_add_exit(&outcome, &side->exit);
        if (side->status == 0 && !it->stop_status)
            side->status = outcome.status;
        const bool counts = outcome.is_started && (!outcome.is_killed || is_single);
        const bool is_whole = error == 0 && i == VS_SIDES - 1 && counts;
        if (it->stop_status && !is_whole)
            return -ECANCELED;
    }
    return 0;
}

/* Describes the profiles of the latest round, saves them at once, so that they are not lost if a later round fails, and
 * keeps the profiles of a run completely or not at all.
 * Errors:  reported */
static int count_round(struct versus *it) {
    const char *other[] = {it->vs->options->other, NULL};
    const size_t count = count_of(it);
    int save_error = 0;
    for (size_t which = 0; which < VS_SIDES; which++) {
        struct versus_side *side = &it->sides[which];
        int error = 0;
        for (size_t i = 0; i < count && !error; i++)
            error =
                run_report_describe(&side->last[i], which == VS_A ? other : it->vs->options->command, 1, &side->exit);
        for (size_t i = 0; it->vs->sets->given && i < count && !error; i++) {
            const int set_error = run_sets_save(it->vs->sets, i, which, it->rounds_count + 1, &side->last[i]);
            save_error = save_error ? save_error : set_error;
        }
        struct aggstats_profile *grown =
            error ? NULL : reallocarray(side->runs, (it->rounds_count + 1) * count, sizeof(*grown));
        if (!grown) { /* there is no other error than -ENOMEM */
            complain("cannot keep the profiles of a run: %s", strerror(ENOMEM));
            return -ENOMEM;
        }
        side->runs = grown;
        memcpy(&grown[it->rounds_count * count], side->last, count * sizeof(*grown));
        memset(side->last, 0, count * sizeof(*grown));
    }
    it->rounds_count++;
    return save_error;
}

/* ---- Looks -------------------------------------------------------------------------------------- */

/* The next look after `rounds`, of which at most `most` are made. */
static unsigned next_look(unsigned rounds, unsigned most) {
    unsigned next = RUN_LOOKS_FIRST;
    while (next <= rounds)
        next = (3 * next + 1) / 2;
    return next + next / 4 < most ? next : most; /* with few more runs the last look would decide little */
}

/* Compares all runs of a directory.
 * Owner:   the caller finishes *ret_result
 * Errors:  -errno */
static int judge(const struct versus *it, size_t directory, struct verdict_result *ret_result) {
    unsigned looks_count = 0;
    for (unsigned rounds = 0; is_auto(it) && rounds < it->vs->options->most_count; looks_count++)
        rounds = next_look(rounds, it->vs->options->most_count);
    const struct verdict_options options = {
        .at_least = VERDICT_AT_LEAST,
        .alpha = VERDICT_ALPHA / (is_auto(it) ? looks_count : 1),
    };
    const size_t count = VS_SIDES * it->rounds_count;
    CLEANUP_FREE struct aggstats_profile *profiles = calloc(count, sizeof(*profiles));
    if (!profiles)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        profiles[i] = *profile_of(it, i / it->rounds_count, i % it->rounds_count, directory);
    int error = verdict_compare(profiles, it->rounds_count, count, &options, ret_result);
    for (size_t i = 0; i < count; i++) /* verdict_compare() may have changed clock rates */
        *profile_of(it, i / it->rounds_count, i % it->rounds_count, directory) = profiles[i];
    return error;
}

/* Reports that a directory's profiles cannot be compared. Returns the error. */
static int complain_uncompared(const struct versus *it, size_t directory, int error) {
    const struct run_mounts *mounts = it->vs->place.mounts;
    complain("cannot compare the profiles of %s: %s",
             mounts->count > 0 ? mounts->daemons[directory].name : "the layer user",
             error == -EOVERFLOW ? "the sum of a side does not fit 64 bits" : strerror(-error));
    return error;
}

/* Compares all runs so far. Errors: reported to the user */
static int take_look(struct versus *it) {
    size_t undecided = 0;
    size_t of_ops = 0;
    bool has_common = false; /* whether everything has changed together is undecided */
    for (size_t i = 0; i < count_of(it); i++) {
        struct verdict_result result;
        int error = judge(it, i, &result);
        if (error)
            return complain_uncompared(it, i, error);
        undecided += result.word_counts[VERDICT_UNDECIDED];
        of_ops += result.op_count;
        has_common |= result.common.is_there && result.common.word == VERDICT_UNDECIDED;
        verdict_finish(&result);
    }
    if (undecided > 0)
        complain("after %zu rounds %zu of %zu operations are inconclusive", it->rounds_count, undecided, of_ops);
    else if (has_common)
        complain("after %zu rounds it is inconclusive whether everything has changed together", it->rounds_count);
    else
        complain("after %zu rounds no operation is inconclusive", it->rounds_count);
    const bool is_decided = undecided == 0 && !has_common;
    it->next_look = is_decided ? 0 : next_look((unsigned)it->rounds_count, it->vs->options->most_count);
    return 0;
}

/* With --repeat auto, says why no more rounds are made. */
static bool are_done(const struct versus *it, int64_t start_ns) {
    const struct run_vs *vs = it->vs;
    if (!is_auto(it))
        return it->rounds_count == vs->options->repeat_count;
    if (it->next_look == 0)
        return true;
    if (it->rounds_count == vs->options->most_count)
        complain("no more rounds than %u (--max-repeat)", vs->options->most_count);
    else if (vs->options->for_ns > 0 && read_clock_ns(CLOCK_MONOTONIC) - start_ns >= (int64_t)vs->options->for_ns)
        complain("no more rounds than %zu: the time is up (--for)", it->rounds_count);
    else
        return false;
    return true;
}

static int make_rounds(struct versus *it) {
    const int64_t start_ns = read_clock_ns(CLOCK_MONOTONIC);
    int error = 0;
    for (unsigned i = 0; i < it->vs->options->warmup_count && !error && !it->stop_status; i++)
        error = make_round(it);
    while (!error && !it->stop_status && !are_done(it, start_ns)) {
        error = make_round(it);
        if (!error)
            error = count_round(it);
        if (!error && is_auto(it) && it->rounds_count == it->next_look)
            error = take_look(it);
    }
    return error == -ECANCELED ? 0 : error;
}

/* ---- The report --------------------------------------------------------------------------------- */

/* Prints a comparison, or else a verdict. */
static void print_page(const struct versus *it, size_t directory, const struct comparison *comparison,
                       const struct verdict_page *verdict) {
    const struct run_mounts *mounts = it->vs->place.mounts;
    FILE *stream;
    if (it->vs->options->is_quiet)
        return;
    int error = run_report_open(&stream);
    if (error) {
        run_report_not_shown("comparison", error);
        return;
    }
    const struct screen screen = screen_of(stream);
    if (mounts->count > 1) {
        screen_print_key(&screen, "directory");
        screen_print_untrusted(&screen, INK_PLAIN, mounts->daemons[directory].name);
        putc('\n', stream);
    }
    if (comparison)
        comparison_print(comparison, &screen);
    else
        verdict_page_print(verdict, &screen);
    if (fclose(stream) != 0)
        run_report_not_shown("comparison", negative_errno());
}

/* Saves a page of HTML, which is about B. report: without its subject. Errors: reported to the user */
static int save_page(const struct versus *it, struct report *report) {
    struct subject subject = {.count = 0};
    int error = 0;
    if (!it->vs->page->given)
        return 0;
    report->name = "B";
    for (size_t i = 0; i < it->rounds_count && !error; i++) {
        const struct input input = {.profile = *profile_of(it, VS_B, i, 0)};
        error = subject_add(&subject, report->name, &input);
    }
    if (!error)
        error = run_target_save_page(it->vs->page, report, &subject);
    subject_finish(&subject);
    return error;
}

/* Compares one run of each. page_error: of the page, which is reported */
static int compare_pair(const struct versus *it, size_t directory, int *page_error) {
    const struct aggstats_profile *a = profile_of(it, VS_A, 0, directory);
    const struct aggstats_profile *b = profile_of(it, VS_B, 0, directory);
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
    print_page(it, directory, &comparison, NULL);
    struct report report = {.comparison = &comparison};
    *page_error = save_page(it, &report);
    calibration_finish(&a_times);
    calibration_finish(&b_times);
    compare_finish(&result);
    return 0;
}

/* The same of several runs. */
static int compare_sets(struct versus *it, size_t directory, int *page_error) {
    struct verdict_result result;
    int error = judge(it, directory, &result);
    if (error)
        return error;
    const struct verdict_page page = {
        .result = &result,
        .a_name = aggstats_profile_label(profile_of(it, VS_A, 0, directory), "command"),
        .b_name = aggstats_profile_label(profile_of(it, VS_B, 0, directory), "command"),
        .is_job = true,
        .no_charts = !it->vs->options->charts,
    };
    print_page(it, directory, NULL, &page);
    struct report report = {.verdict = &page};
    *page_error = save_page(it, &report);
    it->is_so |= verdict_is_so(&result, it->vs->options->fail_on);
    verdict_finish(&result);
    return 0;
}

/* Saves the profiles of a single round if wanted, prints a comparison for each directory, independently of the others, and
 * sets it->is_so.
 * Errors: reported; the first of them */
static int report_all(struct versus *it) {
    const struct run_target *target = it->vs->target;
    int first_error = 0;
    /* The status of A is in no exit status; that of B is not if the comparison decides that. */
    for (size_t side = 0; side < (it->vs->options->fail_on ? VS_SIDES : VS_B); side++)
        if (it->sides[side].status)
            complain("%s ended with status %d%s", side_name(side), it->sides[side].status,
                     it->vs->options->warmup_count + it->rounds_count > 1 ? ", in one run at least" : "");
    for (size_t i = 0; i < count_of(it); i++) {
        int page_error = 0;
        for (size_t side = 0; target->given && side < VS_SIDES; side++) {
            int error = run_target_save(target, i, side, profile_of(it, side, 0, i));
            first_error = first_error ? first_error : error;
        }
        int error = it->rounds_count == 1 ? compare_pair(it, i, &page_error) : compare_sets(it, i, &page_error);
        if (error)
            complain_uncompared(it, i, error);
        error = error ? error : page_error;
        first_error = first_error ? first_error : error;
    }
    return first_error;
}

/* ---- All of it ---------------------------------------------------------------------------------- */

static int run_and_report(struct versus *it) {
    int error = make_rounds(it);
    int report_error = it->rounds_count > 0 ? report_all(it) : 0;
    if (error || report_error)
        return RUN_FAILED;
    if (it->rounds_count == 0)
        complain("nothing is compared: the two commands have not both been run");
    if (it->vs->options->fail_on && it->rounds_count > 0 && !it->stop_status)
        return it->is_so ? STATUS_NOT_SO : STATUS_OK;
    return it->sides[VS_B].status ? it->sides[VS_B].status : it->stop_status;
}

int run_vs(const struct run_vs *vs) {
    const char *shell[] = {"/bin/sh", "-c", vs->options->other, NULL};
    struct versus it = {.vs = vs, .commands = {[VS_A] = shell, [VS_B] = vs->options->command}};
    CLEANUP_FD int start_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool has_memory = true;
    int status = RUN_FAILED;
    if (start_fd < 0) {
        complain("cannot open the current directory: %s", strerror(errno));
        return RUN_FAILED;
    }
    it.start_fd = start_fd;
    it.next_look = vs->options->repeat_count == 0 ? next_look(0, vs->options->most_count) : 0;
    for (size_t i = 0; i < VS_SIDES; i++) {
        it.sides[i].last = calloc(count_of(&it), sizeof(*it.sides[i].last));
        has_memory &= it.sides[i].last != NULL;
    }
    if (has_memory)
        status = run_and_report(&it);
    else
        complain("no memory");
    for (size_t i = 0; i < VS_SIDES; i++) {
        finish_profiles(it.sides[i].runs, it.rounds_count * count_of(&it));
        finish_profiles(it.sides[i].last, count_of(&it));
        free(it.sides[i].runs);
        free(it.sides[i].last);
    }
    return status;
}
