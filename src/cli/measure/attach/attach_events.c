/* Calls of the recorder's watching thread become records; a lane without calls of its own counts what is dropped. */
#include "attach_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggstats/lane.h"
#include "base.h"
#include "command.h"
#include "events_place.h"
#include "events_recorder.h"

#define LANES_MAX 1024 /* slow calls that overlap; more are dropped, and counted */
#define COLUMNS 2      /* of each operation that moves bytes: size, result */

struct lane {
    struct aggstats_block *block;
    struct events_stream *stream;
    uint64_t end_ns; /* of its last call */
};

struct attach_events {
    const char *file; /* borrowed */
    int dir_fd;
    char *name;
    struct attach_events_source source;
    struct aggstats_profile profile; /* an empty one, for its labels */
    char **ops;                      /* [op_count], as struct events_source has them */
    unsigned op_count;
    struct events_recorder *recorder; /* NULL: it has not begun, or has ended */
    struct lane lanes[LANES_MAX];
    unsigned lane_count;
    struct lane lost_lane; /* only counts */
    uint64_t lost;
    bool hangs; /* what saves it, at the end */
};

/* ---- What the recorder asks --------------------------------------------------------------------- */

static char *find_path(void *context, uint64_t node) {
    const struct attach_events *events = context;
    return events->source.path_of ? events->source.path_of(events->source.path_context, node) : NULL;
}

static void tell(void *context, int err) {
    const struct attach_events *events = context;
    if (err < 0)
        complain("cannot write events to %s: %s; it is tried again, and calls for which there is no room meanwhile are "
                 "dropped and counted",
                 events->file, strerror(-err));
    else
        complain("events are written to %s again; if calls are missing from it, it says how many", events->file);
}

/* ---- The beginning ------------------------------------------------------------------------------ */

int attach_events_open(const char *file, struct attach_events **ret_events) {
    struct attach_events *events = calloc(1, sizeof(*events));
    if (!events)
        return -ENOMEM;
    events->file = file;
    events->dir_fd = -1;
    int error = events_place_find(file, &events->dir_fd, &events->name);
    if (error) {
        complain("cannot record events to %s: %s; choose another file", file, strerror(-error));
        attach_events_finish(events);
        return error;
    }
    *ret_events = events;
    return 0;
}

static int create_recorder(struct attach_events *events) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    const char *const *names = collector_ops(events->source.collector, &events->op_count);
    char which[64];
    uint64_t slow = events->source.slow_ns;
    unsigned unit = 0;
    events->ops = calloc(events->op_count, sizeof(*events->ops));
    int error = events->ops ? 0 : -ENOMEM;
    for (unsigned op = 0; error == 0 && op < events->op_count; op++)
        if (asprintf(&events->ops[op], "%s%s", names[op],
                     collector_op_moves_bytes(op) ? " bytes|size result|process|program" : "||process|program") < 0) {
            events->ops[op] = NULL;
            error = -ENOMEM;
        }
    if (error == 0)
        error = aggstats_recorder_snapshot(events->source.recorder, &events->profile);
    /* Which calls there are: "calls of at least 10 ms", without rounding, since some call may have taken just that long. */
    for (; unit + 1 < ARRAY_SIZE(units) && slow % 1000 == 0; unit++)
        slow /= 1000;
    snprintf(which, sizeof(which), "calls of at least %" PRIu64 " %s", slow, units[unit]);
    if (error == 0)
        error = aggstats_profile_add_label(&events->profile, EVENTS_LABEL_ONLY, which);
    const struct events_source source = {
        .recorder = events->source.recorder,
        .ops = (const char *const *)events->ops,
        .op_count = events->op_count,
        .resolution = events->source.resolution,
        .version = OSPROF_VERSION,
        .labels = events->profile.labels,
        .label_count = events->profile.label_count,
        .find_path = find_path,
        .tell = tell,
        .context = events,
    };
    return error ? error : events_recorder_create(&source, &events->recorder);
}

