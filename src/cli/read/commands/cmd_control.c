/* osprof reset, groups, dump, rotate and unmount: commands to a mount, a row each. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base.h"
#include "command.h"
#include "control_socket.h"
#include "live_files.h"
#include "mount_command.h"
#include "mounts.h"
#include "option_table.h"
#include "path.h"
#include "screen.h"

#define USUAL_MS 2000 /* after this a message says what is being waited for */
#define STEP_MS 10
#define FOR_EVER (-1)

static const struct option_row mount_rows[] = {
    ROW_MOUNT_ARGUMENTS(DIRECTORIES, "MOUNT"),
    {.kind = OPTION_END},
};

static const struct option_row mount_and_groups_rows[] = {
    ROW_MOUNT_ARGUMENTS(TEXT, "MOUNT KIND[+KIND...]|off"),
    {.kind = OPTION_END},
};

static const struct option_row mount_and_file_rows[] = {
    ROW_MOUNT_ARGUMENTS(FILE, "MOUNT [FILE]"),
    {.kind = OPTION_END},
};

/* ---- Commands ----------------------------------------------------------------------------------- */

static const char *why_not_saved(int error, const char *file) {
    return error == -EINVAL && !file ? "it has none, as with -o rotate or of osprof attach, so name a file" : NULL;
}

static const char *why_not_rotated(int error, const char *file) {
    switch (error) {
    case -EEXIST:
        return "it is there already; choose a new name";
    case -EBUSY:
        return "the final profile of the mount goes there; choose another name";
    case -EINVAL:
        return file ? "osproffs is too old" : "only a mount of osproffs with -o rotate names its files, so name one";
    default:
        return NULL;
    }
}

static const char *why_not_grouped(int error, const char *kinds) {
    (void)kinds;
    switch (error) {
    case -EBUSY:
        return "others are on; 'off' ends them, and forgets their calls";
    case -EINVAL:
        return "must be off, or some of process, program, cgroup, uid, file, directory and directory:N, such as "
               "program+file; osprof fuse, osprof attach and an older osproffs cannot switch them";
    case -EOPNOTSUPP:
        return "nothing is recorded there (osproffs -o timing)";
    default:
        return NULL;
    }
}

static const struct mount_verb groups = {
    .verb = "groups",
    .use = MOUNT_NO_FILE,
    .files_min = 1,
    .files_max = 1,
    .wrong_usage = "a mount point must be given, and of what there are groups, or off",
    .failed = "cannot switch groups of",
    .to = "to",
    .why = why_not_grouped,
};

static const struct mount_verb reset = {
    .verb = "reset",
    .wrong_usage = "exactly one mount point must be given",
    .failed = "cannot reset the profile of",
};

static const struct mount_verb dump = {
    .verb = "dump",
    .use = MOUNT_FILE_REPLACED,
    .files_max = 1,
    .wrong_usage = "a mount point must be given, and at most one file",
    .failed = "cannot save the profile of",
    .to = "in",
    .no_file = "the place of its final profile",
    .why = why_not_saved,
};

static const struct mount_verb rotate = {
    .verb = "rotate",
    .use = MOUNT_FILE_NEW,
    .files_max = 1,
    .wrong_usage = "a mount point and a new file must be given",
    .failed = "cannot rotate the profile of",
    .to = "into",
    .no_file = "the next of its files",
    .unchanged = "; the profile is unchanged",
    .why = why_not_rotated,
};

/* ---- Unmounting --------------------------------------------------------------------------------- */

/* The daemon removes the file when the profile is saved elsewhere. */
static bool is_removed(int live_fd) {
    struct stat attr;
    return fstat(live_fd, &attr) == 0 && attr.st_nlink == 0;
}

static enum status complain_left(const struct live_file *live) {
    complain("the profile is in %s, since osproffs could not write it; 'osprof recover' saves it", live->path);
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
    complain("%s is unmounted; waiting for the profile until osproffs (process %ld) ends: it hangs, or is also mounted "
             "elsewhere ('findmnt -t fuse.osproffs', 'lsns -t mnt')",
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
    if (left)
        complain("%s is unmounted; its osproffs had been killed: the profile is in %s, and 'osprof recover' saves it",
                 path, left->path);
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

static const struct mount_verb unmount = {
    .wrong_usage = "exactly one mount point must be given",
    .act = unmount_and_wait,
};

/* ---- The commands ------------------------------------------------------------------------------- */

const struct command command_reset = {
    .name = "reset",
    .summary = "starts the profile of a mount afresh",
    .help = "Counts from now on: what the profile of the osproffs mount MOUNT held until now is no longer "
            "shown, nor in the final profile. Who mounted it may, unless that is root, "
            "and who has CAP_SYS_ADMIN.",
    .options = mount_rows,
    .run = mount_verb_run,
    .mount_verb = &reset,
};

const struct command command_groups = {
    .name = "groups",
    .summary = "switches on which files a mount tells, and whose calls",
    .help =
        "From now on the profile of the osproffs mount MOUNT also has one for each process, program, cgroup, user "
        "(uid), file or directory (directory:N: of N components), as with osproffs -o by=KIND, until it is switched "
        "off. Calls that began before are among the others, and show says how many. Who mounted it may, unless that "
        "is root, and who has CAP_SYS_ADMIN.",
    .options = mount_and_groups_rows,
    .run = mount_verb_run,
    .mount_verb = &groups,
};

const struct command command_dump = {
    .name = "dump",
    .summary = "saves the profile of a mount so far",
    .help = "Saves the profile of the osproffs mount MOUNT, which goes on, in FILE, or where its final profile will "
            "go. A profile that is there is replaced. Who mounted it may, unless that is "
            "root, and who has CAP_SYS_ADMIN.",
    .options = mount_and_file_rows,
    .run = mount_verb_run,
    .mount_verb = &dump,
};

const struct command command_rotate = {
    .name = "rotate",
    .summary = "saves the profile of a mount, and begins the next at the same instant",
    .help = "Saves what the osproffs mount MOUNT has counted since the last rotation in the new file FILE, and "
            "counts afresh from that instant: each call is in exactly one of these profiles. Who mounted it "
            "may, unless that is root, and who has CAP_SYS_ADMIN. FILE may be left out where the mount rotates by "
            "itself (osproffs -o rotate): then it is "
            "the next of its files.",
    .options = mount_and_file_rows,
    .run = mount_verb_run,
    .mount_verb = &rotate,
};

const struct command command_unmount = {
    .name = "unmount",
    .summary = "unmounts, and waits until the final profile is written",
    .help = "Unmounts the mount MOUNT of osproffs, or of a daemon that osprof fuse profiles, waits until its final "
            "profile is written, and tells where it is. "
            "umount and fusermount3 return earlier. Only who mounted it, and root, may.",
    .options = mount_rows,
    .run = mount_verb_run,
    .mount_verb = &unmount,
};
