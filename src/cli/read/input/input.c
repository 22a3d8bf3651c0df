/* Finding what a PROFILE or MOUNT argument names, and reading it. */
#include "input.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base.h"
#include "command.h"
#include "control_reader.h"
#include "control_socket.h"
#include "kept.h"
#include "layers.h"
#include "live_files.h"
#include "name_set.h"
#include "path.h"
#include "proc.h"

#define CONTROL_WHO_MAY "permitted: the user who mounted it, and processes with CAP_SYS_ADMIN"
#define PATIENCE_NS INT64_C(300000000) /* for the paths of calls in flight */

/* ---- What serves a path ------------------------------------------------------------------------- */

/* The live file of the process that serves a mount; NULL: none. Owner: files */
static struct live_file *find_serving(const struct live_files *files, const char *path) {
    CLEANUP_FREE char *normal = path_normalise(path);
    return normal ? live_files_serving(files, normal) : NULL;
}

static void note_owner(const struct stat *st, struct input *input) {
    input->has_owner = true;
    input->owner = st->st_uid;
}

/* Errors:  -ENOENT none serves it, or not any more; those of live_file_load() */
static int load_serving(const struct live_files *files, const char *path, struct input *ret_input) {
    struct stat st;
    CLEANUP_FREE char *answer = NULL;
    size_t answer_bytes;
    struct live_file *file = find_serving(files, path);
    if (!file)
        return -ENOENT;
    /* A live file may lag by some milliseconds, unless its process is asked to catch up. If that is stopped the file is
     * read nevertheless. */
    const char *control = aggstats_profile_label(&file->profile, "control");
    if (control && control[0] == '/')
        control_socket_ask(control, "", NULL, &answer, &answer_bytes);
    const int error = live_file_load(file);
    if (error || !file->info.recording)
        return error ? error : -ENOENT;
    *ret_input = (struct input){.profile = file->profile, .is_live = true, .live = file->info, .counting = true};
    file->profile = (struct aggstats_profile){0};
    if (lstat(file->path, &st) == 0)
        note_owner(&st, ret_input);
    return 0;
}

/* ---- Layers ------------------------------------------------------------------------------------- */

/* The others are freed. */
static void take_layer(struct input *input, size_t index) {
    input->profile = input->layers.layers[index];
    input->layers.layers[index] = (struct aggstats_profile){0};
    recording_finish(&input->layers);
}

int input_choose(const char *argument, struct input_layer *layer, struct input *input) {
    const struct recording one = {.layers = &input->profile, .count = 1};
    const struct recording *all = input->layers.count > 0 ? &input->layers : &one;
    size_t index = recording_find(all, layer->name ? layer->name : "fs");
    char names[160];
    recording_format_names(all, names, sizeof(names));
    if (index == all->count && layer->name) {
        complain("no layer %s in %s, which has %s", layer->name, argument, names);
        return -ENOENT;
    }
    if (all == &one)
        return 0;
    index = index < all->count ? index : 0;
    if (!layer->name && !layer->is_told)
        complain("%s has the layers %s: this is %s; --layer chooses another", argument, names,
                 aggstats_profile_label(&all->layers[index], "layer"));
    layer->is_told = true;
    take_layer(input, index);
    return 0;
}

size_t input_layer_count(const struct input *input) {
    return input->layers.count > 0 ? input->layers.count : 1;
}

struct aggstats_profile *input_layer(struct input *input, size_t index) {
    return input->layers.count > 0 ? &input->layers.layers[index] : &input->profile;
}

/* ---- Loading ------------------------------------------------------------------------------------ */

/* An error in a text is reported with its line. why: NULL: it is not known */
static int complain_unreadable(const char *name, int error, const struct aggstats_parse_error *why) {
    if (error != -EBADMSG || !why)
        complain("cannot read profile %s: %s", name, strerror(-error));
    else if (why->line > 0)
        complain("%s is not a profile: line %zu: %s%s", name, why->line, why->message,
                 why->line == 1 && !strstr(why->message, "version") ? "; osprof run -o FILE writes one" : "");
    else
        complain("%s is not a profile: %s", name, why->message);
    return error;
}

