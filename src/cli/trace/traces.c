#include "traces.h"

#include <string.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "command.h"
#include "mounts.h"

static const char *const layer_names[TRACE_LAYERS][COLLECTOR_LANES_MAX] = {
    [TRACE_FUSE] = {"fuse", "queue"},
    [TRACE_BLOCK] = {"block"},
};

/* ---- Opening ------------------------------------------------------------------------------------ */

static bool any_wanted(const struct traces *traces) {
    return traces->layers[TRACE_FUSE].is_wanted || traces->layers[TRACE_BLOCK].is_wanted;
}

/* Gives up all that are wanted, for one reason. */
static void give_up_all(struct traces *traces, const char *why) {
    const bool are_both = traces->layers[TRACE_FUSE].is_wanted && traces->layers[TRACE_BLOCK].is_wanted;
    if (are_both)
        complain("the layers fuse and block are not profiled: %s", why);
    else
        complain("the layer %s is not profiled: %s", traces->layers[TRACE_FUSE].is_wanted ? "fuse" : "block", why);
    for (size_t i = 0; i < TRACE_LAYERS; i++)
        traces->layers[i].is_wanted = false;
}

static void complain_no_disk(const char *name, int error, const char *type) {
    if (error == -ENOTBLK && type[0])
        complain("the layer block does not see %s: it lies on no block device, but on %s", name, type);
    else if (error == -ENOTBLK)
        complain("the layer block does not see %s: it lies on no block device", name);
    else if (error == -ENOTSUP)
        complain("the layer block does not see %s: it lies on %s, which has no requests that can be traced", name,
                 type);
    else if (error == -E2BIG)
        complain("the layer block does not see all of %s: there are more than %d disks", name, BLOCK_DEVICES_MAX);
    else
        complain("the layer block does not see %s: its disk cannot be found: %s", name, strerror(-error));
}

static void find_disks(struct traces *traces) {
    char type[BLOCK_DEVICES_NAME_SIZE] = "";
    for (size_t i = 0; i < traces->directory_count; i++) {
        int error = block_devices_add(&traces->devices, traces->directories[i], type);
        if (error)
            complain_no_disk(traces->directories[i], error, type);
    }
    traces->layers[TRACE_BLOCK].is_wanted = traces->devices.count > 0;
}

static char *join_paths(const char *const *directories, size_t count) {
    char *text = strdup("");
    for (size_t i = 0; i < count && text; i++) {
        CLEANUP_FREE char *before = steal_pointer(&text);
        CLEANUP_FREE char *path = realpath(directories[i], NULL);
        if (asprintf(&text, "%s%s%s", before, i > 0 ? ", " : "", path ? path : directories[i]) < 0)
            text = NULL;
    }
    return text;
}

void traces_open(struct traces *ret_traces, const bool wanted[TRACE_LAYERS], const char *const *directories,
                 size_t directory_count, const struct option_list *labels) {
    struct traces *traces = ret_traces;
    *traces = (struct traces){.directories = directories,
                              .directory_count = directory_count,
                              .options = {.resolution = COLLECTED_RESOLUTION, .labels = *labels}};
    for (size_t i = 0; i < TRACE_LAYERS; i++)
        traces->layers[i].is_wanted = wanted[i];
    if (!any_wanted(traces))
        return;
    char why[COLLECTOR_WHY_SIZE];
    if (collector_check(why) < 0)
        give_up_all(traces, why);
    traces->lower = join_paths(directories, directory_count);
    if (traces->layers[TRACE_BLOCK].is_wanted)
        find_disks(traces);
}

void traces_finish(struct traces *traces) {
    for (size_t i = 0; i < TRACE_LAYERS; i++) {
        collector_finish(traces->layers[i].collector);
        for (size_t lane = 0; lane < COLLECTOR_LANES_MAX; lane++)
            session_finish(&traces->layers[i].sessions[lane]);
    }
    free(traces->lower);
}

/* ---- Starting ----------------------------------------------------------------------------------- */

