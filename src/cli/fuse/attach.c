#include "attach.h"

#include <poll.h>
#include <string.h>

#include "aggstats/lane.h"
#include "base.h"
#include "command.h"
#include "signals.h"
#include "traces.h"

#define LOOK_NS INT64_C(1000000000) /* between checks that the mount, and bpftrace, still exist */
#define EARLY_END_MS 2000

struct attachment {
    const char *directory; /* as given by the user; then the mount point */
    struct signals signals;
    struct traces traces;
    struct bpftrace *bpftrace; /* of these */
    struct attach_profile profile;
    uint64_t missed; /* events */
};

/* ---- While it is traced ------------------------------------------------------------------------- */

static void note_missed(struct attachment *attachment, uint64_t missed) {
    if (missed > attachment->missed)
        aggstats_recorder_add_lost(attachment->profile.recorder, missed - attachment->missed);
    attachment->missed = missed;
}

/* Returns false when it is over. */
static bool look(struct attachment *attachment) {
    if (bpftrace_has_ended(attachment->bpftrace) || !fuse_mount_is_there(&attachment->profile.mount))
        return false;
    note_missed(attachment, bpftrace_count_missed(attachment->bpftrace));
    return true;
}

/* Its output ends a moment before bpftrace itself: waits to see that it has ended by itself. */
static void wait_for_early_end(struct attachment *attachment) {
    for (unsigned i = 0; i < EARLY_END_MS / 10 && !bpftrace_has_ended(attachment->bpftrace); i++)
        poll(NULL, 0, 10);
}

/* Runs until the mount is gone, a signal ends it, or bpftrace has ended. */
static void follow(struct attachment *attachment) {
    struct pollfd events[] = {{.fd = attachment->signals.fd, .events = POLLIN},
                              {.fd = attachment->bpftrace->output_fd, .events = POLLIN}};
    int64_t looked_ns = 0;
    for (;;) {
        const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
        if (now_ns - looked_ns >= LOOK_NS) {
            looked_ns = now_ns;
            if (!look(attachment))
                return;
        }
        int result = 1;
        if (poll(events, ARRAY_SIZE(events), (int)(LOOK_NS / 1000000)) > 0 && events[1].revents)
            result = attach_profile_read(&attachment->profile, attachment->bpftrace->output_fd);
        if (result == 0)
            wait_for_early_end(attachment);
        if (result <= 0)
            return;
        if (attachment->profile.counts.mount_has_ended || signals_take_ending(&attachment->signals) != 0)
            return;
    }
}

/* ---- The end ------------------------------------------------------------------------------------ */

/* bpftrace prints all once more when it ends, and only then its output ends. */
static void read_rest(struct attachment *attachment) {
    struct pollfd event = {.fd = attachment->bpftrace->output_fd, .events = POLLIN};
    while (poll(&event, 1, BPFTRACE_STOP_MS) > 0)
        if (attach_profile_read(&attachment->profile, event.fd) <= 0)
            return;
}

/* Saves what there is of a profile in any case. */
static int end(struct attachment *attachment) {
    bpftrace_stop(attachment->bpftrace);
    read_rest(attachment);
    int error = bpftrace_wait_for_end(attachment->bpftrace, &attachment->signals, "is not profiled to the end");
    if (!attachment->bpftrace->has_ended)
        note_missed(attachment, attachment->bpftrace->missed);
    if (error) /* the number is unknown */
        aggstats_recorder_add_lost(attachment->profile.recorder, 1);
    traces_tell_lacking("fuse", attachment->missed);
    int save_error = attach_profile_end(&attachment->profile);
    attach_profile_finish(&attachment->profile);
    return error ? error : save_error;
}

/* ---- The beginning ------------------------------------------------------------------------------ */

static int begin(struct attachment *attachment, const struct attach_options *options, struct fuse_mount *mount) {
    int signal = 0;
    const struct trace *trace = &attachment->traces.layers[TRACE_FUSE];
    int error = traces_start(&attachment->traces, &attachment->signals, &signal);
    if (error || !trace->is_wanted)
        return error ? error : -EIO;
    traces_begin(&attachment->traces);
    error = attach_profile_start(&attachment->profile, options, mount, trace->task.script);
    if (error)
        complain("cannot profile %s: %s", attachment->directory, strerror(-error));
    else
        complain("%s is profiled until it is unmounted, or Ctrl-C", attachment->directory);
    return error;
}

/* Errors: reported to the user */
static int find_mount(const char *directory, const struct attach_options *options, struct fuse_mount *ret_mount) {
    int error = fuse_mount_at(directory, ret_mount);
    if (error == -ENODEV)
        complain("cannot profile %s: it is on no FUSE file system that is mounted here", directory);
    else if (error)
        complain("cannot profile %s: %s", directory, strerror(-error));
    if (error)
        return error;
    const struct saving saving = {.device = ret_mount->device, .profile = options->profile};
    error = saving_check(&saving);
    if (error)
        complain("cannot write the profile to %s: %s; name another file with -p", options->profile,
                 error == -ELOOP ? "it lies in the mount itself" : strerror(-error));
    return error;
}

static int run(struct attachment *attachment, const struct attach_options *options, struct fuse_mount *mount) {
    int error = signals_init(&attachment->signals);
    if (error) {
        complain("cannot take signals: %s", strerror(-error));
        return error;
    }
    error = begin(attachment, options, mount);
    if (error == 0) {
        follow(attachment);
        error = end(attachment);
    }
    signals_finish(&attachment->signals);
    return error;
}

/* A daemon may hang, and accessing a path below its mount hangs then: so that is done while signals still end us, and
 * later only the mount point itself is accessed. */
int attach_run(const char *mount, const struct attach_options *options) {
    static const bool wanted[TRACE_LAYERS] = {[TRACE_FUSE] = true};
    struct attachment attachment = {.directory = mount};
    struct fuse_mount found = {.path = NULL};
    struct traces *traces = &attachment.traces;
    traces_open(traces, wanted, &attachment.directory, 1, NULL, 0);
    traces_set_live(traces);
    attachment.bpftrace = &traces->layers[TRACE_FUSE].bpftrace;
    int error = traces->layers[TRACE_FUSE].is_wanted ? find_mount(mount, options, &found) : -EIO;
    if (error == 0) {
        CLEANUP_FREE char *path = strdup(found.path);
        attachment.directory = path ? path : mount;
        error = run(&attachment, options, &found);
    }
    fuse_mount_finish(&found);
    traces_finish(traces);
    return error;
}