/* Reads profiles until the stream ends. Errors: the failed call's, reported to the user */
static int load_stream(FILE *stream, const char *name, struct input *ret_input) {
    struct input input = {0};
    struct recording *recording = &input.layers;
    struct aggstats_text_position position = {0};
    struct aggstats_parse_error why = {0};
    struct aggstats_profile profile = {0};
    char complaint[RECORDING_COMPLAINT_SIZE] = "it holds more profiles than there are layers";
    int error = 0;
    int more = 0;
    while (error == 0 && (more = aggstats_profile_parse_next(stream, &position, &profile, &why)) > 0) {
        error = recording->count < RECORDING_LAYERS_MAX ? recording_add(recording, &profile) : -E2BIG;
        aggstats_profile_finish(&profile);
    }
    const bool is_too_long = error == -E2BIG;
    if (more < 0)
        error = more;
    if (is_too_long || (error == 0 && !recording_check(recording, complaint))) {
        complain("%s is no run of several layers: %s", name, complaint);
        error = -EBADMSG;
    } else if (error) {
        complain_unreadable(name, error, &why);
    }
    if (error) {
        recording_finish(recording);
        return error;
    }
    if (recording->count == 1)
        take_layer(&input, 0);
    *ret_input = input;
    return 0;
}

static int load_text(int fd, const char *name, struct input *ret_input) {
    CLEANUP_FD int stream_fd = dup(fd);
    CLEANUP_STREAM FILE *stream = fdopen(stream_fd, "r");
    if (!stream)
        return complain_unreadable(name, negative_errno(), NULL);
    steal_fd(&stream_fd);
    return load_stream(stream, name, ret_input);
}

/* ---- Killed processes --------------------------------------------------------------------------- */

/* The live file of a mount whose process was killed. Owner: the caller frees it; NULL: there is none */
static char *find_left(const char *mount) {
    CLEANUP_FREE char *resolved = realpath(mount, NULL);
    CLEANUP_LIVE_FILES struct live_files files = {0};
    const struct live_file *left = resolved && live_files_find(&files) == 0 ? live_files_left(&files, resolved) : NULL;
    return left ? strdup(left->path) : NULL;
}

void input_complain_dead(const char *mount) {
    CLEANUP_FREE char *left = find_left(mount);
    if (left)
        complain("the osproffs that served %s was killed; its profile is in %s: 'osprof save' takes it from there, and "
                 "'osprof unmount' takes the mount away",
                 mount, left);
    else
        complain("no process serves the mount %s any more, and none of the live files that you may read is of it; "
                 "'osprof unmount' takes it away",
                 mount);
}

/* For a mount that is still served, because another process than its daemon has profiled it. Returns false, and prints
 * nothing, if none was killed. */
static bool complain_observer_dead(const char *mount) {
    CLEANUP_FREE char *left = find_left(mount);
    if (left)
        complain("what profiled %s was killed; the profile until then is in %s: 'osprof save' takes it from there",
                 mount, left);
    return left;
}

static int complain_no_mount(const char *dir, int error) {
    struct name_set names = {.count = 0};
    if (error == -ENOENT)
        name_set_in(dir, "", &names);
    if (names.count > 0)
        complain("%s is a directory, and a profile is expected; name those in it one by one, such as %s%s*.osprof", dir,
                 dir, dir[0] && dir[strlen(dir) - 1] == '/' ? "" : "/");
    else if (error != -ENOENT)
        complain("cannot open the control file of %s: %s", dir, strerror(-error));
    else if (!complain_observer_dead(dir))
        complain("%s is a directory, and nothing profiles it: osprof attach %s, or osproffs %s MOUNTPOINT, does", dir,
                 dir, dir);
    name_set_finish(&names);
    return error;
}

