/* A session in the order of its life: the recorder, saving, what is recorded, commands, the end. The lock is held while what is
 * recorded changes, and while nothing else. */
#include "session.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggstats/joint_profiles.h"
#include "aggstats/shared.h"
#include "aggstats/user_label.h"
#include "base.h"
#include "final_file.h"
#include "live_dirs.h"
#include "path.h"
#include "process.h"

#define HEADER_LABELS 14

__attribute__((format(printf, 2, 3))) static void tell(const struct session *session, const char *format, ...) {
    CLEANUP_FREE char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    if (text && session->source.tell)
        session->source.tell(session->source.context, text);
}

/* ---- The recorder ------------------------------------------------------------------------------- */

static int create_recorder(struct session *session) {
    const struct session_source *source = &session->source;
    const struct session_header *header = &source->header;
    const struct option_list *given = &session->options->labels;
    char host[HOST_NAME_MAX + 1] = "";
    char keys[USER_LABELS_MAX][USER_LABEL_HEADER_SIZE];
    struct aggstats_label labels[HEADER_LABELS + USER_LABELS_MAX];
    const struct {
        const char *key, *value;
    } lines[HEADER_LABELS] = {{"layer", header->layer},
                              {"host", host},
                              {"lower", header->lower},
                              {"devices", header->devices},
                              {header->whose.key, header->whose.value},
                              {"mount", header->mount},
                              {"fstype", header->filesystem},
                              {"cache", header->cache},
                              {"control", header->control ? header->control : session->socket_path},
                              {"profile", header->profile},
                              {"data", header->data},
                              {"workers", header->workers},
                              {"io_uring", header->io_uring},
                              {"locks", header->locks}};
    size_t count = 0;
    gethostname(host, sizeof(host) - 1);
    for (size_t i = 0; i < HEADER_LABELS; i++)
        if (lines[i].value)
            labels[count++] =
                (struct aggstats_label){(char *)(uintptr_t)lines[i].key, (char *)(uintptr_t)lines[i].value};
    for (size_t i = 0; i < given->count; i++) {
        const char *value = user_label_split(given->texts[i], keys[i]);
        labels[count++] = (struct aggstats_label){keys[i], (char *)(uintptr_t)value};
    }
    const struct aggstats_recorder_options options = {.op_names = source->op_names,
                                                      .op_count = source->op_count,
                                                      .resolution = session->options->resolution,
                                                      .clock = source->clock,
                                                      .labels = labels,
                                                      .label_count = count,
                                                      .live_path = session->live_path};
    return source->shared_threads > 0 ? aggstats_recorder_create_shared(&options, source->shared_threads,
                                                                        session->options->groupings, &session->recorder)
                                      : aggstats_recorder_create(&options, &session->recorder);
}

static void forget_paths(struct session *session) {
    free(steal_pointer(&session->live_path));
    free(steal_pointer(&session->socket_path));
}

/* A live_dirs_try() function. A socket without a live file was left by a process that was killed. */
static int create_live(void *context, const char *path) {
    struct session *session = context;
    session->live_path = strdup(path);
    int error = session->live_path ? 0 : -ENOMEM;
    if (error == 0 && session->source.has_socket)
        error = live_socket_path(path, &session->socket_path);
    if (error == 0 && session->socket_path && !session->source.live_path && access(session->socket_path, F_OK) == 0)
        error = -EEXIST;
    if (error == 0)
        error = create_recorder(session);
    if (error)
        forget_paths(session);
    return error;
}

static int create_somewhere(struct session *session) {
    const struct session_source *source = &session->source;
    int error = 0;
    if (source->directory) {
        snprintf(session->directory, sizeof(session->directory), "%s", source->directory);
    } else {
        struct live_dirs dirs;
        live_dirs_find(&dirs);
        error = live_dirs_make(&dirs);
        snprintf(session->directory, sizeof(session->directory), "%s", dirs.paths[dirs.chosen]);
    }
    return error ? error : live_dirs_try(session->directory, source->tag, create_live, session);
}

