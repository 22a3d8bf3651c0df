/* The layers that are counted in the kernel: found, started, begun and taken, each for itself. */
#include "traces.h"

#include <string.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "command.h"
#include "mounts.h"
#include "str.h"

static const char *const layer_names[TRACE_LAYERS][COLLECTOR_LANES_MAX] = {
    [TRACE_FUSE] = {"fuse", "queue"},
    [TRACE_BLOCK] = {"block"},
};

/* ---- Opening ------------------------------------------------------------------------------------ */

static void find_disks(struct traces *traces) {
    for (size_t i = 0; i < traces->directory_count; i++) {
        const char *name = traces->directories[i];
        char type[BLOCK_DEVICES_NAME_SIZE] = "";
        int error = block_devices_add(&traces->devices, name, type);
        if (error == -ENOTBLK && type[0])
            complain("the layer block does not see %s: it lies on no block device, but on %s", name, type);
        else if (error == -ENOTBLK)
            complain("the layer block does not see %s: it lies on no block device", name);
        else if (error == -ENOTSUP)
            complain("the layer block does not see %s: it lies on %s, which has no requests that can be traced", name,
                     type);
        else if (error == -E2BIG)
            complain("the layer block does not see all of %s: there are more than %d disks", name, BLOCK_DEVICES_MAX);
        else if (error)
            complain("the layer block does not see %s: its disk cannot be found: %s", name, strerror(-error));
    }
    traces->layers[TRACE_BLOCK].is_wanted = traces->devices.count > 0;
}