/* The profile of a directory, which must be the root of a mount. */
static int load_mount(int dir_fd, const char *name, struct input *ret_input) {
    char path[PATH_MAX];
    CLEANUP_LIVE_FILES struct live_files files = {0};
    if (path_of_open(dir_fd, path) == 0 && live_files_find(&files) == 0 && load_serving(&files, path, ret_input) == 0)
        return 0;
    CLEANUP_FD int fd = openat(dir_fd, ".osprof", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return complain_no_mount(name, negative_errno());
    CLEANUP_FREE char *control_path = path_join(name, ".osprof");
    struct stat st;
    int error = load_text(fd, control_path ? control_path : name, ret_input);
    if (!error)
        ret_input->counting = true;
    if (!error && fstat(fd, &st) == 0)
        note_owner(&st, ret_input); /* the control file belongs to the user who mounted */
    return error;
}

static int complain_unopened(const char *argument, int error) {
    if (error == -ENOTCONN)
        input_complain_dead(argument);
    else if (error == -EACCES)
        complain("cannot open profile %s: %s; if root has made it: sudo osprof ...", argument, strerror(-error));
    else
        complain("cannot open profile %s: %s; a profile file, a mount point, a live file, - or @1 is expected",
                 argument, strerror(-error));
    return error;
}

/* Files of ours that are no profiles: events, and what show --json prints. Returns true after reporting it */
static bool is_other_file(int fd, const char *path) {
    static const char events_magic[] = "OSPEVENT"; /* events_format.h */
    char begin[sizeof(events_magic) - 1] = "";
    const ssize_t count = pread(fd, begin, sizeof(begin), 0);
    const bool has_events = count == sizeof(begin) && memcmp(begin, events_magic, sizeof(begin)) == 0;
    const bool has_json = count > 0 && begin[0] == '{';
    if (has_events)
        complain("%s is no profile, but a file of events: osprof events profile %s makes one", path, path);
    else if (has_json)
        complain("%s is no profile, but JSON, which is for other programs only; osprof save keeps profiles as text",
                 path);
    return has_events || has_json;
}

static int load_opened(int fd, const char *path, struct input *ret_input) {
    struct aggstats_parse_error why = {0};
    struct input input = {0};
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return complain_unopened(path, negative_errno());
    if (S_ISDIR(st.st_mode))
        return load_mount(fd, path, ret_input);
    input.is_live = S_ISREG(st.st_mode) && aggstats_live_is(fd);
    if (input.is_live) {
        int error = aggstats_live_read(fd, &input.profile, &input.live, &why);
        if (error)
            return complain_unreadable(path, error, &why);
        input.counting = input.live.recording;
        note_owner(&st, &input);
    } else {
        char last = '\n';
        int error = S_ISREG(st.st_mode) && is_other_file(fd, path) ? -EBADMSG : load_text(fd, path, &input);
        if (error)
            return error;
        /* A profile ends with a newline. One without was cut within a line, the rest of which may look complete. A file
         * that is no profile at all is reported as such. */
        if (S_ISREG(st.st_mode) && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n') {
            input_finish(&input);
            complain("%s is not a whole profile: it ends within a line, so it was cut short", path);
            return -EBADMSG;
        }
    }
    input.is_file = S_ISREG(st.st_mode);
    input.device = st.st_dev;
    input.inode = st.st_ino;
    *ret_input = input;
    return 0;
}

static int load_path(const char *path, struct input *ret_input) {
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    return load_opened(fd, path, ret_input);
}

/* ---- Kept results ------------------------------------------------------------------------------- */

static bool is_kept_untold;

void input_tell_kept(bool is_wanted) {
    is_kept_untold = !is_wanted;
}

char *input_describe_run(const struct aggstats_profile *profile, bool is_part) {
    const char *command = aggstats_profile_label(profile, "command");
    const char *attached = aggstats_profile_label(profile, "attached");
    const char *directory = is_part ? aggstats_profile_label(profile, "lower") : NULL;
    char *text = NULL;
    if (attached && !command)
        return asprintf(&text, "osprof attach %s", attached) < 0 ? NULL : text;
    return asprintf(&text, "%s%s%s", command ? command : "(an unknown command)", directory ? ", in " : "",
                    directory ? directory : "") < 0
               ? NULL
               : text;
}

static int load_kept(const char *argument, struct input *ret_input) {
    CLEANUP_FD int fd = -1;
    char time[KEPT_TIME_SIZE];
    int error = kept_open_named(argument, &fd, time);
    if (error == 0)
        error = load_opened(fd, argument, ret_input);
    if (error || is_kept_untold)
        return error;
    CLEANUP_FREE char *run = input_describe_run(input_layer(ret_input, 0), strchr(argument, '.'));
    if (run)
        complain("%s is the run of %s: %s", argument, time, run);
    return 0;
}

/* Opening a FIFO may block for ever, and opening a device may do something. */
static int load_found(const char *path, struct input *ret_input) {
    CLEANUP_FD int path_fd = open(path, O_PATH | O_CLOEXEC);
    struct stat st;
    char opened[32];
    if (path_fd < 0 || fstat(path_fd, &st) < 0)
        return complain_unopened(path, negative_errno());
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        complain("%s is not a profile: it is a FIFO, a socket or a device, which is read only if it is named", path);
        return -EINVAL;
    }
    snprintf(opened, sizeof(opened), "/proc/self/fd/%d", path_fd);
    CLEANUP_FD int fd = open(opened, O_RDONLY | O_CLOEXEC);
    return load_opened(fd, path, ret_input);
}

/* files: may have changed when it returns */
static int load_file(struct live_files *files, const char *name, input_load_fn load, struct input *ret_input) {
    live_files_wait_for_profile(files, name);
    return load(name, ret_input);
}