/* Which FUSE file system it is on. Errors: -ENODEV it is on none; those of reading the mounts */
static int find_connection(const char *directory, uint32_t *ret_connection) {
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry entry;
    dev_t device;
    int error = mounts_device_at(directory, &device);
    if (error)
        return error;
    mounts_open(&table);
    if (!mounts_of_device(&table, device, &entry) || !mounts_is_fuse(&entry))
        return -ENODEV;
    *ret_connection = mounts_kernel_device(device);
    return 0;
}

static void complain_no_connection(const char *name, int error) {
    if (error == -ENODEV)
        complain("the layer fuse does not see %s: it is on no FUSE file system, and not profiled as layer fs", name);
    else if (error == -E2BIG)
        complain("the layer fuse does not see %s: there are more than %d mounts", name, COLLECTED_CONNECTIONS_MAX);
    else
        complain("the layer fuse does not see %s: %s", name, strerror(-error));
}

/* Returns false if there is none. */
static bool find_connections(const struct traces *traces, struct fuse_requests *ret_requests) {
    *ret_requests = (struct fuse_requests){.connection_count = 0};
    for (size_t i = 0; i < traces->directory_count; i++) {
        uint32_t connection = 0;
        int error = find_connection(traces->directories[i], &connection);
        if (error == 0 && ret_requests->connection_count == COLLECTED_CONNECTIONS_MAX)
            error = -E2BIG;
        if (error)
            complain_no_connection(traces->directories[i], error);
        else
            ret_requests->connections[ret_requests->connection_count++] = connection;
    }
    return ret_requests->connection_count > 0;
}

static int start_fuse(const struct traces *traces, struct collector **ret_collector, char why[COLLECTOR_WHY_SIZE]) {
    struct fuse_requests requests;
    return find_connections(traces, &requests) ? collector_start_fuse(&requests, ret_collector, why) : -ENODEV;
}

static int start_block(const struct traces *traces, struct collector **ret_collector, char why[COLLECTOR_WHY_SIZE]) {
    struct disk_requests requests = {.disk_count = 0};
    for (size_t i = 0; i < traces->devices.count; i++)
        requests.disks[requests.disk_count++] =
            mounts_kernel_device(makedev(traces->devices.devices[i].major, traces->devices.devices[i].minor));
    return collector_start_disks(&requests, ret_collector, why);
}

static int (*const starters[TRACE_LAYERS])(const struct traces *, struct collector **, char why[COLLECTOR_WHY_SIZE]) = {
    [TRACE_FUSE] = start_fuse,
    [TRACE_BLOCK] = start_block,
};

void traces_start(struct traces *traces) {
    for (size_t i = 0; i < TRACE_LAYERS; i++) {
        struct trace *trace = &traces->layers[i];
        char why[COLLECTOR_WHY_SIZE] = "";
        if (trace->is_wanted && starters[i](traces, &trace->collector, why) < 0) {
            trace->is_wanted = false;
            if (why[0])
                complain("the layer %s is not profiled: %s", layer_names[i][0], why);
        }
    }
}

/* ---- Recorders ---------------------------------------------------------------------------------- */

static void join_devices(const struct block_devices *devices,
                         char ret_text[BLOCK_DEVICES_MAX * (BLOCK_DEVICES_NAME_SIZE + 2)]) {
    size_t length = 0;
    for (size_t i = 0; i < devices->count; i++)
        length += (size_t)sprintf(ret_text + length, "%s%s", i > 0 ? ", " : "", devices->devices[i].name);
}