int session_open(struct session *session, const struct session_options *options, const struct session_source *source) {
    *session = (struct session){.options = options, .source = *source, .socket = CONTROL_SERVER_NONE};
    int error = source->live_path ? create_live(session, source->live_path)
                : source->tag     ? create_somewhere(session)
                                  : create_recorder(session);
    if (error == 0)
        pthread_mutex_init(&session->lock, NULL);
    return error;
}

/* ---- Saving ------------------------------------------------------------------------------------- */

/* A file in the mount would be written by the daemon that is profiled. */
static int open_place(const char *file, dev_t device, int *ret_dir_fd, const char **ret_name) {
    struct stat attr;
    CLEANUP_FD int dir_fd = -1;
    int error = open_parent(AT_FDCWD, file, &dir_fd, ret_name);
    if (error == 0 && fstat(dir_fd, &attr) < 0)
        error = negative_errno();
    if (error == 0 && attr.st_dev == device)
        error = -ELOOP;
    if (error == 0)
        *ret_dir_fd = steal_fd(&dir_fd);
    return error;
}

int session_check_place(const char *profile, dev_t device) {
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    return open_place(profile, device, &dir_fd, &name);
}

static int make_text(const struct session *session, struct control_text *ret_text) {
    struct control control = session->control;
    control.is_saved = true;
    return control_read(&control, &view_text, true, ret_text);
}

/* ret_other: the path that it went to if another file must stay in its place (final_file.h); NULL: it is in its place */
static int save_final(const struct session *session, bool keeps_old, char **ret_other) {
    CLEANUP_FD int dir_fd = -1;
    CLEANUP_FREE char *other_name = NULL;
    char directory[PATH_MAX] = "";
    const char *name;
    struct control_text text;
    int error = open_place(session->options->profile, session->source.device, &dir_fd, &name);
    if (error == 0)
        error = make_text(session, &text);
    if (error)
        return error;
    error =
        final_file_save(dir_fd, name, keeps_old, new_file_mode() & (text.has_paths ? 0600 : 0666), &text, &other_name);
    free(text.text);
    path_of_open(dir_fd, directory);
    *ret_other = other_name ? path_join(directory, other_name) : NULL;
    return error;
}

static int save_in_open_file(const struct session *session, const struct control_file *file) {
    struct control_text text;
    int error = make_text(session, &text);
    if (error)
        return error;
    error = control_file_write(file, session->source.device, text.text, text.size_bytes);
    free(text.text);
    return error;
}

/* Saves the profile so far in a file that the client has opened, or, without a name, to the place of the final one. A
 * control_file_fn */
static int dump(void *context, const struct control_file *file) {
    const struct session *session = context;
    CLEANUP_FREE char *other = NULL;
    if (!file->name && !session->options->profile)
        return -EINVAL;
    return file->name ? save_in_open_file(session, file) : save_final(session, false, &other);
}

struct span_place {
    const struct session *session;
    const struct control_file *file;
};

/* An aggstats_save_fn. */
static int save_span(void *context, const struct aggstats_profile *profile) {
    const struct span_place *place = context;
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    int error = aggstats_profile_format(profile, &text, &size_bytes);
    if (error == 0)
        error = control_file_write(place->file, place->session->source.device, text, size_bytes);
    return error ? error : place->file->give_name(place->file->context);
}

/* Saves the profile in a new file that the client has opened, and begins the next. A control_file_fn */
static int rotate(void *context, const struct control_file *file) {
    const struct session *session = context;
    struct span_place place = {session, file};
    return aggstats_recorder_rotate(session->recorder, save_span, &place);
}

/* ---- What is recorded --------------------------------------------------------------------------- */