void traces_open(struct traces *ret_traces, const bool wanted[TRACE_LAYERS], const char *const *directories,
                 size_t directory_count, const struct option_list *labels) {
    struct traces *traces = ret_traces;
    *traces = (struct traces){.directories = directories,
                              .directory_count = directory_count,
                              .options = {.resolution = COLLECTED_RESOLUTION, .labels = *labels}};
    const bool has_fuse = wanted[TRACE_FUSE];
    const bool has_block = wanted[TRACE_BLOCK];
    char why[COLLECTOR_WHY_SIZE];
    CLEANUP_STR struct str lower = {0};
    if (!has_fuse && !has_block)
        return;
    const bool is_possible = collector_check(why) == 0;
    if (!is_possible && has_fuse && has_block)
        complain("the layers fuse and block are not profiled: %s", why);
    else if (!is_possible)
        complain("the layer %s is not profiled: %s", has_fuse ? "fuse" : "block", why);
    for (size_t i = 0; i < TRACE_LAYERS; i++)
        traces->layers[i].is_wanted = wanted[i] && is_possible;
    for (size_t i = 0; i < directory_count; i++) {
        CLEANUP_FREE char *path = realpath(directories[i], NULL);
        str_addf(&lower, "%s%s", i > 0 ? ", " : "", path ? path : directories[i]);
    }
    traces->lower = str_steal(&lower);
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

static int start_fuse(const struct traces *traces, struct collector **ret_collector, char why[COLLECTOR_WHY_SIZE]) {
    struct fuse_requests requests = {.connection_count = 0};
    for (size_t i = 0; i < traces->directory_count; i++) {
        const char *name = traces->directories[i];
        CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
        struct mounts_entry entry;
        dev_t device;
        int error = mounts_device_at(name, &device);
        if (error == 0)
            mounts_open(&table);
        if (error == 0 && (!mounts_of_device(&table, device, &entry) || !mounts_is_fuse(&entry)))
            error = -ENODEV;
        if (error == 0 && requests.connection_count < COLLECTED_CONNECTIONS_MAX)
            requests.connections[requests.connection_count++] = mounts_kernel_device(device);
        else if (error == 0)
            complain("the layer fuse does not see %s: there are more than %d mounts", name, COLLECTED_CONNECTIONS_MAX);
        else if (error == -ENODEV)
            complain("the layer fuse does not see %s: it is on no FUSE file system, and not profiled as layer fs",
                     name);
        else
            complain("the layer fuse does not see %s: %s", name, strerror(-error));
    }
    return requests.connection_count > 0 ? collector_start_fuse(&requests, ret_collector, why) : -ENODEV;
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

/* Without a live file. */
static int open_lane(const struct traces *traces, struct trace *trace, size_t lane, const char *layer, bool has_disks) {
    const struct block_devices *disks = &traces->devices;
    char devices[BLOCK_DEVICES_MAX * (BLOCK_DEVICES_NAME_SIZE + 2)] = "";
    size_t length = 0;
    struct session *session = &trace->sessions[lane];
    struct session_source source = {.name = layer,
                                    .clock = {.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = NS_PER_S},
                                    .header = {.layer = layer,
                                               .lower = traces->lower ? make_line(traces->lower) : NULL,
                                               .devices = has_disks ? devices : NULL}};
    source.op_names = collector_ops(trace->collector, &source.op_count);
    for (size_t i = 0; i < disks->count; i++)
        length += (size_t)sprintf(devices + length, "%s%s", i > 0 ? ", " : "", disks->devices[i].name);
    make_line(devices);
    const int error = session_open(session, &traces->options, &source);
    return error ? error : counting_lane_open(&trace->lanes[lane], session->recorder);
}

void traces_begin(struct traces *traces) {
    for (size_t i = 0; i < TRACE_LAYERS; i++) {
        struct trace *trace = &traces->layers[i];
        if (!trace->is_wanted)
            continue;
        int error = collector_count(trace->collector, trace->lanes); /* what was counted so far is dropped */
        for (size_t lane = 0; lane < COLLECTOR_LANES_MAX && layer_names[i][lane] && error == 0; lane++)
            error = open_lane(traces, trace, lane, layer_names[i][lane], i == TRACE_BLOCK);
        trace->is_wanted = error == 0;
        if (error)
            complain("the layer %s is not profiled: %s", layer_names[i][0], strerror(-error));
    }
    traces->disk_requests = block_devices_count_requests(&traces->devices);
}

/* ---- Profiles ----------------------------------------------------------------------------------- */

static int take_lane(const struct traces *traces, size_t layer, unsigned lane, struct recording *layers) {
    const struct trace *trace = &traces->layers[layer];
    struct aggstats_profile profile = {0};
    int error = aggstats_recorder_snapshot(trace->lanes[lane].recorder, &profile);
    if (error)
        return error;
    uint64_t lost = collector_lost(trace->collector);
    if (layer == TRACE_BLOCK) { /* the disks' own counters bound the number of missing requests */
        const uint64_t counted = block_devices_count_requests(&traces->devices) - traces->disk_requests;
        uint64_t calls = 0;
        for (size_t i = 0; i < profile.op_count; i++)
            calls += strstr(profile.ops[i].name, "_QUEUED") ? 0 : profile.ops[i].calls;
        const uint64_t not_counted = counted > calls ? counted - calls : 0;
        lost = lost < not_counted ? lost : not_counted;
    }
    profile.incomplete |= lost > 0;
    if (lane == 0 && lost > 0)
        complain(
            "the layer %s may lack %llu request%s: a program in the kernel is not run on a CPU that is in it already",
            layer_names[layer][lane], (unsigned long long)lost, lost == 1 ? "" : "s");
    error = recording_add(layers, &profile);
    aggstats_profile_finish(&profile);
    return error;
}

void traces_stop(struct traces *traces, struct recording *layers) {
    for (size_t i = 0; i < TRACE_LAYERS; i++) {
        const struct trace *trace = &traces->layers[i];
        int error = trace->is_wanted ? collector_count(trace->collector, trace->lanes) : 0;
        if (error == 0 && trace->is_wanted)
            error = take_lane(traces, i, 0, layers);
        if (error == 0 && trace->is_wanted && i == TRACE_FUSE && traces->has_workers)
            error = take_lane(traces, i, 1, layers);
        if (error)
            complain("the layer %s has no profile: %s", layer_names[i][0], strerror(-error));
    }
}
