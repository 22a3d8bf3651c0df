/* All parts of a run: opened, started, stopped and reported in order. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "aggstats/live.h"
#include "aggstats/numbers.h"
#include "base.h"
#include "command.h"
#include "dir.h"
#include "figures.h"
#include "kept.h"
#include "namespace.h"
#include "path.h"
#include "run_child.h"
#include "run_identity.h"
#include "run_mounts.h"
#include "run_neighbours.h"
#include "run_options.h"
#include "run_report.h"
#include "run_served.h"
#include "run_user.h"
#include "signals.h"
#include "traces.h"
#include "versus.h"

/* The state of osprof run. */
struct run {
    const struct run_options *options;
    struct namespace space;
    struct run_identity as;
    struct signals signals;
    struct run_mounts mounts; /* none without the layer fs */
    struct run_user user;     /* zeroed without the layer user */
    bool is_user_quiet;       /* nobody has asked for that layer: it is taken along to know what FUSE adds */
    struct traces traces;     /* of the layers fuse and block */
    struct run_served served; /* of the layer daemon */
    struct run_neighbours neighbours;
    struct recording layers; /* those taken for all directories; see run_report() */
    struct run_target target;
    struct run_target page; /* of --report */
    struct kept kept;       /* not with --vs */
    struct run_sets sets;
    struct run_left left;
    const char *attach;        /* see run_report_attachable() */
    int status;                /* of the first run that failed */
    unsigned runs_count;       /* those that were counted */
    struct aggstats_exit exit; /* of these */
};

/* Checked now, so that the message is ours and not libfuse's. */
static int check_device(bool is_optional) {
    const char *what = is_optional ? "the layer fs is left out" : "cannot mount";
    CLEANUP_FD int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        return 0;
    int error = negative_errno();
    if (error == -ENOENT || error == -ENODEV)
        complain("%s: there is no /dev/fuse; as root, modprobe fuse; a container must be given it (--device /dev/fuse)",
                 what);
    else if (error == -EACCES)
        complain("%s: /dev/fuse is not for this user; as root, chmod 666 /dev/fuse", what);
    else
        complain("%s: /dev/fuse cannot be opened: %s; a container must be given it (--device /dev/fuse)", what,
                 strerror(-error));
    return error;
}

/* ---- Runs that were killed ------------------------------------------------------------------- */

#define KEPT_COUNT_MIN 10
#define KEPT_S_MIN (7L * 24 * 60 * 60)

/* Live files of runs whose osprof was killed are kept for 'osprof save', but must not pile up. A file that has been
 * reported has the sticky bit, which means nothing else for a file. It got that bit when its inode last changed (ctime),
 * unless programs of the run still count. */
struct killed {
    char *name;
    struct stat attr;
};

/* NUMBER-user-NUMBER.live */
static bool is_of_run(const char *name) {
    static const char digits[] = "0123456789";
    static const char middle[] = "-user-";
    const size_t first = strspn(name, digits);
    const char *rest = name + first + sizeof(middle) - 1;
    if (first == 0 || strncmp(name + first, middle, sizeof(middle) - 1) != 0)
        return false;
    return strspn(rest, digits) > 0 && strcmp(rest + strspn(rest, digits), ".live") == 0;
}

static int compare_newest_first(const void *a, const void *b) {
    const struct timespec *left = &((const struct killed *)a)->attr.st_mtim;
    const struct timespec *right = &((const struct killed *)b)->attr.st_mtim;
    if (left->tv_sec != right->tv_sec)
        return left->tv_sec < right->tv_sec ? 1 : -1;
    return left->tv_nsec < right->tv_nsec ? 1 : left->tv_nsec > right->tv_nsec ? -1 : 0;
}

/* Lists them, and marks as reported those that are not. Returns how many that are */
static size_t list_killed(DIR *dir, struct killed **files, size_t *count) {
    size_t reported_count = 0;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        struct killed file;
        CLEANUP_FD int fd = is_of_run(entry->d_name)
                                ? openat(dirfd(dir), entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                                : -1;
        /* An osprof that lives holds a lock on its file before it has written anything, and removes the file before it
         * lets go. */
        if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) < 0 || fstat(fd, &file.attr) < 0 || !S_ISREG(file.attr.st_mode) ||
            file.attr.st_uid != geteuid() || file.attr.st_nlink == 0 || !aggstats_live_is(fd))
            continue;
        file.name = strdup(entry->d_name);
        if (!file.name || grow_array(files, *count, sizeof(file)) != 0) {
            free(file.name);
            continue;
        }
        (*files)[(*count)++] = file;
        if (!(file.attr.st_mode & S_ISVTX) && fchmod(fd, (file.attr.st_mode & 07777) | S_ISVTX) == 0)
            reported_count++;
    }
    return reported_count;
}

