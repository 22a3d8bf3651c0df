#include "attach.h"

#include <string.h>

#include "base.h"
#include "command.h"
#include "fuse_mount.h"
#include "mounts.h"

struct watching {
    const struct fuse_mount *mount;
    struct attach_profile profile;
};

/* An attach_is_there_fn. */
static bool is_there(const void *context) {
    const struct watching *watching = context;
    return fuse_mount_is_there(watching->mount) && !collector_fuse_has_ended(watching->profile.collector);
}

/* ---- The beginning ------------------------------------------------------------------------------ */

static int begin(struct watching *watching, const struct attach_options *options) {
    const struct fuse_mount *mount = watching->mount;
    const struct attach_place place = {mount->path, mount->type, mount->source, mount->root, mount->device};
    char why[COLLECTOR_WHY_SIZE];
    struct collector *collector = NULL;
    const struct fuse_requests requests = {
        .connections = {mounts_kernel_device(mount->device)}, .connection_count = 1, .are_begun = true};
    int error = collector_start_fuse(&requests, &collector, why);
    if (error == 0) {
        error = attach_profile_start(&watching->profile, options, &place, collector, false);
        snprintf(why, sizeof(why), "%s", strerror(-error));
    }
    if (error)
        complain("cannot profile %s: %s", mount->path, why);
    else
        complain("%s is profiled until it is unmounted, or Ctrl-C", mount->path);
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
    error = session_check_place(options->session.profile, ret_mount->device);
    if (error)
        complain("cannot write the profile to %s: %s; name another file with -p", options->session.profile,
                 error == -ELOOP ? "it lies in the mount itself" : strerror(-error));
    return error;
}

static int run(const struct attach_options *options, const struct fuse_mount *mount) {
    struct watching watching = {.mount = mount};
    struct attach_profile *profile = &watching.profile;
    struct signals signals;
    int error = signals_init(&signals);
    if (error)
        return error;
    error = begin(&watching, options);
    if (error == 0) {
        attach_profile_follow(profile, &signals, INT64_MAX, is_there, &watching);
        attach_profile_stop(profile);
        error = attach_profile_end(profile);
        attach_profile_finish(profile);
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
