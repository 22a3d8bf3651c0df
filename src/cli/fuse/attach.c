#include "attach.h"

#include <poll.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "command.h"
#include "signals.h"

#define COUNT_MS 100                /* between additions to the profile */
#define LOOK_NS INT64_C(1000000000) /* between checks that the mount still exists */

/* ---- While it is profiled ----------------------------------------------------------------------- */

/* Runs until the mount is gone, or a signal ends it. */
static void follow(struct attach_profile *profile, struct signals *signals) {
    struct pollfd event = {.fd = signals->fd, .events = POLLIN};
    int64_t looked_ns = 0;
    for (;;) {
        const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
        if (now_ns - looked_ns >= LOOK_NS) {
            looked_ns = now_ns;
            if (!fuse_mount_is_there(&profile->mount))
                return;
        }
        if (poll(&event, 1, COUNT_MS) > 0 && signals_take_ending(signals) != 0)
            return;
        attach_profile_count(profile);
        if (collector_fuse_has_ended(profile->collector))
            return;
    }
}

/* ---- The beginning ------------------------------------------------------------------------------ */

static int begin(struct attach_profile *ret_profile, const struct attach_options *options, struct fuse_mount *mount) {
    char why[COLLECTOR_WHY_SIZE];
    struct collector *collector = NULL;
    CLEANUP_FREE char *path = strdup(mount->path);
    const struct fuse_requests requests = {
        .connections = {major(mount->device) << 20 | minor(mount->device)}, .connection_count = 1, .are_begun = true};
    int error = collector_start_fuse(&requests, &collector, why);
    if (error == 0) {
        error = attach_profile_start(ret_profile, options, mount, collector, false);
        snprintf(why, sizeof(why), "%s", strerror(-error));
    }
    if (error)
        complain("cannot profile %s: %s", path ? path : "it", why);
    else
        complain("%s is profiled until it is unmounted, or Ctrl-C", path ? path : "it");
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

static int run(const struct attach_options *options, struct fuse_mount *mount) {
    struct attach_profile profile;
    struct signals signals;
    int error = signals_init(&signals);
    if (error) {
        complain("cannot take signals: %s", strerror(-error));
        return error;
    }
    error = begin(&profile, options, mount);
    if (error == 0) {
        follow(&profile, &signals);
        attach_profile_stop(&profile);
        error = attach_profile_end(&profile);
        attach_profile_finish(&profile);
    }
    signals_finish(&signals);
    return error;
}

/* A daemon may hang, and accessing a path below its mount hangs then: so that is done while signals still end us, and
 * later only the mount point itself is accessed. */
int attach_run(const char *mount, const struct attach_options *options) {
    char why[COLLECTOR_WHY_SIZE];
    struct fuse_mount found = {.path = NULL};
    int error = collector_check(why);
    if (error)
        complain("cannot profile %s: %s", mount, why);
    else
        error = find_mount(mount, options, &found);
    if (error == 0)
        error = run(options, &found);
    fuse_mount_finish(&found);
    return error;
}