/* Reports each such file beside that of this run once. Removes those that were reported more than a week ago, except the
 * ten newest, and reports that. */
static void tidy_killed(const char *live_path) {
    const time_t now = time(NULL);
    struct killed *files = NULL;
    size_t count = 0;
    size_t removed_count = 0;
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    if (open_parent(AT_FDCWD, live_path, &dir_fd, &name) != 0)
        return;
    CLEANUP_DIR DIR *dir = open_dir_at(dir_fd, ".");
    if (!dir)
        return;
    const size_t reported_count = list_killed(dir, &files, &count);
    if (count > KEPT_COUNT_MIN)
        qsort(files, count, sizeof(*files), compare_newest_first);
    for (size_t i = 0; i < count; i++) {
        const struct stat *attr = &files[i].attr;
        if (i >= KEPT_COUNT_MIN && attr->st_mode & S_ISVTX && now - attr->st_ctim.tv_sec > KEPT_S_MIN &&
            unlinkat(dir_fd, files[i].name, 0) == 0)
            removed_count++;
        free(files[i].name);
    }
    free(files);
    if (reported_count == 1)
        complain("the profile of a run whose osprof was killed is kept; 'osprof save --list' lists it");
    else if (reported_count > 1)
        complain("the profiles of %zu runs whose osprof was killed are kept; 'osprof save --list' lists them",
                 reported_count);
    if (removed_count == 1)
        complain("removed the profile of a run whose osprof was killed more than a week ago");
    else if (removed_count > 1)
        complain("removed the profiles of %zu runs whose osprof was killed more than a week ago", removed_count);
}

/* ---- Running ------------------------------------------------------------------------------------ */

/* Call before the first run, and before the first that counts. Errors: reported to the user */
static int start_counting(struct run *run, bool counts) {
    if (counts)
        traces_start(&run->traces);
    run_mounts_settle(&run->mounts);
    if (run_mounts_reset(&run->mounts) < 0 || (run_user_reset(&run->user) < 0 && !run->is_user_quiet) ||
        run_served_begin(&run->served) < 0)
        return -EIO;
    traces_begin(&run->traces);
    if (counts)
        run_neighbours_begin(&run->neighbours);
    return 0;
}

/* Returns when all runs are done, one is ended by a signal, or none can be made.
 * Errors:  reported to the user */
static int run_all(struct run *run) {
    const struct run_options *options = run->options;
    const struct run_place place = {.space = &run->space,
                                    .as = &run->as,
                                    .signals = &run->signals,
                                    .mounts = &run->mounts,
                                    .user = &run->user,
                                    .neighbours = &run->neighbours};
    for (unsigned i = 0; i < options->warmup_count + options->repeat_count; i++) {
        struct run_outcome outcome;
        int error = 0;
        if (i == 0 || i == options->warmup_count)
            error = start_counting(run, i == options->warmup_count);
        if (error)
            return error;
        error = run_child(options->command, &place, &outcome);
        if (error)
            return error;
        if (run->status == 0)
            run->status = outcome.status;
        if (!outcome.is_started)
            return -ENOEXEC;
        if (i >= options->warmup_count) {
            run->runs_count++;
            run_outcome_add_exit(&outcome, &run->exit);
        }
        if (outcome.is_killed)
            break;
    }
    run_neighbours_end(&run->neighbours);
    return 0;
}

/* The command runs without the layer fs. */
static void leave_out_mounts(struct run *run) {
    run_mounts_finish(&run->mounts);
    run->mounts = (struct run_mounts){.options = {.live_dir_fd = -1}};
}

/* Ends the layer user, which also says how long the callers of a mount waited, unless some were not seen. Of several mounts
 * that cannot be divided.
 * Errors: reported to the user, if the layer was asked for */
static int stop_user(struct run *run, struct run_programs *ret_programs) {
    const bool has_mounts = run->mounts.count > 0;
    struct recording quiet = {.layers = NULL};
    struct recording *layers = run->is_user_quiet ? &quiet : &run->layers;
    complain_mute(run->is_user_quiet);
    int error = run_user_stop(&run->user, has_mounts, layers);
    complain_mute(false);
    const size_t index = recording_find(layers, "user");
    const struct aggstats_profile *user = index < layers->count ? &layers->layers[index] : NULL;
    if (user)
        run_neighbours_note_calls(&run->neighbours, user, &run->user.groups, has_mounts);
    if (run->mounts.count == 1 && user && !aggstats_profile_has_unseen(user) && user->clock.frequency_hz > 0) {
        const double ns_per_cycle = 1e9 / (double)user->clock.frequency_hz;
        *ret_programs = (struct run_programs){.are_known = true,
                                              .wait_ns = (uint64_t)(figures_sum(user).total_cycles * ns_per_cycle),
                                              .locking_ns = (uint64_t)(figures_locking(user) * ns_per_cycle)};
    }
    recording_finish(&quiet);
    return run->is_user_quiet ? 0 : error;
}