static int load_named(const char *name, input_load_fn load, struct input *ret_input) {
    CLEANUP_LIVE_FILES struct live_files files = {0};
    if (live_files_find(&files) == 0 && load_serving(&files, name, ret_input) == 0)
        return 0;
    return load_file(&files, name, load, ret_input);
}

int input_load_recording(const char *argument, struct input *ret_input) {
    if (strcmp(argument, "-") == 0)
        return load_stream(stdin, "standard input", ret_input);
    if (kept_is_name(argument))
        return load_kept(argument, ret_input);
    return load_named(argument, load_path, ret_input);
}

int input_load_found(const char *name, struct input *ret_input) {
    return load_named(name, load_found, ret_input);
}

int input_load(const char *argument, struct input_layer *layer, struct input *ret_input) {
    struct input input = {0};
    int error = input_load_recording(argument, &input);
    if (error)
        return error;
    error = input_choose(argument, layer, &input);
    if (error)
        input_finish(&input);
    else
        *ret_input = input;
    return error;
}

/* ---- Control files ------------------------------------------------------------------------------ */

/* The same for an argument that may lead there through symbolic links. It is resolved, which asks the mount, only if
 * its text is unknown.
 * Owner: ret_files, which the caller finishes in any case */
static struct live_file *find_serving_resolved(struct live_files *ret_files, const char *argument) {
    if (live_files_find(ret_files) < 0)
        return NULL;
    struct live_file *file = find_serving(ret_files, argument);
    CLEANUP_FREE char *resolved = file ? NULL : realpath(argument, NULL);
    return resolved ? find_serving(ret_files, resolved) : file;
}

int input_find_live(const char *argument, char **ret_path) {
    CLEANUP_LIVE_FILES struct live_files files = {0};
    struct live_file *file = find_serving_resolved(&files, argument);
    if (!file)
        return -ENOENT;
    *ret_path = steal_pointer(&file->path);
    return 0;
}

char *input_find_mount(const char *argument) {
    CLEANUP_LIVE_FILES struct live_files files = {0};
    const struct live_file *file = find_serving_resolved(&files, argument);
    if (!file) {
        char *resolved = realpath(argument, NULL);
        return resolved ? resolved : path_normalise(argument);
    }
    const char *mount = aggstats_profile_label(&file->profile, "mount");
    return mount ? strdup(mount) : NULL;
}

static void complain_no_control(const char *argument, const char *path, int error) {
    if (error == -ENOTCONN)
        input_complain_dead(argument);
    else if (error == -ENOENT && complain_observer_dead(argument))
        return;
    else if (error == -ENOENT || error == -ENOTDIR)
        complain("%s is not the mount point of an osproffs: there is no %s", argument, path);
    else if (error == -EACCES || error == -EPERM)
        complain("cannot write %s: %s; " CONTROL_WHO_MAY, path, strerror(-error));
    else
        complain("cannot open %s: %s", path, strerror(-error));
}

/* Commands go to the socket of the process that serves a mount, or to its control file: by its live file, or else by
 * default. */
int input_command(const char *argument, const char *text, const struct control_passed *passed, char **ret_reason) {
    CLEANUP_LIVE_FILES struct live_files files = {0};
    const struct live_file *file = find_serving_resolved(&files, argument);
    CLEANUP_FREE char *path = file ? live_file_control(file) : path_join(argument, ".osprof");
    CLEANUP_FREE char *answer = NULL;
    size_t answer_bytes;
    struct statfs fs;
    *ret_reason = NULL;
    if (!path) {
        complain_no_control(argument, argument, -ENOMEM);
        return 1;
    }
    if (control_socket_is_at(path)) {
        int error = control_socket_ask(path, text, passed, &answer, &answer_bytes);
        if (error != -EACCES && error != -EPERM && error != -ECONNREFUSED) {
            *ret_reason = error ? steal_pointer(&answer) : NULL;
            return error;
        }
        complain("cannot command the profiler of %s at %s: %s; %s", argument, path, strerror(-error),
                 error == -ECONNREFUSED ? "its process has ended" : CONTROL_WHO_MAY);
        return 1;
    }
    if (passed)
        return -ENOTCONN;
    CLEANUP_FD int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstatfs(fd, &fs) < 0) {
        complain_no_control(argument, path, negative_errno());
        return 1;
    }
    /* A profile that somebody saved under this name must not be overwritten. */
    if (fs.f_type != FUSE_SUPER_MAGIC) {
        complain("%s is not the mount point of an osproffs: %s is an ordinary file", argument, path);
        return 1;
    }
    return write_all(fd, text, strlen(text));
}

