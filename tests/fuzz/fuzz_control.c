/* The control file's grammar: any write is carried out whole, or refused with a reason and nothing of it is done. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "control.h"
#include "fuzz.h"

/* Counts what the commands do to the outside. */
struct effects {
    unsigned dumps;
    unsigned groups;
};

static int count_dump(void *context, const struct control_file *file) {
    struct effects *effects = context;
    effects->dumps++;
    const char *name = file->name;
    FUZZ_PROMISE(!name || (name[0] != '\0' && strlen(name) < PATH_MAX && !strchr(name, '\n')));
    return 0;
}

static int count_groups(void *context, const struct control_groups *wanted) {
    struct effects *effects = context;
    effects->groups++;
    FUZZ_PROMISE((wanted->groupings & ~GROUPINGS_OF_MOUNTS) == 0 && wanted->directory_depth <= 64);
    FUZZ_PROMISE(wanted->directory_depth == 0 || wanted->groupings & 1U << AGGSTATS_BY_DIRECTORY);
    return 0;
}

/* A recorder of one op. The plain clock: detecting another would take its time for every input. */
static struct aggstats_recorder *create_recorder(void) {
    static const char *const op_names[] = {"READ"};
    const struct aggstats_recorder_options options = {
        .op_names = op_names,
        .op_count = 1,
        .resolution = 1,
        .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = 1000000000},
    };
    struct aggstats_recorder *recorder = NULL;
    FUZZ_PROMISE(aggstats_recorder_create(&options, &recorder) == 0);
    return recorder;
}

static void make_call(struct aggstats_recorder *recorder) {
    struct aggstats_span span = aggstats_begin(recorder, 0, 0, 0);
    aggstats_end(recorder, &span);
}

static uint64_t calls_shown(struct aggstats_recorder *recorder) {
    struct aggstats_profile profile;
    FUZZ_PROMISE(aggstats_recorder_snapshot(recorder, &profile) == 0);
    uint64_t calls = profile.op_count > 0 ? profile.ops[0].calls : 0;
    aggstats_profile_finish(&profile);
    return calls;
}

static void promise_reason(const char *reason) {
    size_t length = strnlen(reason, CONTROL_REASON_SIZE);
    FUZZ_PROMISE(length > 0 && length < CONTROL_REASON_SIZE);
    for (size_t i = 0; i < length; i++)
        FUZZ_PROMISE(reason[i] >= ' ' && reason[i] <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    struct effects effects = {0};
    struct aggstats_recorder *recorder = create_recorder();
    const struct control control = {.recorder = recorder,
                                    .dump = count_dump,
                                    .dump_context = &effects,
                                    .rotate = count_dump,
                                    .rotate_context = &effects,
                                    .groups = count_groups,
                                    .groups_context = &effects};
    char reason[CONTROL_REASON_SIZE];
    memset(reason, 0x7f, sizeof(reason));
    make_call(recorder);
    int error = control_write(&control, &CONTROL_SELF, (const char *)data, size_bytes, reason);
    if (error) {
        FUZZ_PROMISE(error == -EINVAL);
        promise_reason(reason);
        FUZZ_PROMISE(effects.dumps == 0 && effects.groups == 0);
        FUZZ_PROMISE(calls_shown(recorder) == 1); /* not reset, */
        make_call(recorder);
        FUZZ_PROMISE(calls_shown(recorder) == 2); /* nor paused */
    } else {
        FUZZ_PROMISE(reason[0] == 0x7f);
        FUZZ_PROMISE(calls_shown(recorder) <= 1);
    }
    aggstats_recorder_destroy(recorder);
    return 0;
}
