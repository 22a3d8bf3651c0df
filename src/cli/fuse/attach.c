#include "attach.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "command.h"
#include "mounts.h"
#include "signals.h"
#include "traces.h"

#define LOOK_MS 1000

/* Without asking the mount. */
static bool is_mounted(dev_t device) {
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry entry;
    bool found = false;
    mounts_open(&table);
    while (!found && mounts_next(&table, &entry))
        found = entry.device == device && mounts_is_fuse(&entry);
    return found;
}

static dev_t device_of(const char *mount) {
    struct statx attr;
    if (statx(AT_FDCWD, mount, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, 0, &attr) < 0)
        return 0;
    return makedev(attr.stx_dev_major, attr.stx_dev_minor);
}

static void wait_for_end(const struct signals *signals, dev_t device) {
    struct signalfd_siginfo info;
    while (is_mounted(device))
        if (signals_ends(signals_take(signals, LOOK_MS, &info)))
            return;
}

static int save(const struct recording *layers, const char *profile, bool keeps_old) {
    CLEANUP_FD int dir_fd = -1;
    CLEANUP_FREE char *text = NULL;
    CLEANUP_FREE char *backup = NULL;
    const char *name;
    size_t size_bytes;
    int error = open_parent(AT_FDCWD, profile, &dir_fd, &name);
    if (error == 0 && keeps_old && asprintf(&backup, "%s.old", name) < 0)
        error = -ENOMEM;
    if (error == 0)
        error = recording_format(layers, &text, &size_bytes);
    if (error == 0)
        error = replace_file(dir_fd, name, backup, recording_mode(layers), text, size_bytes);
    if (error)
        complain("cannot write the profile to %s: %s", profile, strerror(-error));
    return error;
}

/* Errors: told to the user; -EINTR: a signal came before anything was traced */
static int trace(struct traces *traces, const struct signals *signals, const char *mount, struct recording *layers) {
    int signal = 0;
    int error = traces_start(traces, signals, &signal);
    if (error || !traces->layers[TRACE_FUSE].is_wanted)
        return error ? error : -EIO;
    fprintf(stderr, "osprof: %s is profiled until it is unmounted, or Ctrl-C\n", mount);
    traces_begin(traces);
    wait_for_end(signals, device_of(mount));
    traces_stop(traces, signals, layers);
    return layers->count > 0 ? 0 : -EIO;
}

int attach_run(const char *mount, const char *profile, bool keeps_old, const struct option_list *labels) {
    static const bool wanted[TRACE_LAYERS] = {[TRACE_FUSE] = true};
    struct signals signals;
    struct traces traces;
    struct recording layers = {.layers = NULL};
    int error = signals_init(&signals);
    if (error) {
        complain("cannot take signals: %s", strerror(-error));
        return error;
    }
    traces_open(&traces, wanted, &mount, 1, labels->texts, labels->count);
    error = traces.layers[TRACE_FUSE].is_wanted ? trace(&traces, &signals, mount, &layers) : -EIO;
    if (error == 0)
        error = save(&layers, profile, keeps_old);
    traces_finish(&traces);
    recording_finish(&layers);
    signals_finish(&signals);
    return error;
}