/* ---- Whole profiles of mounts ------------------------------------------------------------------- */

static int load_socket(const char *path, struct input *ret_input) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = control_socket_ask(path, "show\n", NULL, &text, &size_bytes);
    if (error)
        return complain_unreadable(path, error, NULL);
    CLEANUP_STREAM FILE *stream = fmemopen(text, size_bytes, "r");
    return stream ? load_stream(stream, path, ret_input) : complain_unreadable(path, negative_errno(), NULL);
}

int input_load_whole(const char *argument, struct input *ret_input) {
    CLEANUP_LIVE_FILES struct live_files files = {0};
    const bool may_be_mount = strcmp(argument, "-") != 0 && !kept_is_name(argument) && live_files_find(&files) == 0;
    const struct live_file *file = may_be_mount ? find_serving(&files, argument) : NULL;
    if (!file)
        return may_be_mount ? load_file(&files, argument, load_path, ret_input)
                            : input_load_recording(argument, ret_input);
    CLEANUP_FREE char *path = live_file_control(file);
    struct stat st;
    const bool has_owner = lstat(file->path, &st) == 0;
    int error = path && control_socket_is_at(path) ? load_socket(path, ret_input)
                                                   : load_path(path ? path : argument, ret_input);
    if (!error)
        ret_input->counting = true;
    if (!error && has_owner)
        note_owner(&st, ret_input);
    return error;
}

void input_finish(struct input *input) {
    aggstats_profile_finish(&input->profile);
    recording_finish(&input->layers);
    *input = (struct input){0};
}

/* ---- Calls in flight ---------------------------------------------------------------------------- */

/* Asks for the profile at a control file or socket, by a child process that may hang, and waits a moment for the answer. */
static int ask(struct control_reader *reader, const char *path, struct aggstats_profile *ret_answer) {
    int error = control_reader_begin(reader, path);
    if (error)
        return error;
    while ((error = control_reader_collect(reader, ret_answer)) == -EAGAIN) {
        int64_t left_ns = PATIENCE_NS - control_reader_age_ns(reader);
        if (left_ns <= 0)
            break;
        control_reader_wait(reader, left_ns);
    }
    return error;
}

/* Programs are read from /proc. A path is that of a call of the same op on the same node by the same process: if that is a
 * later one, its path is as good. */
void in_flight_find_out(struct input *input) {
    struct aggstats_profile *profile = &input->profile;
    struct control_reader reader = {.pid = 0};
    struct aggstats_profile answer = {0};
    if (!input->is_live || !input->live.recording || profile->in_flight_count == 0)
        return;
    CLEANUP_FREE char *path = live_control(profile);
    const bool has_answer = path && ask(&reader, path, &answer) == 0;
    for (size_t i = 0; i < profile->in_flight_count; i++) {
        struct aggstats_call *call = &profile->in_flight[i];
        if (!call->program[0] && call->pid > 0)
            proc_name_read(call->pid, call->program, sizeof(call->program));
        for (size_t j = 0; has_answer && j < answer.in_flight_count && !call->path; j++) {
            struct aggstats_call *other = &answer.in_flight[j];
            if (strcmp(call->op, other->op) == 0 && call->object == other->object && call->pid == other->pid)
                call->path = steal_pointer(&other->path);
        }
    }
    control_reader_finish(&reader);
    aggstats_profile_finish(&answer);
}

/* ---- Operations that were chosen ---------------------------------------------------------------- */

size_t input_count_ops(const struct option_list *ops, const struct aggstats_profile *profile) {
    size_t count = 0;
    for (size_t i = 0; i < profile->op_count; i++)
        count += option_list_wants(ops, profile->ops[i].name);
    return count;
}

enum status input_report_absent_ops(const struct option_list *ops, const struct aggstats_profile *profile) {
    enum status status = STATUS_OK;
    for (size_t i = 0; i < ops->count; i++) {
        const struct option_list one = {.texts = &ops->texts[i], .count = 1};
        if (input_count_ops(&one, profile) > 0)
            continue;
        const char *op = ops->texts[i];
        if (layers_has_kernel_data(profile) && (strcasecmp(op, "READ") == 0 || strcasecmp(op, "WRITE") == 0))
            complain("no call of %s in this profile: " LAYERS_KERNEL_DATA, op);
        else
            complain("no call of %s in this profile; 'osprof show' without --op lists its operations", op);
        status = STATUS_NOT_SO;
    }
    return status;
}