/* Without a live file. */
static int open_lane(const struct traces *traces, struct trace *trace, size_t lane, const char *layer, bool has_disks) {
    char devices[BLOCK_DEVICES_MAX * (BLOCK_DEVICES_NAME_SIZE + 2)] = "";
    struct session *session = &trace->sessions[lane];
    struct session_source source = {.name = layer,
                                    .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = NS_PER_S},
                                    .header = {.layer = layer,
                                               .lower = traces->lower ? make_line(traces->lower) : NULL,
                                               .devices = has_disks ? devices : NULL}};
    source.op_names = collector_ops(trace->collector, &source.op_count);
    join_devices(&traces->devices, devices);
    make_line(devices);
    const int error = session_open(session, &traces->options, &source);
    return error ? error : counting_lane_open(&trace->lanes[lane], session->recorder);
}

static int open_lanes(const struct traces *traces, enum trace_layer layer, struct trace *trace) {
    int error = 0;
    for (size_t i = 0; i < COLLECTOR_LANES_MAX && layer_names[layer][i] && error == 0; i++)
        error = open_lane(traces, trace, i, layer_names[layer][i], layer == TRACE_BLOCK);
    return error;
}

/* What was counted so far is dropped. */
static int begin(const struct traces *traces, enum trace_layer layer, struct trace *trace) {
    int error = collector_count(trace->collector, trace->lanes);
    return error ? error : open_lanes(traces, layer, trace);
}

void traces_begin(struct traces *traces) {
    for (size_t i = 0; i < TRACE_LAYERS; i++) {
        struct trace *trace = &traces->layers[i];
        int error = trace->is_wanted ? begin(traces, (enum trace_layer)i, trace) : 0;
        if (error == 0)
            continue;
        complain("the layer %s is not profiled: %s", layer_names[i][0], strerror(-error));
        trace->is_wanted = false;
    }
    traces->disk_requests = block_devices_count_requests(&traces->devices);
}

/* ---- Profiles ----------------------------------------------------------------------------------- */

/* The disks' own counters bound the number of missing requests. */
static uint64_t limit_lost(const struct traces *traces, const struct aggstats_profile *profile, uint64_t lost) {
    const uint64_t counted = block_devices_count_requests(&traces->devices) - traces->disk_requests;
    uint64_t calls = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        calls += strstr(profile->ops[i].name, "_QUEUED") ? 0 : profile->ops[i].calls;
    const uint64_t not_counted = counted > calls ? counted - calls : 0;
    return lost < not_counted ? lost : not_counted;
}

void traces_tell_lacking(const char *layer, uint64_t lacking) {
    if (lacking > 0)
        complain(
            "the layer %s may lack %llu request%s: a program in the kernel is not run on a CPU that is in it already",
            layer, (unsigned long long)lacking, lacking == 1 ? "" : "s");
}

static int take_lane(const struct traces *traces, enum trace_layer layer, unsigned lane, struct recording *layers) {
    const struct trace *trace = &traces->layers[layer];
    struct aggstats_profile profile = {0};
    int error = aggstats_recorder_snapshot(trace->lanes[lane].recorder, &profile);
    if (error)
        return error;
    uint64_t lost = collector_lost(trace->collector);
    if (layer == TRACE_BLOCK)
        lost = limit_lost(traces, &profile, lost);
    profile.incomplete |= lost > 0;
    if (lane == 0)
        traces_tell_lacking(layer_names[layer][lane], lost);
    error = recording_add(layers, &profile);
    aggstats_profile_finish(&profile);
    return error;
}

static int take(const struct traces *traces, enum trace_layer layer, struct recording *layers) {
    const struct trace *trace = &traces->layers[layer];
    int error = collector_count(trace->collector, trace->lanes);
    if (error == 0)
        error = take_lane(traces, layer, 0, layers);
    if (error == 0 && layer == TRACE_FUSE && traces->has_workers)
        error = take_lane(traces, layer, 1, layers);
    return error;
}

void traces_stop(struct traces *traces, struct recording *layers) {
    for (size_t i = 0; i < TRACE_LAYERS; i++) {
        const struct trace *trace = &traces->layers[i];
        int error = trace->is_wanted ? take(traces, (enum trace_layer)i, layers) : 0;
        if (error)
            complain("the layer %s has no profile: %s", layer_names[i][0], strerror(-error));
    }
}
