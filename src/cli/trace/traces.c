/* Starting traces, and making profiles of their output. */
#include "traces.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "aggstats/user_label.h"
#include "base.h"
#include "command.h"
#include "imported_parse.h"
#include "imported_profile.h"
#include "mounts.h"

static const char fuse_script[] =
#include "fuse.bt.inc"
    ;
/* Prints both maps, and a mark behind them, which says when this was requested, and whether the mount has ended: the
 * next INIT belongs to another mount, even if no request of this one was seen. Workers are not printed; a daemon may
 * have any number in the course of days, so they are cleared. */
static const char live_probe[] = "interval:ms:250 {\n"
                                 "\tprint(@ns);\n"
                                 "\tprint(@ns_total);\n"
                                 "\tprintf(\"%llu %llu\\n\", nsecs, (uint64)@ended[(uint32)$1]);\n"
                                 "\t@seen[(uint32)$1] = 1;\n"
                                 "\tclear(@free);\n"
                                 "}\n";
static const char block_script[] =
#include "block.bt.inc"
    ;

static const struct bpftrace_task tasks[TRACE_LAYERS] = {
    [TRACE_FUSE] = {.layer = "fuse",
                    .script = fuse_script,
                    .tracepoint = "fuse/fuse_request_send",
                    .since = "since Linux 6.11"},
    [TRACE_BLOCK] = {.layer = "block",
                     .script = block_script,
                     .tracepoint = "block/block_rq_issue",
                     .since = "where it has block devices"},
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

static void check_bpftrace(struct traces *traces) {
    if (geteuid() != 0) {
        give_up_all(traces, "only root may trace the kernel");
        return;
    }
    int error = bpftrace_find(&traces->place);
    if (error == -ENOENT)
        give_up_all(traces, "bpftrace is not in PATH; install the package bpftrace");
    else if (error)
        give_up_all(traces, strerror(-error));
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
                 size_t directory_count, const char *const *labels, size_t label_count) {
    struct traces *traces = ret_traces;
    *traces = (struct traces){.place = {.namespace_fd = -1, .root_fd = -1},
                              .directories = directories,
                              .directory_count = directory_count,
                              .labels = labels,
                              .label_count = label_count};
    for (size_t i = 0; i < TRACE_LAYERS; i++) {
        traces->layers[i].is_wanted = wanted[i];
        traces->layers[i].task = tasks[i];
        bpftrace_init(&traces->layers[i].bpftrace, &traces->place, &traces->layers[i].task);
    }
    if (!any_wanted(traces))
        return;
    traces->lower = join_paths(directories, directory_count);
    check_bpftrace(traces);
    if (traces->layers[TRACE_BLOCK].is_wanted)
        find_disks(traces);
}

void traces_set_live(struct traces *traces) {
    struct bpftrace_task *task = &traces->layers[TRACE_FUSE].task;
    task->live_probe = live_probe;
}

void traces_finish(struct traces *traces) {
    for (size_t i = 0; i < TRACE_LAYERS; i++) {
        struct trace *trace = &traces->layers[i];
        if (trace->bpftrace.task)
            bpftrace_finish(&trace->bpftrace);
        for (size_t j = 0; j < trace->task.argument_count; j++)
            free(trace->task.arguments[j]);
    }
    bpftrace_place_finish(&traces->place);
    free(traces->lower);
}

/* ---- Starting ----------------------------------------------------------------------------------- */

/* Errors: -ENOMEM, -E2BIG */
static int add_argument(struct bpftrace_task *task, unsigned number) {
    if (task->argument_count == BPFTRACE_ARGUMENTS_MAX)
        return -E2BIG;
    char **argument = &task->arguments[task->argument_count];
    if (asprintf(argument, "%u", number) < 0) {
        *argument = NULL;
        return -ENOMEM;
    }
    task->argument_count++;
    return 0;
}

/* Connections are identified by the device numbers of their file systems, in the kernel's form.
 * Errors:  -ENODEV it is no FUSE file system */
static int find_connection(const char *directory, unsigned *ret_connection) {
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry entry;
    dev_t device;
    int error = mounts_device_at(directory, &device);
    if (error)
        return error;
    mounts_open(&table);
    while (mounts_next(&table, &entry)) {
        if (mounts_is_fuse(&entry) && entry.device == device) {
            *ret_connection = major(device) << 20 | minor(device);
            return 0;
        }
    }
    return -ENODEV;
}

static void add_connections(struct traces *traces) {
    struct trace *trace = &traces->layers[TRACE_FUSE];
    for (size_t i = 0; i < traces->directory_count; i++) {
        const char *name = traces->directories[i];
        unsigned connection = 0;
        int error = find_connection(name, &connection);
        if (error == 0)
            error = add_argument(&trace->task, connection);
        if (error == -ENODEV)
            complain("the layer fuse does not see %s: it is on no FUSE file system, and not profiled as layer fs",
                     name);
        else if (error == -E2BIG)
            complain("the layer fuse does not see %s: there are more than %d mounts", name, BPFTRACE_ARGUMENTS_MAX);
        else if (error)
            complain("the layer fuse does not see %s: %s", name, strerror(-error));
    }
    trace->is_wanted = trace->task.argument_count > 0;
}

static void add_disks(struct traces *traces) {
    struct trace *trace = &traces->layers[TRACE_BLOCK];
    int error = 0;
    for (size_t i = 0; i < traces->devices.count && error == 0; i++) {
        const struct block_device *device = &traces->devices.devices[i];
        error = add_argument(&trace->task, device->major);
        if (error == 0)
            error = add_argument(&trace->task, device->minor);
    }
    trace->is_wanted = error == 0;
    if (error)
        complain("the layer block is not profiled: %s", strerror(-error));
}

/* All are started at the same time. */
static void begin_to_start(struct traces *traces, const struct signals *signals) {
    for (size_t i = 0; i < TRACE_LAYERS; i++) {
        struct trace *trace = &traces->layers[i];
        if (trace->is_wanted)
            trace->is_wanted = bpftrace_start(&trace->bpftrace, signals) == 0;
    }
}

int traces_start(struct traces *traces, const struct signals *signals, int *ret_signal) {
    if (traces->layers[TRACE_FUSE].is_wanted)
        add_connections(traces);
    if (traces->layers[TRACE_BLOCK].is_wanted)
        add_disks(traces);
    begin_to_start(traces, signals);
    for (size_t i = 0; i < TRACE_LAYERS; i++) {
        struct trace *trace = &traces->layers[i];
        int error = trace->is_wanted ? bpftrace_wait(&trace->bpftrace, signals, ret_signal) : 0;
        if (error == -EINTR)
            return error;
        trace->is_wanted = trace->is_wanted && error == 0;
    }
    return 0;
}

void traces_begin(struct traces *traces) {
    for (size_t i = 0; i < TRACE_LAYERS; i++)
        if (traces->layers[i].is_wanted)
            bpftrace_begin(&traces->layers[i].bpftrace);
    traces->disk_requests = block_devices_count_requests(&traces->devices);
    traces->start_ns = read_clock_ns(CLOCK_REALTIME);
    traces->begin_ns = read_clock_ns(CLOCK_MONOTONIC);
}

/* ---- Profiles ----------------------------------------------------------------------------------- */

/* A label is one line. */
static int add_line(struct aggstats_profile *profile, const char *key, char *text) {
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return aggstats_profile_add_label(profile, key, text);
}

static int add_host(struct aggstats_profile *profile) {
    char host[HOST_NAME_MAX + 1] = "";
    gethostname(host, sizeof(host) - 1);
    return aggstats_profile_add_label(profile, "host", host);
}

static int add_devices(struct aggstats_profile *profile, const struct block_devices *devices) {
    char text[BLOCK_DEVICES_MAX * (BLOCK_DEVICES_NAME_SIZE + 2)] = "";
    size_t length = 0;
    for (size_t i = 0; i < devices->count; i++)
        length +=
            (size_t)snprintf(text + length, sizeof(text) - length, "%s%s", i > 0 ? ", " : "", devices->devices[i].name);
    return add_line(profile, "devices", text);
}

static int add_user_labels(struct aggstats_profile *profile, const struct traces *traces) {
    int error = 0;
    for (size_t i = 0; i < traces->label_count && error == 0; i++) {
        char key[USER_LABEL_HEADER_SIZE];
        const char *value = user_label_split(traces->labels[i], key);
        error = aggstats_profile_add_label(profile, key, value);
    }
    return error;
}

static int add_header(struct aggstats_profile *profile, const struct traces *traces, enum trace_layer layer) {
    profile->has_start = true;
    profile->start_ns = traces->start_ns;
    profile->has_elapsed = true;
    profile->elapsed_cycles = (uint64_t)(traces->end_ns - traces->begin_ns);
    int error = add_host(profile);
    if (error == 0 && traces->lower)
        error = add_line(profile, "lower", traces->lower);
    if (error == 0 && layer == TRACE_BLOCK)
        error = add_devices(profile, &traces->devices);
    return error ? error : add_user_labels(profile, traces);
}

/* One of the profiles made from a script's output. */
struct printed {
    const char *text;
    size_t size_bytes;
    const char *map;
    const char *layer;
    bool is_part; /* its calls are also in the one before */
};

/* The number of requests to a place of a disk at which there was another one: block.bt. */
static uint64_t count_same(const struct imported *imported) {
    uint64_t count = 0;
    for (size_t i = 0; i < imported->total_count; i++)
        count += strcmp(imported->totals[i].map, "@same") == 0 ? imported->totals[i].total : 0;
    return count;
}

static int make_profile(const struct printed *printed, struct aggstats_profile *ret_profile, uint64_t *ret_same,
                        struct aggstats_parse_error *ret_why) {
    const struct imported_options options = {
        .map = printed->map, .layer = printed->layer, .source = "bpftrace", .may_be_empty = true};
    struct imported imported = {0};
    int error = imported_parse(printed->text, printed->size_bytes, &imported, ret_why);
    if (error == 0)
        error = imported_profile(&imported, &options, ret_profile, ret_why);
    *ret_same = count_same(&imported);
    imported_finish(&imported);
    return error;
}

/* Requests that are missing in the profile. */
struct lacking {
    uint64_t missed; /* bpftrace got no event for them */
    uint64_t same;   /* another one was at the same place */
};

/* The disks' own counters bound the number of missing requests. Two requests for one place that begin at once on two
 * CPUs do not see each other, so if there are any such, all of the rest may be. */
static void limit_lacking(const struct traces *traces, const struct aggstats_profile *profile,
                          struct lacking *lacking) {
    uint64_t calls = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        calls += strstr(profile->ops[i].name, "_QUEUED") ? 0 : profile->ops[i].calls;
    const uint64_t not_traced = traces->disk_requests > calls ? traces->disk_requests - calls : 0;
    lacking->missed = lacking->missed < not_traced ? lacking->missed : not_traced;
    lacking->same = lacking->same > 0 ? not_traced - lacking->missed : 0;
}

void traces_tell_lacking(const char *layer, uint64_t lacking) {
    if (lacking > 0)
        complain("the layer %s may lack %llu request%s: bpftrace gets no event of a CPU while it handles another there",
                 layer, (unsigned long long)lacking, lacking == 1 ? "" : "s");
}

static void tell_same(const char *layer, uint64_t lacking) {
    if (lacking > 0)
        complain("the layer %s lacks %llu request%s: several at a time for one place of a disk cannot be told apart",
                 layer, (unsigned long long)lacking, lacking == 1 ? "" : "s");
}

/* Errors: reported to the user */
static int add_profile(struct traces *traces, enum trace_layer layer, const struct printed *printed,
                       struct recording *layers) {
    struct aggstats_profile profile = {0};
    struct aggstats_parse_error why = {.message = ""};
    struct lacking lacking = {.missed = traces->layers[layer].bpftrace.missed};
    int error = make_profile(printed, &profile, &lacking.same, &why);
    if (error == 0)
        error = add_header(&profile, traces, layer);
    if (error == 0) {
        if (layer == TRACE_BLOCK)
            limit_lacking(traces, &profile, &lacking);
        profile.incomplete = lacking.missed > 0 || lacking.same > 0;
        if (!printed->is_part)
            traces_tell_lacking(printed->layer, lacking.missed);
        tell_same(printed->layer, lacking.same);
        error = recording_add(layers, &profile);
    }
    if (error)
        complain("the layer %s has no profile: what bpftrace printed: %s", printed->layer,
                 error == -EBADMSG ? why.message : strerror(-error));
    aggstats_profile_finish(&profile);
    return error;
}

/* Errors: reported to the user */
static int take(struct traces *traces, enum trace_layer layer, const struct signals *signals,
                struct recording *layers) {
    CLEANUP_FREE char *text = NULL;
    struct printed printed = {.map = "ns", .layer = tasks[layer].layer};
    int error = bpftrace_read(&traces->layers[layer].bpftrace, signals, &text, &printed.size_bytes);
    if (error)
        return error;
    printed.text = text;
    error = add_profile(traces, layer, &printed, layers);
    if (error || layer != TRACE_FUSE || !traces->has_workers)
        return error;
    printed.map = "queue_ns";
    printed.layer = "queue";
    printed.is_part = true;
    return add_profile(traces, layer, &printed, layers);
}

void traces_stop(struct traces *traces, const struct signals *signals, struct recording *layers) {
    traces->end_ns = read_clock_ns(CLOCK_MONOTONIC);
    traces->disk_requests = block_devices_count_requests(&traces->devices) - traces->disk_requests;
    for (size_t i = 0; i < TRACE_LAYERS; i++)
        if (traces->layers[i].is_wanted)
            bpftrace_stop(&traces->layers[i].bpftrace);
    for (size_t i = 0; i < TRACE_LAYERS; i++)
        if (traces->layers[i].is_wanted)
            take(traces, (enum trace_layer)i, signals, layers);
}
