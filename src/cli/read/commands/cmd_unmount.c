/* osprof unmount: unmounts, and waits for the final profile. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "base.h"
#include "command.h"
#include "control_socket.h"
#include "live_files.h"
#include "mounts.h"
#include "option_table.h"
#include "path.h"
#include "screen.h"

#define USUAL_MS 2000 /* after this a message says what is being waited for */
#define STEP_MS 10
#define FOR_EVER (-1)

/* The daemon removes the file when the profile is saved elsewhere. */
static bool is_removed(int live_fd) {
    struct stat attr;
    return fstat(live_fd, &attr) == 0 && attr.st_nlink == 0;
}

static enum status complain_left(const struct live_file *live) {
    complain("the profile is in %s, since osproffs could not write it; osprof save %s -o FILE saves it", live->path,
             live->path);
    return STATUS_TROUBLE;
}

static enum status tell_saved(const char *profile) {
    const struct screen screen = {.stream = stdout};
    fputs(profile[0] == '/' ? "The profile is in " : "The profile went to ", stdout); /* "standard output" */
    screen_print_untrusted(&screen, INK_PLAIN, profile);
    puts(".");
    return STATUS_OK;
}

/* Waits for the end of a daemon, which keeps its live file locked until then, and may have removed it long before: one of
 * its open files may hang. most_ms: or FOR_EVER.
 * Errors:  -EWOULDBLOCK it takes longer */
static int wait_for(int live_fd, int most_ms) {
    const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
    for (int waited_ms = 0;; waited_ms += STEP_MS) {
        int result = 0;
        if (is_removed(live_fd))
            return 0;
        do
            result = flock(live_fd, LOCK_SH | LOCK_NB);
        while (result < 0 && errno == EINTR);
        const int error = result < 0 ? negative_errno() : 0;
        if (error != -EWOULDBLOCK || (most_ms != FOR_EVER && waited_ms >= most_ms))
            return error;
        nanosleep(&step, NULL);
    }
}

/* A file system stays alive at other places where it is mounted, by mount --bind or in other mount namespaces. */
static void complain_waiting(const char *path, const struct live_file *live) {
    complain(
        "%s is unmounted; waiting until osproffs (process %ld) has written the profile; if it takes long: it hangs, "
        "or is also mounted elsewhere ('findmnt -t fuse.osproffs', 'lsns -t mnt')",
        path, (long)live->info.pid);
}

/* Without an answer of the daemon: judges by the live file where the profile was to be saved, and whether anything is
 * left. */
static enum status wait_for_end(const char *path, const struct live_file *live, int live_fd) {
    const char *profile = aggstats_profile_label(&live->profile, "profile");
    int error = wait_for(live_fd, USUAL_MS);
    if (error == -EWOULDBLOCK) {
        complain_waiting(path, live);
        error = wait_for(live_fd, FOR_EVER);
    }
    if (error) {
        complain("cannot wait for the profile: %s: %s", live->path, strerror(-error));
        return STATUS_TROUBLE;
    }
    if (!is_removed(live_fd))
        return complain_left(live);
    return profile ? tell_saved(profile) : STATUS_OK;
}

/* The daemon says what has become of the profile. One that is killed does not answer: then the live file is examined. */
static enum status wait_for_outcome(const char *path, const struct live_file *live, int live_fd, int answer_fd) {
    CLEANUP_FREE char *outcome = NULL;
    int error = control_socket_outcome(answer_fd, USUAL_MS, &outcome);
    if (error == -EAGAIN) {
        complain_waiting(path, live);
        error = control_socket_outcome(answer_fd, -1, &outcome);
    }
    if (error)
        return wait_for_end(path, live, live_fd);
    (void)wait_for(live_fd, USUAL_MS); /* it is about to end */
    const char *place = strchr(outcome, ' ');
    const char *wanted = aggstats_profile_label(&live->profile, "profile");
    if (place && strncmp(outcome, "saved ", 6) == 0)
        return tell_saved(place + 1);
    if (place && strncmp(outcome, "live ", 5) == 0)
        return complain_left(live);
    if (place && strncmp(outcome, "elsewhere ", 10) == 0)
        complain("the profile is in %s, since osproffs could not write it to %s", place + 1,
                 wanted ? wanted : "its place");
    else
        complain("the profile is lost: osproffs could write it nowhere; its log has what it could tell");
    return STATUS_TROUBLE;
}