int attach_events_start(struct attach_events *events, const struct attach_events_source *source) {
    events->source = *source;
    int error = create_recorder(events);
    CLEANUP_FD int fd = error ? -1 : events_place_create(events->dir_fd, events->name);
    if (error == 0 && fd < 0)
        error = fd;
    if (error == 0) {
        error = events_recorder_start(events->recorder, &(struct events_wanted){.fd = fd, .paths = true});
        if (error)
            unlinkat(events->dir_fd, events->name, 0);
        else
            steal_fd(&fd);
    }
    if (error) {
        complain("cannot record events to %s: %s", events->file, strerror(-error));
        events_recorder_destroy(steal_pointer(&events->recorder));
    }
    return error;
}

/* ---- Calls -------------------------------------------------------------------------------------- */

/* Returns false without memory */
static bool open_lane(const struct attach_events *events, struct lane *lane) {
    if (!lane->block)
        lane->block = aggstats_lane_create(events->source.recorder);
    if (lane->block && !lane->stream)
        lane->stream = events_lane_stream(events->recorder, lane->block);
    return lane->stream;
}

/* NULL: too many calls overlap, or there is no memory */
static struct lane *find_lane(struct attach_events *events, uint64_t begin_ns) {
    for (unsigned i = 0; i < events->lane_count; i++)
        if (events->lanes[i].end_ns <= begin_ns)
            return &events->lanes[i];
    if (events->lane_count == LANES_MAX || !open_lane(events, &events->lanes[events->lane_count]))
        return NULL;
    return &events->lanes[events->lane_count++];
}

static void drop(struct attach_events *events, uint64_t count) {
    struct lane *lane = &events->lost_lane;
    if (open_lane(events, lane))
        events_lane_drop(events->recorder, lane->stream, lane->block, count);
}

void attach_events_add(struct attach_events *events, const struct collected_slow *call) {
    const uint64_t columns[COLUMNS] = {call->asked_bytes, call->moved_bytes};
    const uint64_t process = call->process;
    char program[sizeof(call->program) + 1];
    const char *const texts[] = {program};
    const struct events_more more = {.columns = &process, .column_count = 1, .texts = texts, .text_count = 1};
    const struct events_ended ended = {
        .latency_cycles = call->ns,
        .node = call->object,
        .thread = call->thread,
        .uid = call->uid,
        .op = call->op,
        .error = (unsigned)call->error,
        .columns = columns,
        .column_count = collector_op_moves_bytes(call->op) ? COLUMNS : 0,
    };
    if (!events->recorder)
        return;
    struct lane *lane = find_lane(events, call->begin_ns);
    if (!lane) {
        drop(events, 1);
        return;
    }
    snprintf(program, sizeof(program), "%.*s", (int)sizeof(call->program), call->program);
    lane->end_ns = call->begin_ns + call->ns;
    events_lane_add(events->recorder, lane->stream, lane->block, call->begin_ns, &ended, &more);
}

void attach_events_note_lost(struct attach_events *events, uint64_t lost) {
    if (events->recorder && lost > events->lost)
        drop(events, lost - events->lost);
    events->lost = lost;
}

/* ---- The end ------------------------------------------------------------------------------------ */

bool attach_events_end(struct attach_events *events) {
    struct events_state state;
    if (!events || !events->recorder || events->hangs)
        return !events || !events->hangs;
    events->hangs = events_recorder_stop(events->recorder) < 0;
    if (events->hangs) {
        complain("cannot save all events to %s: writing hangs", events->file);
        return false;
    }
    events_recorder_state(events->recorder, &state);
    if (state.is_full)
        complain("%s has reached its size: the trace ends there, with %" PRIu64 " calls", events->file, state.recorded);
    else if (state.dropped > 0)
        complain("%s: %" PRIu64 " of %" PRIu64 " slow calls are not in it, and it says so", events->file, state.dropped,
                 state.dropped + state.recorded);
    events_recorder_destroy(steal_pointer(&events->recorder));
    return true;
}

void attach_events_finish(struct attach_events *events) {
    if (!events || events->hangs)
        return;
    for (unsigned op = 0; events->ops && op < events->op_count; op++)
        free(events->ops[op]);
    free(events->ops);
    aggstats_profile_finish(&events->profile);
    free(events->name);
    close_fd(&events->dir_fd);
    free(events);
}
