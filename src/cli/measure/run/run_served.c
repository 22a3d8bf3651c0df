/* The process beside the daemon is asked at its socket, before the command runs and when nothing more comes. */
#include "run_served.h"

#include <string.h>

#include "base.h"
#include "command.h"
#include "control_socket.h"
#include "figures.h"
#include "live_files.h"
#include "mounts.h"

#define SETTLE_STEP_NS 5000000
#define SETTLE_NS INT64_C(200000000)
#define QUIET_LOOKS 4 /* a daemon may get no CPU for a while between requests */

/* ---- Finding ------------------------------------------------------------------------------------ */

/* One of the mount points of the directory's file system is in the live file. A daemon that is profiled from outside does
 * not count: such a profile is of the kernel's requests.
 * Errors: -ENOENT, -ENOMEM */
static int find_socket(const struct live_files *files, const char *directory, char **ret_socket) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    const struct live_file *file = NULL;
    dev_t device;
    if (mounts_device_at(directory, &device) < 0)
        return -ENOENT;
    mounts_open(&table);
    while (!file && mounts_next(&table, &entry))
        if (entry.device == device && mounts_is_fuse(&entry))
            file = live_files_serving(files, entry.path);
    const char *layer = file ? aggstats_profile_label(&file->profile, "layer") : NULL;
    const char *control =
        layer && strcmp(layer, "daemon") == 0 ? aggstats_profile_label(&file->profile, "control") : NULL;
    if (!control || control[0] != '/')
        return -ENOENT;
    *ret_socket = strdup(control);
    return *ret_socket ? 0 : -ENOMEM;
}

int run_served_find(const char *const *directories, size_t count, struct run_served *ret_served,
                    const char **ret_name) {
    CLEANUP_LIVE_FILES struct live_files files = {.files = NULL};
    CLEANUP_FREE char *socket = NULL;
    int error = live_files_find(&files);
    for (size_t i = 0; i < count && error == 0; i++) {
        CLEANUP_FREE char *other = NULL;
        *ret_name = directories[i];
        error = find_socket(&files, directories[i], &other);
        if (error == 0 && socket && strcmp(socket, other) != 0)
            error = -EXDEV;
        if (error == 0 && !socket)
            socket = steal_pointer(&other);
    }
    if (error == 0)
        *ret_served = (struct run_served){.socket = steal_pointer(&socket)};
    return error;
}

void run_served_finish(struct run_served *served) {
    free(served->socket);
    aggstats_profile_finish(&served->before);
    *served = (struct run_served){.socket = NULL};
}

/* ---- Profiles ----------------------------------------------------------------------------------- */

/* Errors: reported to the user */
static int ask(const struct run_served *served, struct aggstats_profile *ret_profile) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    struct aggstats_parse_error why = {.message = ""};
    int error = control_socket_ask(served->socket, "show\n", NULL, &text, &size_bytes);
    CLEANUP_STREAM FILE *stream = error == 0 && size_bytes > 0 ? fmemopen(text, size_bytes, "r") : NULL;
    if (error == 0)
        error = stream ? aggstats_profile_parse(stream, ret_profile, &why) : -EIO;
    if (error)
        complain("the layer daemon is not profiled: %s does not tell its profile: %s", served->socket,
                 error == -EBADMSG ? why.message : strerror(-error));
    return error;
}

/* Waits until nothing more comes: a program that closes a file does not wait until the daemon learns that. Others may
 * use the mount all the time, so the wait is bounded.
 * Errors:  reported to the user */
static int ask_when_settled(const struct run_served *served, struct aggstats_profile *ret_profile) {
    const struct timespec step = {.tv_nsec = SETTLE_STEP_NS};
    const int64_t end_ns = read_clock_ns(CLOCK_MONOTONIC) + SETTLE_NS;
    wide_count calls_before = WIDE_COUNT_MAX;
    for (unsigned quiet_looks = 0;;) {
        int error = ask(served, ret_profile);
        if (error)
            return error;
        const wide_count calls = figures_sum(ret_profile).calls;
        const bool is_quiet = calls == calls_before && ret_profile->in_flight_count == 0;
        quiet_looks = is_quiet ? quiet_looks + 1 : 0;
        if (quiet_looks == QUIET_LOOKS || read_clock_ns(CLOCK_MONOTONIC) >= end_ns)
            return 0;
        calls_before = calls;
        aggstats_profile_finish(ret_profile);
        nanosleep(&step, NULL);
    }
}

/* UINT64_MAX: unknown. */
static uint64_t ask_handed_over(const struct run_served *served) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    char *end = NULL;
    if (control_socket_ask(served->socket, "handed_over\n", NULL, &text, &size_bytes) < 0)
        return UINT64_MAX;
    const uint64_t count = strtoull(text, &end, 10);
    return end > text ? count : UINT64_MAX;
}

int run_served_begin(struct run_served *served) {
    aggstats_profile_finish(&served->before);
    if (!served->socket)
        return 0;
    served->handed_over_before = ask_handed_over(served);
    return ask(served, &served->before);
}

int run_served_stop(struct run_served *served, struct recording *layers) {
    struct aggstats_profile profile = {0};
    if (!served->socket)
        return 0;
    int error = ask_when_settled(served, &profile);
    if (error)
        return error;
    const uint64_t handed_over = ask_handed_over(served);
    served->has_workers = handed_over != UINT64_MAX && handed_over == served->handed_over_before;
    error = aggstats_profile_subtract(&profile, &served->before);
    if (error == 0)
        error = recording_add(layers, &profile);
    if (error == -ERANGE)
        complain("the layer daemon is not profiled: its profile was reset meanwhile");
    else if (error)
        complain("the layer daemon is not profiled: %s", strerror(-error));
    aggstats_profile_finish(&profile);
    return error;
}
