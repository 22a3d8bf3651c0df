/* Programs are read from /proc, paths from the control file, by a child process that may hang. */
#include <string.h>

#include "base.h"
#include "control_reader.h"
#include "input.h"
#include "live_files.h"
#include "path.h"
#include "proc.h"

#define PATIENCE_NS INT64_C(300000000)

static void find_programs(struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->in_flight_count; i++) {
        struct aggstats_call_in_flight *call = &profile->in_flight[i];
        if (!call->program[0] && call->pid > 0)
            proc_name_read(call->pid, call->program, sizeof(call->program));
    }
}

/* Takes the path of a call of the same op on the same node by the same process. If that is a later one, its path is as
 * good. */
static void take_path(struct aggstats_call_in_flight *call, struct aggstats_profile *answer) {
    for (size_t i = 0; i < answer->in_flight_count && !call->path; i++) {
        struct aggstats_call_in_flight *other = &answer->in_flight[i];
        if (strcmp(call->op, other->op) == 0 && call->object == other->object && call->pid == other->pid)
            call->path = steal_pointer(&other->path);
    }
}

/* Begins to ask, and waits a moment for the answer. */
static int ask(struct control_reader *reader, const char *path, struct aggstats_profile *ret_answer) {
    int error = control_reader_begin(reader, path);
    if (error)
        return error;
    while ((error = control_reader_collect(reader, ret_answer)) == -EAGAIN) {
        int64_t left_ns = PATIENCE_NS - control_reader_age_ns(reader);
        if (left_ns <= 0)
            break;
        control_reader_wait(reader, left_ns);
    }
    return error;
}

static void find_paths(struct aggstats_profile *profile) {
    CLEANUP_FREE char *path = live_control(profile);
    struct control_reader reader = {.pid = 0};
    struct aggstats_profile answer = {0};
    if (path && ask(&reader, path, &answer) == 0)
        for (size_t i = 0; i < profile->in_flight_count; i++)
            take_path(&profile->in_flight[i], &answer);
    control_reader_finish(&reader);
    aggstats_profile_finish(&answer);
}

void in_flight_find_out(struct input *input) {
    if (!input->is_live || !input->live.recording || input->profile.in_flight_count == 0)
        return;
    find_programs(&input->profile);
    find_paths(&input->profile);
}