/* Returns an exit status. */
static int run_mounted(struct run *run) {
    const struct run_options *options = run->options;
    CLEANUP_FD int here_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct run_programs programs = {0};
    int signal = 0;
    int error = run_mounts_start(&run->mounts, &run->signals, &signal);
    if (error && error != -EINTR && options->layers.are_optional) {
        run_mounts_end(&run->mounts, &run->signals);
        leave_out_mounts(run);
        error = fchdir(here_fd) < 0 ? negative_errno() : 0;
        if (error)
            complain("cannot return to the current directory: %s", strerror(-error));
    }
    if (error == 0)
        error = run_all(run);
    int layers_error = error == 0 ? stop_user(run, &programs) : 0;
    if (error == 0) {
        run_left_find(&run->left, &run->user, &run->mounts);
        if (run_served_stop(&run->served, &run->layers) != 0 && !options->layers.are_optional)
            layers_error = -EIO;
        run_mounts_stop(&run->mounts);
        run->traces.has_workers = run->mounts.count > 0 || run->served.has_workers;
        traces_stop(&run->traces, &run->layers);
    }
    run_mounts_end(&run->mounts, &run->signals);
    if (error == -EINTR)
        return RUN_SIGNALLED + signal;
    if (error == -ENOEXEC)
        return run->status;
    if (error)
        return RUN_FAILED;
    char still_running[RUN_LEFT_TEXT_SIZE];
    run_left_tell(&run->left, &run->user, &run->mounts, still_running);
    const struct run_shown shown = {.options = options,
                                    .run_count = run->runs_count,
                                    .exit = run->exit,
                                    .attach = run->attach,
                                    .programs = programs,
                                    .neighbours = &run->neighbours,
                                    .still_running = still_running};
    error = run_report(&run->mounts, &run->layers, &run->target, &run->page, &run->kept, &shown);
    return error || layers_error ? RUN_FAILED : run->status;
}

/* Returns an exit status. */
static int run_against_other(struct run *run) {
    const struct run_vs vs = {
        .options = run->options,
        .place = {.space = &run->space,
                  .as = &run->as,
                  .signals = &run->signals,
                  .mounts = &run->mounts,
                  .user = &run->user},
        .target = &run->target,
        .page = &run->page,
        .sets = &run->sets,
    };
    const int status = run_vs(&vs);
    char still_running[RUN_LEFT_TEXT_SIZE];
    run_left_find(&run->left, &run->user, &run->mounts);
    run_left_tell(&run->left, &run->user, &run->mounts, still_running);
    return status;
}

static int run_in_namespace(struct run *run) {
    int error = signals_init(&run->signals);
    if (error)
        return RUN_FAILED;
    bool has_mounts = run->mounts.count > 0;
    if (has_mounts && (namespace_enter(&run->space) != 0 || run_mounts_enter(&run->mounts) != 0))
        error = -EPERM;
    if (error && run->options->layers.are_optional) {
        leave_out_mounts(run);
        error = 0;
    }
    int status = RUN_FAILED;
    if (error == 0)
        status = run->options->other ? run_against_other(run) : run_mounted(run);
    signals_finish(&run->signals);
    return status;
}

/* Each directory has a file for the profile of its osproffs. */
static int open_target(struct run *run) {
    const struct run_options *options = run->options;
    size_t count = options->layers.wanted & LAYER_FS ? options->directories.count : 1;
    int error = run_target_open(&run->page, "page", options->report, 1, 1, false);
    if (error)
        return error;
    if (options->other && options->repeat_count != 1)
        return run_sets_open(&run->sets, options->output, count);
    return run_target_open(&run->target, "profile", options->output, count, options->other ? VS_SIDES : 1,
                           options->layers.wanted != LAYER_FS);
}

/* Errors: reported to the user */
static int open_user(struct run *run, bool wants_groups) {
    const struct run_options *options = run->options;
    run->user.options = options->recorded;
    run->user.options.session.labels = options->labels;
    run->user.as = &run->as;
    if (!wants_groups)
        run->user.options.session.groupings = 0;
    int error =
        run_user_open(&run->user, options->directories.texts, options->directories.count, options->has_everything);
    if (error == 0)
        run_user_look_at(&run->user, options->command[0]);
    return error;
}