/* umount(8) returns when the mount is gone, this when its profile is saved.
 * live: of the osproffs that serves the mount; left: of a killed osproffs. NULL: there is none */
static enum status unmount_found(const char *path, const struct live_file *live, const struct live_file *left) {
    CLEANUP_FD int live_fd = live ? open(live->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    CLEANUP_FREE char *socket = live ? live_file_socket(live) : NULL;
    CLEANUP_FD int answer_fd = -1; /* asked for before unmounting */
    if (!socket || control_socket_await_end(socket, &answer_fd) != 0)
        answer_fd = -1;
    struct statfs attributes;
    const bool is_dead = !live && statfs(path, &attributes) < 0 && errno == ENOTCONN;
    int error = mounts_unmount(path, 0);
    if (error) {
        complain("cannot unmount %s: %s%s", path, strerror(-error),
                 error == -EBUSY ? "; something still uses it ('fuser -vm' tells what)"
                 : error == -EPERM || error == -EACCES
                     ? "; only who mounted it, and root, may, and nobody while it is in use ('fuser -vm' tells by what)"
                     : "");
        return STATUS_TROUBLE;
    }
    if (live_fd >= 0 && answer_fd >= 0)
        return wait_for_outcome(path, live, live_fd, answer_fd);
    if (live_fd >= 0)
        return wait_for_end(path, live, live_fd);
    if (is_dead && !left) {
        complain("%s is unmounted; its osproffs had been killed, and no live file that you may read is of it", path);
        return STATUS_OK;
    }
    if (left)
        complain(
            "%s is unmounted; its osproffs had been killed: its profile is in %s, and osprof save %s -o FILE saves it",
            path, left->path, left->path);
    else
        complain("%s is unmounted; without a live file that you may read it is not known when its profile is written",
                 path);
    return STATUS_TROUBLE;
}

/* Takes mounts of osproffs, and of other FUSE daemons that osprof fuse profiles. Nothing is asked that may hang: the
 * kernel knows the mount's own directory. */
static enum status unmount_and_wait(const char *mount) {
    char *real = realpath(mount, NULL);
    CLEANUP_FREE char *path = real ? real : path_normalise(mount); /* as in the table of mounts */
    CLEANUP_LIVE_FILES struct live_files files = {0};
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    if (!path || live_files_find(&files) < 0) {
        complain("cannot unmount %s: no memory", mount);
        return STATUS_TROUBLE;
    }
    mounts_open(&table);
    const struct live_file *live = live_files_serving(&files, path);
    const struct live_file *left = live_files_left(&files, path);
    if (!mounts_at(&table, path, &entry) || !(mounts_is_profiled(&entry) || (mounts_is_fuse(&entry) && live))) {
        complain("cannot unmount %s: no mount of osproffs is there; 'findmnt -t fuse.osproffs' lists them", mount);
        return STATUS_TROUBLE;
    }
    /* If mounts cover each other the last one is unmounted, and that one may be dead. */
    if (live && left && left->profile.start_ns > live->profile.start_ns)
        live = NULL;
    return unmount_found(path, live, left);
}

/* ---- The command -------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    ROW_MOUNT_ARGUMENTS(DIRECTORIES, "MOUNT"),
    {.kind = OPTION_END},
};

static enum status run_unmount(const struct command *command, int argc, char **argv) {
    struct arguments arguments;
    enum status status;
    if (!options_parse(command, argc, argv, NULL, &arguments, &status))
        return status;
    if (arguments.rest_count != 1)
        return usage_error(command, "exactly one mount point must be given");
    return unmount_and_wait(arguments.rest[0]);
}

const struct command command_unmount = {
    .name = "unmount",
    .summary = "unmounts, and waits until the final profile is written",
    .help =
        "Unmounts the mount MOUNT of osproffs, or of a daemon that osprof fuse profiles, waits until its final "
        "profile is written, and prints where it is. umount and fusermount3 return earlier. Permitted: the user who "
        "mounted it, and root.",
    .options = rows,
    .common = COMMON_QUIET,
    .run = run_unmount,
};