/* Keeps those of the op's values that are in kept, and adds some. */
static int change_joint(struct session *session, unsigned op, unsigned kept, unsigned added) {
    pthread_mutex_lock(&session->lock);
    const unsigned values = (session->joint[op] & kept) | added;
    const int error =
        values == session->joint[op] ? 0 : session->source.set_joint(session->source.set_context, op, values);
    if (error == 0)
        session->joint[op] = values;
    pthread_mutex_unlock(&session->lock);
    return error;
}

/* A control_joint_fn. */
static const char *set_joint(void *context, const char *argument, bool apply) {
    struct session *session = context;
    struct control_joint joint;
    enum aggstats_value value = AGGSTATS_ERROR; /* which every op has */
    unsigned op = 0;
    const char *why = control_parse_joint(argument, &joint);
    if (!why && !joint.ends_all)
        why = session->source.find_joint(joint.op, joint.value, &op, &value);
    if (why || !apply)
        return why;
    int error = 0;
    if (!joint.ends_all)
        error = joint.ends ? change_joint(session, op, 0, 0) : change_joint(session, op, ~0U, 1U << value);
    for (op = 0; joint.ends_all && op < session->source.op_count && error == 0; op++)
        error = change_joint(session, op, 0, 0);
    return error ? strerror(-error) : NULL;
}

const char *session_parse_joint(session_find_joint_fn find_joint, const char *argument,
                                unsigned joint[AGGSTATS_OPS_MAX]) {
    enum aggstats_value value = AGGSTATS_ERROR;
    unsigned op = 0;
    CLEANUP_FREE char *name = strdup(argument);
    char *colon = name ? strchr(name, ':') : NULL;
    if (!colon)
        return name ? "must be OP:VALUE, such as read:size" : strerror(ENOMEM);
    *colon = '\0';
    const char *why = find_joint(name, colon + 1, &op, &value);
    if (!why)
        joint[op] |= 1U << value;
    return why;
}

/* A control_slow_fn. */
static int set_slow(void *context, uint64_t ns) {
    struct session *session = context;
    pthread_mutex_lock(&session->lock);
    session->source.slow.threshold_ns = ns;
    const int error = aggstats_recorder_set_slow(session->recorder, &session->source.slow);
    if (error == 0 && session->source.slow_is_set)
        session->source.slow_is_set(session->source.set_context);
    pthread_mutex_unlock(&session->lock);
    return error;
}

void session_group_by_threads(struct session_source *source, const struct aggstats_grouping_options *callers,
                              const struct aggstats_grouping_options *objects) {
    for (unsigned kind = AGGSTATS_UNGROUPED + 1; kind < AGGSTATS_GROUPINGS; kind++) {
        const enum aggstats_grouping grouping = (enum aggstats_grouping)kind;
        struct aggstats_grouping_options *way = &source->ways[kind];
        *way = aggstats_grouping_has_objects(grouping) ? *objects : *callers;
        way->identify = process_identify_by(grouping);
        if (way->identify != process_identify)
            way->identify_first = NULL;
        if (grouping != AGGSTATS_BY_DIRECTORY)
            way->place_of = NULL;
    }
}

unsigned session_groupings(const struct session *session, unsigned wanted,
                           struct aggstats_grouping_options ret_groupings[AGGSTATS_GROUPINGS]) {
    unsigned count = 0;
    for (unsigned kind = AGGSTATS_UNGROUPED + 1; kind < AGGSTATS_GROUPINGS; kind++) {
        if (!(wanted & 1U << kind))
            continue;
        ret_groupings[count] = session->source.ways[kind];
        ret_groupings[count].grouping = (enum aggstats_grouping)kind;
        ret_groupings[count++].groups_max = session->options->groups_max;
    }
    return count;
}