/* The kernel would take the live file for another file if it were opened through a mount. */
static int refuse_live_below_mounts(const struct run *run) {
    const char *live_path = run->user.session.live_path;
    CLEANUP_FREE char *path = live_path ? realpath(live_path, NULL) : NULL;
    for (size_t i = 0; path && i < run->mounts.count; i++) {
        const struct run_daemon *daemon = &run->mounts.daemons[i];
        if (!path_below(path, daemon->path))
            continue;
        *strrchr(path, '/') = '\0';
        complain("cannot profile %s: live files are in it, in %s; choose another place by XDG_RUNTIME_DIR, or --layers "
                 "user",
                 daemon->name, path);
        return -EINVAL;
    }
    return 0;
}

/* Errors: reported to the user */
static int open_fs(struct run *run) {
    const struct run_options *options = run->options;
    int error = check_device(options->layers.are_optional);
    if (error == 0)
        error = run_mounts_open(&run->mounts, options, !options->other);
    if (error == 0)
        error = refuse_live_below_mounts(run);
    if (error == 0 || !options->layers.are_optional)
        return error;
    leave_out_mounts(run);
    return 0;
}

/* Opens the layers that are wanted, and the user's layer for a mount alone, too: if that fails, it is left out, and nothing
 * is reported.
 * Errors: reported to the user */
static int open_layers(struct run *run) {
    const struct run_options *options = run->options;
    const unsigned wanted = options->layers.wanted;
    const struct option_list *directories = &options->directories;
    int error = wanted & LAYER_USER ? open_user(run, !options->other) : 0;
    if (run->user.session.recorder)
        tidy_killed(run->user.session.live_path);
    if (error == 0 && wanted & LAYER_FS)
        error = open_fs(run);
    if (error == 0 && wanted == LAYER_FS && directories->count == 1 && !options->other) {
        complain_mute(true);
        run->is_user_quiet = open_user(run, false) == 0 && run->user.session.recorder &&
                             run->user.kind == EXECUTABLE_DYNAMIC && refuse_live_below_mounts(run) == 0;
        complain_mute(false);
        if (!run->is_user_quiet) {
            run_user_finish(&run->user);
            run->user = (struct run_user){.name = NULL};
        }
    }
    if (error == 0 && wanted & LAYER_DAEMON) {
        const char *name = "";
        error = run_served_find(directories->texts, directories->count, &run->served, &name);
        if (error == -ENOENT)
            complain("the layer daemon cannot be profiled: %s lies on no mount that osprof fuse profiles", name);
        else if (error)
            complain("the layer daemon cannot be profiled: %s: %s", name, strerror(-error));
    }
    return error;
}

int run_command(const struct run_options *options) {
    struct run run = {.options = options,
                      .mounts = {.options = {.live_dir_fd = -1}},
                      .attach = run_report_attachable(&options->directories),
                      .target = {.dir_fd = -1},
                      .page = {.dir_fd = -1},
                      .kept = {.dir_fd = -1},
                      .sets = {.parent_fd = -1}};
    const struct option_list *directories = &options->directories;
    const bool wanted[TRACE_LAYERS] = {
        [TRACE_FUSE] = options->layers.wanted & LAYER_FUSE, [TRACE_BLOCK] = options->layers.wanted & LAYER_BLOCK};
    int null_fd;
    /* Standard files that were closed stay closed for the command, but no file opened here gets their numbers; and writing
     * to them fails. */
    do
        null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while (null_fd >= 0 && null_fd <= STDERR_FILENO);
    close_fd(&null_fd);
    run_neighbours_open(&run.neighbours, directories->texts, directories->count);
    int error = options->user_name ? run_identity_find(&run.as, options->user_name) : 0;
    if (error == 0)
        error = open_layers(&run);
    if (error == 0)
        error = open_target(&run);
    if (error == 0 && !options->other)
        kept_open(&run.kept);
    traces_open(&run.traces, wanted, directories->texts, directories->count, &options->labels);
    int status = RUN_FAILED;
    if (error == 0) {
        run_mounts_note_files(&run.mounts);
        status = run_in_namespace(&run);
        run_mounts_tell_files(&run.mounts);
    }
    run_sets_finish(&run.sets);
    run_target_finish(&run.target);
    run_target_finish(&run.page);
    kept_finish(&run.kept);
    recording_finish(&run.layers);
    run_mounts_finish(&run.mounts);
    run_user_finish(&run.user);
    traces_finish(&run.traces);
    run_served_finish(&run.served);
    run_neighbours_finish(&run.neighbours);
    run_identity_finish(&run.as);
    return status;
}
