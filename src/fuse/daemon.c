/* Creates and connects the parts of a mount in the order in which they depend on each other: lower directory and
 * profile target (opened before anything is mounted), recorder, layers, request loop. */
#include "daemon.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "aggstats/slow.h"
#include "base.h"
#include "config.h"
#include "control_server.h"
#include "ctl.h"
#include "daemon_recording.h"
#include "event_files.h"
#include "glue.h"
#include "live_dirs.h"
#include "log.h"
#include "loop.h"
#include "mounting.h"
#include "mountpoint.h"
#include "pass.h"
#include "path.h"
#include "process_rights.h"
#include "prof.h"
#include "profile_target.h"
#include "rotator.h"
#include "slow_log.h"
#include "thread_cause.h"
#include "uring.h"

#define FORGOTTEN_INODES_MAX 262144
#define CACHE_AUTO_S 1.0
#define CACHE_ALWAYS_S 86400.0

#define FAILED 2 /* the exit status, as that of wrong arguments */

struct daemon {
    const struct options *options;
    char *lower;      /* absolute */
    char *mountpoint; /* absolute */
    int lower_fd;
    struct profile_target target;
    struct rotator rotator;
    struct spare_fds spare;
    pthread_mutex_t target_lock; /* several workers may have a dump command at once */
    struct background background;
    struct pass *pass;
    struct node_names names;
    struct thread_causes causes;
    struct prof prof;
    struct recording recording;
    struct event_files events;
    struct slow_log *slow_log;
    struct ctl ctl;
    struct control_server server;
    struct glue glue;
    struct mounting mounting;
    char *outcome; /* of saving the final profile, for waiting processes; NULL: no memory */
};

/* ---- Arguments ---- */

static int open_lower(struct daemon *daemon) {
    const char *lower = daemon->options->lower;
    daemon->lower_fd = open(lower, O_PATH | O_DIRECTORY | O_CLOEXEC);
    daemon->lower = daemon->lower_fd < 0 ? NULL : realpath(lower, NULL);
    if (daemon->lower)
        return 0;
    int err = negative_errno();
    log_message("cannot open the lower directory %s: %s", lower, strerror(-err));
    return err;
}

static int find_mountpoint(struct daemon *daemon) {
    const char *mountpoint = daemon->options->mountpoint;
    struct stat attr = {0};
    daemon->mountpoint = realpath(mountpoint, NULL);
    if (daemon->mountpoint && mountpoint_check(daemon->mountpoint, daemon->options->lower) < 0)
        return -EBUSY;
    int err = daemon->mountpoint && stat(daemon->mountpoint, &attr) == 0 ? 0 : negative_errno();
    if (err == 0 && !S_ISDIR(attr.st_mode))
        err = -ENOTDIR;
    if (err < 0)
        log_message("cannot mount on %s: %s%s", mountpoint, strerror(-err), err == -ENOENT ? "; mkdir it before" : "");
    return err;
}