int session_record(struct session *session) {
    const struct session_options *options = session->options;
    const struct session_source *source = &session->source;
    const bool has_slow = source->slow.find_cause;
    session->control = (struct control){.recorder = session->recorder,
                                        .dump = dump,
                                        .dump_context = session,
                                        .rotate = rotate,
                                        .rotate_context = session,
                                        .joint = source->find_joint ? set_joint : NULL,
                                        .joint_context = session,
                                        .slow = has_slow ? set_slow : NULL,
                                        .slow_context = session,
                                        .path_of = source->slow.path_of,
                                        .number_of = source->slow.number_of,
                                        .path_context = source->slow.path_context,
                                        .intervals_max = options->intervals_max};
    struct aggstats_grouping_options groupings[AGGSTATS_GROUPINGS];
    const unsigned count = session_groupings(session, options->groupings, groupings);
    char *failed = session->failed;
    int error = 0;
    for (unsigned i = 0; i < count && error == 0; i++) {
        snprintf(failed, sizeof(session->failed), "profile by %s", aggstats_grouping_name(groupings[i].grouping));
        error = aggstats_recorder_group(session->recorder, &groupings[i]);
    }
    if (error == 0 && options->interval_ns > 0) {
        snprintf(failed, sizeof(session->failed), "sample the profile");
        error = aggstats_recorder_set_interval(session->recorder, options->interval_ns, options->intervals_max);
    }
    for (unsigned op = 0; op < source->op_count && error == 0; op++)
        if (options->joint[op]) {
            snprintf(failed, sizeof(session->failed), "relate latencies to values");
            error = change_joint(session, op, ~0U, options->joint[op]);
        }
    if (error == 0 && has_slow && options->slow_ns > 0) {
        snprintf(failed, sizeof(session->failed), "look for slow calls");
        error = set_slow(session, options->slow_ns);
    }
    return error;
}

/* ---- Commands ----------------------------------------------------------------------------------- */

bool session_answer(struct session *session) {
    const struct session_source *source = &session->source;
    if (!session->socket_path)
        return false;
    int error = control_server_listen(&session->socket, session->socket_path);
    if (error == 0)
        error = control_server_start(&session->socket, &session->control, source->catch_up, source->context,
                                     source->handed_over);
    if (error)
        tell(session, "the profile of %s cannot be controlled: no socket can be made at %s: %s", source->name,
             session->socket_path, strerror(-error));
    return error == 0;
}

/* ---- The end ------------------------------------------------------------------------------------ */

void session_stop_answering(struct session *session) {
    while (!control_server_stop(&session->socket))
        continue; /* its command hangs */
}

#define IN_LIVE "in %s, from where 'osprof save' takes it"

int session_save(const struct session *session) {
    const char *name = session->source.name;
    const char *profile = session->options->profile;
    CLEANUP_FREE char *other = NULL;
    const int error = profile ? save_final(session, session->options->keeps_old, &other) : 0;
    const char *why = error == -ELOOP ? "it lies in the mount itself" : strerror(-error);
    if (other)
        tell(session, FINAL_FILE_IS_TAKEN "; that of %s goes to %s", profile, name, other);
    if (error && session->live_path)
        tell(session, "cannot write the profile of %s to %s: %s; it is " IN_LIVE, name, profile, why,
             session->live_path);
    else if (error)
        tell(session, "cannot write the profile of %s to %s: %s", name, profile, why);
    return error;
}

void session_leave(struct session *session) {
    if (!session->live_path)
        return;
    session->keeps_live = true;
    tell(session, "the profile of %s is " IN_LIVE, session->source.name, session->live_path);
}

int session_end(struct session *session) {
    session_stop_answering(session);
    const int error = session_save(session);
    if (error == 0 && !session->keeps_live)
        aggstats_recorder_unlink_live(session->recorder);
    session->keeps_live = true;
    return error;
}

void session_finish(struct session *session) {
    if (!session->recorder)
        return;
    session_stop_answering(session);
    if (!session->keeps_live)
        aggstats_recorder_unlink_live(session->recorder);
    aggstats_recorder_destroy(steal_pointer(&session->recorder));
    forget_paths(session);
    pthread_mutex_destroy(&session->lock);
}
