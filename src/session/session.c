#include "session.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggstats/joint_profiles.h"
#include "aggstats/shared.h"
#include "aggstats/user_label.h"
#include "base.h"
#include "live_dirs.h"
#include "process.h"

#define HEADER_LABELS 9

void session_tell(const struct session *session, const char *format, ...) {
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
                              {"control", session->socket_path},
                              {"profile", session->options->profile}};
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

/* ---- What is recorded --------------------------------------------------------------------------- */

/* Keeps those of the op's values that are in kept, and adds some. */
static const char *change_joint(struct session *session, unsigned op, unsigned kept, unsigned added) {
    pthread_mutex_lock(&session->lock);
    const unsigned values = (session->joint[op] & kept) | added;
    const int error =
        values == session->joint[op] ? 0 : session->source.set_joint(session->source.set_context, op, values);
    if (error == 0)
        session->joint[op] = values;
    pthread_mutex_unlock(&session->lock);
    return error ? strerror(-error) : NULL;
}

/* session: NULL: the argument is only checked */
static const char *set_joint(struct session *session, session_find_joint_fn find_joint, const char *argument) {
    struct control_joint joint;
    enum aggstats_value value = AGGSTATS_ERROR;
    unsigned op = 0;
    const char *why = control_parse_joint(argument, &joint);
    if (!why && !joint.ends_all)
        why = find_joint(joint.op, joint.value, &op, &value);
    if (why || !session)
        return why;
    if (!joint.ends_all)
        return joint.ends ? change_joint(session, op, 0, 0) : change_joint(session, op, ~0U, 1U << value);
    for (op = 0; op < session->source.op_count && !why; op++)
        why = change_joint(session, op, 0, 0);
    return why;
}

const char *session_set_joint(void *context, const char *argument, bool apply) {
    struct session *session = context;
    return set_joint(apply ? session : NULL, session->source.find_joint, argument);
}

/* With a colon, as in options. */
static const char *set_joint_option(struct session *session, session_find_joint_fn find_joint, const char *option) {
    CLEANUP_FREE char *argument = strdup(option);
    char *colon = argument ? strchr(argument, ':') : NULL;
    if (!colon)
        return argument ? "must be OP:VALUE, such as read:size" : strerror(ENOMEM);
    *colon = ' ';
    return set_joint(session, find_joint, argument);
}

const char *session_check_joint(session_find_joint_fn find_joint, const char *argument) {
    return set_joint_option(NULL, find_joint, argument);
}

int session_set_slow(void *context, uint64_t ns) {
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

static int start_groupings(struct session *session) {
    int error = 0;
    for (unsigned kind = AGGSTATS_UNGROUPED + 1; kind < AGGSTATS_GROUPINGS && error == 0; kind++) {
        if (!(session->options->groupings & 1U << kind))
            continue;
        struct aggstats_grouping_options wanted = session->source.ways[kind];
        wanted.grouping = (enum aggstats_grouping)kind;
        wanted.groups_max = session->options->groups_max;
        error = aggstats_recorder_group(session->recorder, &wanted);
    }
    return error;
}

int session_record(struct session *session) {
    const struct session_options *options = session->options;
    const struct session_source *source = &session->source;
    const bool has_slow = source->slow.find_cause;
    session->control = (struct control){.recorder = session->recorder,
                                        .dump = session_dump,
                                        .dump_context = session,
                                        .rotate = session_rotate,
                                        .rotate_context = session,
                                        .joint = source->find_joint ? session_set_joint : NULL,
                                        .joint_context = session,
                                        .slow = has_slow ? session_set_slow : NULL,
                                        .slow_context = session,
                                        .path_of = source->slow.path_of,
                                        .number_of = source->slow.number_of,
                                        .path_context = source->slow.path_context,
                                        .intervals_max = options->intervals_max};
    int error = start_groupings(session);
    if (error == 0 && options->interval_ns > 0)
        error = aggstats_recorder_set_interval(session->recorder, options->interval_ns, options->intervals_max);
    for (size_t i = 0; i < options->joint.count && error == 0; i++)
        error = set_joint_option(session, source->find_joint, options->joint.texts[i]) ? -ENOMEM : 0;
    if (error == 0 && has_slow && options->slow_ns > 0)
        error = session_set_slow(session, options->slow_ns);
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
        session_tell(session, "the profile of %s cannot be controlled: no socket can be made at %s: %s", source->name,
                     session->socket_path, strerror(-error));
    return error == 0;
}

void session_stop_answering(struct session *session) {
    while (!control_server_stop(&session->socket))
        continue; /* its command hangs */
}