static void warn_of_hidden_files(const struct daemon *daemon) {
    for (unsigned i = 0; i < CTL_FILES; i++) {
        char name[NAME_MAX + 1];
        ctl_name(daemon->options->control_name, i, name);
        if (faccessat(daemon->lower_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            log_message("warning: %s/%s exists and is hidden by osproffs; choose another name with -o control=NAME",
                        daemon->lower, name);
    }
}

/* Checks that /proc can be read: what callers may do is read there. */
static int check_processes(void) {
    if (process_numbers_are_ours())
        return 0;
    log_message("cannot mount: /proc is missing, or of another process namespace, where numbers mean other processes: "
                "mount it anew ('mount -t proc proc /proc', 'unshare --mount-proc')");
    return -EPERM;
}

/* If the mount is over the lower directory itself, processes that have it open continue below the mount. If the
 * directory was passed as an open descriptor, its owner (osprof run) takes care of that. */
static void warn_of_users(const struct daemon *daemon) {
    struct mountpoint_users users;
    assert(daemon->lower && daemon->mountpoint);
    if (strcmp(daemon->lower, daemon->mountpoint) != 0 || strncmp(daemon->options->lower, "/proc/self/fd/", 14) == 0)
        return;
    mountpoint_find_users(daemon->mountpoint, &users);
    if (users.count == 1)
        log_message(
            "note: process %ld is in %s already, or has a file open there: what it does by that is not profiled, "
            "until it goes there anew",
            (long)users.first, daemon->mountpoint);
    else if (users.count > 1)
        log_message(
            "note: %s%u processes, %ld for one, are in %s already, or have files open there: what they do by that "
            "is not profiled, until they go there anew",
            users.are_all ? "" : "at least ", users.count, (long)users.first, daemon->mountpoint);
}

/* ---- Recorder ---- */

/* The socket makes it possible to get the profile without a step into the mount, which may hang. Without the socket the
 * control file is left. */
static void make_socket(struct daemon *daemon, const char *live_path) {
    CLEANUP_FREE char *path = NULL;
    int err = live_socket_path(live_path, &path);
    if (err == 0)
        err = control_server_listen(&daemon->server, path);
    if (err < 0)
        log_message("warning: no socket for commands beside %s: %s; while the mount hangs, no command reaches it",
                    live_path, strerror(-err));
}

static char *path_of(void *context, uint64_t object) {
    const struct daemon *daemon = context;
    return pass_path_of(daemon->pass, object);
}

static int create_recorder(struct daemon *daemon) {
    daemon->names.depth_max = daemon->options->groups.directory_depth;
    daemon->recording.options = daemon->options;
    daemon->recording.prof = &daemon->prof;
    daemon->recording.names = &daemon->names;
    daemon->recording.holders.causes = &daemon->causes;
    daemon->recording.path_of = path_of;
    daemon->recording.path_context = daemon;
    int err = recording_open(&daemon->recording, daemon->lower, daemon->mountpoint, daemon->target.shown);
    if (err < 0)
        return err;
    daemon->rotator.recorder = daemon->recording.session.recorder;
    daemon->rotator.target = &daemon->target;
    const char *live_path = daemon->recording.session.live_path;
    if (live_path) {
        profile_target_add_second(&daemon->target, live_path); /* otherwise the live file itself is the second place */
        make_socket(daemon, live_path);
    }
    return 0;
}

static int read_causes(struct daemon *daemon) {
    const char *file = daemon->options->causes;
    char why[THREAD_CAUSES_WHY_SIZE] = "";
    int err = thread_causes_init(&daemon->causes, file, why);
    if (err < 0)
        log_message("causes=%s: %s", file ? file : "", why[0] ? why : strerror(-err));
    return err;
}

static int start_slow_log(struct daemon *daemon) {
    const struct options *options = daemon->options;
    const struct slow_log_options wanted = {
        .target = options->slow_log,
        .mountpoint = daemon->mountpoint,
        .size_bytes_max = options->slow_log_size_bytes,
        .rate_max = options->slow_log_rate,
        .clock = aggstats_recorder_clock(daemon->recording.session.recorder),
    };
    return wanted.target ? slow_log_start(&wanted, &daemon->slow_log) : 0;
}

/* ---- Layers ---- */

static int make_profile_text(struct daemon *daemon, bool is_final, struct control_text *ret_text) {
    struct control control = daemon->recording.session.control;
    control.is_saved = true;
    control.says_end = daemon->target.is_series && is_final;
    return control_read(&control, &view_text, true, ret_text);
}

static int dump_profile(void *context, const struct control_file *file) {
    struct daemon *daemon = context;
    struct control_text text;
    int err = make_profile_text(daemon, false, &text);
    if (err < 0)
        return err;
    pthread_mutex_lock(&daemon->target_lock);
    spare_fds_use(&daemon->spare);
    if (file->fd >= 0) /* if the caller has opened the file, the caller also gives it its name */
        err = control_file_write(file, daemon->mounting.device, text.text, text.size_bytes);
    else if (file->name)
        err = profile_target_save_as(&daemon->target, file->name, daemon->mounting.device, &text);
    else
        err = profile_target_save(&daemon->target, &text);
    spare_fds_keep(&daemon->spare);
    pthread_mutex_unlock(&daemon->target_lock);
    free(text.text);
    return err;
}

static int rotate_profile(void *context, const struct control_file *file) {
    struct daemon *daemon = context;
    return rotator_rotate(&daemon->rotator, file);
}

/* True for callers who may command: the owner, unless that is uid 0, and administrators. */
static bool is_trusted(void *context, const struct fs_caller *caller) {
    (void)context;
    return (getuid() != 0 && caller->uid == getuid()) || process_is_admin(caller->pid, caller->uid);
}

static int act_as(void *context, const struct fs_caller *caller, int (*apply)(void *data), void *data) {
    const struct daemon *daemon = context;
    return pass_act_as(daemon->pass, caller, apply, data);
}

static void report_refused_command(void *context, const char *reason) {
    (void)context;
    log_message("control file: %s", reason);
}

/* Only the lower file system checks permissions, so every op must be done as the caller. */
static bool checks_as_caller(const struct options *options) {
    return options->allow_other && !options->default_permissions;
}

static int create_pass(struct daemon *daemon, const struct pass_options *pass_options) {
    int err = pass_create(pass_options, &daemon->pass);
    if (err == -EACCES && !pass_options->shows_pseudo)
        log_message("cannot show %s to others (allow_other): through it the kernel is looked at and controlled; see "
                    "pseudofs in osproffs(1)",
                    daemon->lower);
    else if (err < 0)
        log_message("cannot use the lower directory %s: %s", daemon->lower, strerror(-err));
    return err;
}

static void ask_to_forget(void *context, const fs_ino *inos, size_t count) {
    const struct daemon *daemon = context;
    device_ask_to_forget(daemon->mounting.fuse, inos, count);
}

static int create_layers(struct daemon *daemon) {
    const struct options *options = daemon->options;
    const struct pass_options pass_options = {
        .root_fd = steal_fd(&daemon->lower_fd),
        .check_as_caller = checks_as_caller(options),
        .shows_pseudo = options->shows_pseudo,
        .no_atime = options->no_atime,
        .no_directory_atime = options->no_atime || options->no_directory_atime,
        .keeps_names = recording_needs_names(options, options->groups.groupings),
        .forgotten_inodes_max = FORGOTTEN_INODES_MAX,
        .call_later = loop_call_later,
        .ask_to_forget = ask_to_forget,
        .context = daemon,
    };
    int err = create_pass(daemon, &pass_options);
    if (err < 0)
        return err;
    daemon->names.pass = daemon->pass;
    struct fs_layer *top = pass_layer(daemon->pass);
    if (options->timing == TIMING_FULL) {
        prof_init(&daemon->prof, daemon->recording.session.recorder, top);
        top = &daemon->prof.layer;
    }
    daemon->recording.slow_log = daemon->slow_log;
    err = recording_start(&daemon->recording);
    if (err < 0)
        return err;
    struct control control = daemon->recording.session.control;
    control.steady_clock = aggstats_recorder_clock(control.recorder);
    control.dump = dump_profile;
    control.dump_context = daemon;
    control.rotate = rotate_profile;
    control.rotate_context = daemon;
    control.has_series = daemon->target.is_series;
    control.groups = recording_set_groups;
    control.groups_context = &daemon->recording;
    control.events = event_files_command;
    control.events_context = &daemon->events;
    const struct ctl_options ctl_options = {
        .name = options->control_name,
        .control = control,
        .owner_uid = getuid(),
        .owner_gid = getgid(),
        .is_trusted = is_trusted,
        .act_as = act_as,
        .context = daemon,
        .report = report_refused_command,
    };
    ctl_init(&daemon->ctl, &ctl_options, top);
    return 0;
}

static int init_glue(struct daemon *daemon) {
    const struct options *options = daemon->options;
    bool uncached = options->cache == CACHE_NONE || checks_as_caller(options); /* answers differ between callers */
    double timeout_s = uncached ? 0 : options->cache == CACHE_ALWAYS ? CACHE_ALWAYS_S : CACHE_AUTO_S;
    /* If the kernel writes by itself, it must also remove set-id bits by itself; and libfuse must report who may keep
     * them. */
    bool is_told = !options->over_ring || (OSPROFFS_HAS_KILL_SUIDGID && ring_tells_fsetid());
    uint32_t generation = 0; /* without a random number, handles of an earlier mount may lead to files of this one */
    (void)!getrandom(&generation, sizeof(generation), 0);
    daemon->glue = (struct glue){
        .top = &daemon->ctl.layer,
        .entry_timeout_s = timeout_s,
        .first_generation = generation,
        .attr_timeout_s = timeout_s,
        .negative_timeout_s = timeout_s,
        .direct_io = options->cache == CACHE_NONE,
        .keep_cache = options->cache == CACHE_ALWAYS,
        .cache_readdir = options->cache == CACHE_ALWAYS,
        .cache_symlinks = options->cache == CACHE_ALWAYS,
        .readdirplus = !uncached,
        .posix_acl = options->default_permissions,
        .forward_posix_locks = options->forward_posix_locks,
        .forward_flocks = options->forward_flocks,
        .takes_set_id = is_told && !options->kernel_data,
        .over_ring = options->over_ring,
    };
    glue_init_lock_waiters(&daemon->glue, getuid());
#ifdef HAVE_FUSE_PASSTHROUGH
    if (options->kernel_data) {
        daemon->glue.backings = glue_create_backings(pass_file_fd);
        if (!daemon->glue.backings) {
            log_message("cannot mount: %s", strerror(ENOMEM));
            return -ENOMEM;
        }
    }
#endif
    return 0;
}

/* ---- Start ---- */

/* Everything that must know the mount's device number gets it before the first request is served. */
static int mount_and_serve(struct daemon *daemon) {
    struct mounting *mounting = &daemon->mounting;
    mounting->lower = daemon->lower;
    mounting->mountpoint = daemon->mountpoint;
    int err = mounting_mount(mounting);
    if (err < 0)
        return err;
    daemon->rotator.own_device = mounting->device;
    daemon->events.own_device = mounting->device;
    pass_set_own_device(daemon->pass, mounting->device);
    pass_watch_own_mount(daemon->pass);
    daemon->events.options = daemon->options;
    daemon->events.recorder = daemon->recording.session.recorder;
    daemon->events.recording = &daemon->recording;
    daemon->events.target = &daemon->target;
    daemon->events.names = &daemon->names;
    daemon->events.version = OSPROFFS_VERSION;
    err = event_files_start(&daemon->events);
    if (err < 0) {
        mounting_unmount(mounting, true);
        return err;
    }
    err = mounting_serve(mounting, aggstats_recorder_clock(daemon->recording.session.recorder));
    if (err < 0)
        return err;
    err = control_server_start(&daemon->server, &daemon->ctl.options.control, NULL, NULL, NULL);
    if (err < 0)
        log_message("warning: nobody answers at the socket for commands: %s", strerror(-err));
    return 0;
}

static int set_up(struct daemon *daemon) {
    const struct options *options = daemon->options;
    tzset(); /* else the C library reads its file when the profile is written, maybe through the unserved mount */
    int err = open_lower(daemon);
    if (err == 0)
        err = find_mountpoint(daemon);
    if (err == 0)
        err = options->rotate_ns > 0 ? profile_target_init_series(&daemon->target, options->profile, daemon->mountpoint)
                                     : profile_target_init(&daemon->target, options->profile, options->foreground);
    if (err == 0)
        err = event_files_find(&daemon->events, options->events);
    if (err < 0)
        return err;
    warn_of_hidden_files(daemon);
    mountpoint_warn_of_hidden(daemon->mountpoint, daemon->lower);
    warn_of_users(daemon);
    if (!options->foreground)
        err = background_start(&daemon->background);
    if (err < 0) {
        log_message("cannot go into the background: %s", strerror(-err));
        return err;
    }
    loop_prepare_signals();
    umask(0); /* callers have their own */
    err = check_processes();
    if (err == 0)
        err = read_causes(daemon);
    if (err == 0)
        err = create_recorder(daemon);
    if (err == 0)
        err = start_slow_log(daemon);
    if (err == 0)
        err = create_layers(daemon);
    if (err == 0)
        err = init_glue(daemon);
    return err < 0 ? err : mount_and_serve(daemon);
}

/* ---- The end ---- */

static int save_final_profile(struct daemon *daemon) {
    struct control_text text = {0};
    spare_fds_use(&daemon->spare);
    int err = make_profile_text(daemon, true, &text);
    if (err == 0)
        err = daemon->target.is_series ? rotator_save_last(&daemon->rotator, &text)
                                       : profile_target_save(&daemon->target, &text);
    daemon->recording.session.keeps_live =
        err < 0 &&
        final_profile_keep(&daemon->target, daemon->recording.session.recorder, &text, err, &daemon->outcome);
    if (err == 0)
        daemon->outcome = final_profile_saved(&daemon->target);
    if (!daemon->recording.session.keeps_live)
        aggstats_recorder_unlink_live(daemon->recording.session.recorder);
    free(text.text);
    return err;
}

/* Pages that programs have mapped and written must reach the lower file, although we end. */
static bool write_pages_back(const struct daemon *daemon) {
    CLEANUP_FREE char *file = path_join(daemon->mountpoint, daemon->options->control_name);
    return !file || write_back_pages(file, daemon->mounting.device, fuse_session_fd(daemon->mounting.fuse));
}

static int serve(struct daemon *daemon) {
    struct loop_outcome outcome = loop_run(daemon->mounting.loop);
    bool is_writing_back = outcome.end == LOOP_SIGNALLED && !write_pages_back(daemon);
    pass_end(daemon->pass);
    unsigned hung = glue_stop_lock_waiters(&daemon->glue); /* before the rings are destroyed, over which they answer */
    hung += loop_stop(daemon->mounting.loop);
    if (outcome.end == LOOP_FAILED)
        log_message("cannot go on serving %s: %s", daemon->mountpoint, strerror(-outcome.error));
    if (hung > 0)
        log_message("%u calls still hang in %s; the profile lists them as in flight", hung, daemon->lower);
    bool is_asked = !control_server_stop(&daemon->server);
    bool is_rotating = !rotator_end(&daemon->rotator);
    bool is_saving = !event_files_end(&daemon->events);
    int err = save_final_profile(daemon);
    aggstats_slow_report(
        daemon->recording.session.recorder); /* calls that hang may end later, and are not in the log */
    bool is_logging = !slow_log_end(daemon->slow_log);
    bool is_naming = !node_names_end(&daemon->names);
    mounting_unmount(&daemon->mounting,
                     hung > 0 || outcome.end != LOOP_UNMOUNTED); /* requests that still arrive are not answered */
    if (!is_asked && daemon->outcome)
        control_server_tell_end(&daemon->server, daemon->outcome);
    const int status = err < 0 || outcome.end == LOOP_FAILED ? FAILED : 0;
    if (hung > 0 || is_writing_back || is_asked || is_rotating || is_saving || is_logging || is_naming) {
        /* Hung threads still use what would be freed, so nothing is freed. The connection ends now, not when the last
         * of them returns: what they wait for may itself wait for an answer from us. (With rings, which keep the device
         * open, the unmount has ended it.) */
        close(fuse_session_fd(daemon->mounting.fuse));
        _exit(status);
    }
    return status;
}

static void tear_down(struct daemon *daemon) {
    control_server_stop(&daemon->server); /* nothing was served */
    mounting_finish(&daemon->mounting);
#ifdef HAVE_FUSE_PASSTHROUGH
    glue_destroy_backings(daemon->glue.backings);
#endif
    event_files_finish(&daemon->events);
    session_finish(&daemon->recording.session); /* its recorder's thread gets paths from the pass layer */
    slow_log_destroy(daemon->slow_log);         /* the recorder reports to it */
    ctl_finish(&daemon->ctl);
    pass_destroy(daemon->pass);
    thread_causes_finish(&daemon->causes);
    profile_target_finish(&daemon->target);
    close_fd(&daemon->lower_fd);
    free(daemon->lower);
    free(daemon->mountpoint);
    free(daemon->outcome);
}

int daemon_run(const struct options *options) {
    struct daemon daemon = {
        .options = options,
        .lower_fd = -1,
        .background.ready_fd = -1,
        .target_lock = PTHREAD_MUTEX_INITIALIZER,
        .events = EVENT_FILES_NONE,
        .server = CONTROL_SERVER_NONE,
        .rotator = {.interval_s = (unsigned)(options->rotate_ns / NS_PER_S), .keep = options->keep},
        .target = {.start_fd = -1, .dir_fd = -1, .stream_fd = -1, .second_fd = -1},
    };
    int status = FAILED;
    daemon.mounting = (struct mounting){.options = options, .glue = &daemon.glue};
    spare_fds_init(&daemon.spare);
    daemon.rotator.spare = &daemon.spare;
    rotator_init(&daemon.rotator);
    if (set_up(&daemon) == 0) {
        int err = rotator_start(&daemon.rotator); /* calls are being answered by now */
        if (err < 0)
            log_message("cannot rotate the profile by the clock: %s; write rotate to %s/%s", strerror(-err),
                        daemon.mountpoint, options->control_name);
        background_ready(&daemon.background);
        status = serve(&daemon);
    }
    tear_down(&daemon);
    spare_fds_finish(&daemon.spare);
    return status;
}
