#include "attach.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "command.h"
#include "mounts.h"
#include "path.h"
#include "signals.h"
#include "traces.h"

#define LOOK_MS 1000

/* A mount, by the table of mounts: the next one may be given its device number, but hardly its place. */
struct place {
    dev_t device;
    char *path; /* NULL: it is on no FUSE mount */
};

static void find_place(const char *directory, struct place *ret_place) {
    CLEANUP_FREE char *path = realpath(directory, NULL);
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry entry;
    *ret_place = (struct place){.path = NULL};
    if (!path || mounts_device_at(path, &ret_place->device) < 0)
        return;
    mounts_open(&table);
    while (mounts_next(&table, &entry)) {
        if (entry.device != ret_place->device || !mounts_is_fuse(&entry) || !path_below(path, entry.path))
            continue;
        free(ret_place->path);
        ret_place->path = strdup(entry.path);
    }
}

static bool is_mounted(const struct place *place) {
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry entry;
    bool found = false;
    mounts_open(&table);
    while (place->path && !found && mounts_next(&table, &entry))
        found = entry.device == place->device && strcmp(entry.path, place->path) == 0;
    return found;
}

static void wait_for_end(const struct signals *signals, const struct place *place) {
    struct signalfd_siginfo info;
    while (is_mounted(place))
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
    struct place place;
    find_place(mount, &place);
    int error = traces_start(traces, signals, &signal);
    if (error == 0 && traces->layers[TRACE_FUSE].is_wanted) {
        fprintf(stderr, "osprof: %s is profiled until it is unmounted, or Ctrl-C\n", mount);
        traces_begin(traces);
        wait_for_end(signals, &place);
        traces_stop(traces, signals, layers);
    }
    free(place.path);
    return error ? error : layers->count > 0 ? 0 : -EIO;
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
