/* Reading about the daemon of a mount in /sys and /proc. */
#include "daemon_watch.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "figures.h"
#include "live_files.h"
#include "mounts.h"
#include "proc.h"

#define LOOK_STEP_NS 60000000L
#define LOOKS_MAX 8
#define CHILDREN_MAX 64

/* ---- The process -------------------------------------------------------------------------------- */

static bool is_stopped(int64_t pid) {
    struct proc_stat stat;
    return proc_stat_read((uint64_t)pid, &stat) && (stat.state[0] == 'T' || stat.state[0] == 't');
}

/* Finds out whether the process that serves the mount, or else the one that counts, is stopped. The process that records
 * beside a daemon ('osprof fuse') is its parent. */
static void find_stopped(const struct aggstats_profile *profile, int64_t pid, struct daemon_state *state) {
    const char *layer = aggstats_profile_label(profile, "layer");
    const bool is_beside = layer && strcmp(layer, "daemon") == 0;
    int64_t stopped_child = 0;
    char path[64];
    char text[CHILDREN_MAX * 12] = "";
    char *rest = NULL;
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/task/%" PRId64 "/children", pid, pid);
    if (is_beside)
        read_beginning(-1, path, text, sizeof(text));
    for (char *word = strtok_r(text, " \n", &rest); word && stopped_child == 0; word = strtok_r(NULL, " \n", &rest))
        if (is_stopped(strtoll(word, NULL, 10)))
            stopped_child = strtoll(word, NULL, 10);
    if (stopped_child == 0 && !is_stopped(pid))
        return;
    state->stopped_pid = stopped_child > 0 ? stopped_child : pid;
    state->trouble = is_beside && stopped_child == 0 ? DAEMON_UNSEEN : DAEMON_STOPPED;
}

/* ---- Looks -------------------------------------------------------------------------------------- */

/* Since when requests have been waiting without any progress. */
static void follow(struct daemon_watch *watch, const struct aggstats_profile *profile, struct daemon_state *state) {
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    const bool is_waiting = state->waiting > 0;
    wide_count progress = figures_sum(profile).calls;
    for (size_t i = 0; i < profile->op_count; i++)
        progress += figures_finished(&profile->ops[i], profile->resolution);
    if (!is_waiting)
        watch->since_ns = 0;
    else if (watch->since_ns == 0 || watch->progress != progress)
        watch->since_ns = now_ns;
    watch->progress = progress;
    state->stuck_ns = is_waiting ? now_ns - watch->since_ns : 0;
    if (state->stuck_ns >= DAEMON_STUCK_NS)
        state->trouble = DAEMON_STUCK;
}

struct daemon_state daemon_watch_look(struct daemon_watch *watch, const struct aggstats_profile *profile, int64_t pid,
                                      uint64_t own) {
    const char *mount = aggstats_profile_label(profile, "mount");
    struct daemon_state state = {.trouble = DAEMON_WORKS};
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    if (!mount || pid <= 0)
        return state;
    /* The process's own table of mounts may differ from ours, which is taken if that is another user's and not readable. */
    if (mounts_open_of((pid_t)pid, &table) < 0)
        mounts_open(&table);
    if (!mounts_at(&table, mount, &entry) || !mounts_is_fuse(&entry))
        return state;
    state.knows_unanswered = mounts_waiting_requests(entry.device, &state.unanswered) == 0;
    if (state.knows_unanswered) {
        state.unanswered -= own < state.unanswered ? own : state.unanswered;
        state.waiting = state.unanswered > profile->in_flight_count ? state.unanswered - profile->in_flight_count : 0;
        follow(watch, profile, &state);
    }
    find_stopped(profile, pid, &state);
    return state;
}

struct daemon_state daemon_state_find(const struct input *input) {
    const struct timespec step = {.tv_nsec = LOOK_STEP_NS};
    const struct daemon_state works = {.trouble = DAEMON_WORKS};
    const char *mount = aggstats_profile_label(&input->profile, "mount");
    struct daemon_watch watch = {.since_ns = 0};
    if (!input->is_live || !input->live.recording)
        return works;
    struct daemon_state state = daemon_watch_look(&watch, &input->profile, input->live.pid, 0);
    for (int i = 0; i < LOOKS_MAX && state.trouble == DAEMON_WORKS && state.waiting > 0; i++) {
        CLEANUP_LIVE_FILES struct live_files files = {0};
        nanosleep(&step, NULL);
        struct live_file *serving = live_files_find(&files) == 0 ? live_files_serving(&files, mount) : NULL;
        if (!serving || live_file_load(serving) < 0)
            return works;
        state = daemon_watch_look(&watch, &serving->profile, serving->info.pid, 0);
    }
    return state.trouble == DAEMON_WORKS ? works : state;
}

/* ---- Words -------------------------------------------------------------------------------------- */

bool daemon_state_format(const struct daemon_state *state, char ret_text[DAEMON_TEXT_SIZE]) {
    char waiting[96] = "no request waits for it now";
    ret_text[0] = '\0';
    if (!state->knows_unanswered)
        snprintf(waiting, sizeof(waiting), "how many requests wait for it cannot be told");
    else if (state->waiting > 0)
        snprintf(waiting, sizeof(waiting), "%" PRIu64 " request%s for it", state->waiting,
                 state->waiting == 1 ? " waits" : "s wait");
    if (state->trouble == DAEMON_STOPPED)
        snprintf(ret_text, DAEMON_TEXT_SIZE, "The daemon (process %" PRId64 ") is stopped: %s.", state->stopped_pid,
                 waiting);
    else if (state->trouble == DAEMON_UNSEEN)
        snprintf(ret_text, DAEMON_TEXT_SIZE,
                 "Process %" PRId64 ", which counts the calls, is stopped: calls are not measured until it goes on.",
                 state->stopped_pid);
    else if (state->trouble == DAEMON_STUCK)
        snprintf(ret_text, DAEMON_TEXT_SIZE, "The daemon does not get on: %s; none was begun or ended for %.1f s.",
                 waiting, (double)state->stuck_ns / 1e9);
    return state->trouble != DAEMON_WORKS;
}

bool daemon_state_warn(const struct daemon_state *state, char ret_text[DAEMON_TEXT_SIZE]) {
    const bool is_in_trouble = daemon_state_format(state, ret_text);
    const size_t length = strlen(ret_text);
    if (is_in_trouble && state->trouble != DAEMON_UNSEEN)
        snprintf(ret_text + length, DAEMON_TEXT_SIZE - length, " %s", DAEMON_NOT_COUNTED);
    return is_in_trouble;
}

int daemon_state_add_labels(const struct daemon_state *state, struct aggstats_profile *profile) {
    static const char *const names[] = {
        [DAEMON_STOPPED] = "stopped", [DAEMON_STUCK] = "stuck", [DAEMON_UNSEEN] = "unseen"};
    if (state->trouble == DAEMON_WORKS || !profile)
        return 0;
    profile->has_waiting_requests = state->knows_unanswered && state->trouble != DAEMON_UNSEEN;
    profile->waiting_requests = profile->has_waiting_requests ? state->waiting : 0;
    return aggstats_profile_add_label(profile, "daemon", names[state->trouble]);
}
