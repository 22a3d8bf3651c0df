/* Rounds, interim comparisons (looks), and the report. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "command.h"
#include "run_child.h"
#include "versus.h"

/* ---- Looks -------------------------------------------------------------------------------------- */

struct undecided {
    size_t ops;
    size_t of_ops;
    bool has_common; /* whether everything has changed together is undecided */
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

/* Compares all runs so far. Errors: reported to the user */
static int take_look(struct versus *it) {
    struct undecided undecided = {0};
    for (size_t i = 0; i < versus_count(it); i++) {
        struct verdict_result result;
        int error = versus_judge(it, i, &result);
        if (error)
            return versus_complain(it, i, error);
        undecided.ops += result.word_counts[VERDICT_UNDECIDED];
        undecided.of_ops += result.op_count;
        undecided.has_common |= result.common.is_there && result.common.word == VERDICT_UNDECIDED;
        verdict_finish(&result);
    }
    tell_undecided(it, &undecided);
    bool is_decided = undecided.ops == 0 && !undecided.has_common;
    it->next_look = is_decided ? 0 : run_looks_next((unsigned)it->rounds_count, it->vs->most_count);
    return 0;
}

static int look_if_due(struct versus *it) {
    return versus_is_auto(it) && it->rounds_count == it->next_look ? take_look(it) : 0;
}

static time_t now_s(void) {
    return read_clock_ns(CLOCK_MONOTONIC) / NS_PER_S;
}

/* With --repeat auto, says why no more rounds are made. */
static bool are_done(const struct versus *it, time_t start_s) {
    const struct run_vs *vs = it->vs;
    if (!versus_is_auto(it))
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

/* Errors: reported to the user */
static int warm_up(struct versus *it) {
    int error = 0;
    for (unsigned i = 0; i < it->vs->warmup_count && !error && !it->stop_status; i++)
        error = versus_make_round(it);
    return error;
}

static int make_rounds(struct versus *it) {
    const time_t start_s = now_s();
    int error = warm_up(it);
    while (!error && !it->stop_status && !are_done(it, start_s)) {
        error = versus_make_round(it);
        if (!error)
            error = versus_count_round(it);
        if (!error)
            error = look_if_due(it);
    }
    return error == -ECANCELED ? 0 : error;
}

/* ---- All of it ------------------------------------------------------------------------------------ */

static int run_and_report(struct versus *it) {
    int error = make_rounds(it);
    int report_error = it->rounds_count > 0 ? versus_report(it) : 0;
    if (error || report_error)
        return RUN_FAILED;
    if (it->rounds_count == 0)
        complain("nothing is compared: the two commands have not both been run");
    if (it->vs->fail_on && it->rounds_count > 0 && !it->stop_status)
        return it->is_so ? STATUS_NOT_SO : STATUS_OK;
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
    it.next_look = vs->repeat_count == 0 ? run_looks_next(0, vs->most_count) : 0;
    int error = versus_init(&it);
    if (error)
        complain("no memory");
    int status = error ? (int)RUN_FAILED : run_and_report(&it);
    versus_finish(&it);
    return status;
}
