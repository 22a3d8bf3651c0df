/* Where profiles of a session are saved: the final one, and those of commands. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "control_file.h"
#include "final_file.h"
#include "path.h"
#include "session.h"

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

static mode_t mode_of(bool has_paths) {
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask & (has_paths ? 0600 : 0666);
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
    error = final_file_save(dir_fd, name, keeps_old, mode_of(text.has_paths), &text, &other_name);
    free(text.text);
    path_of_open(dir_fd, directory);
    *ret_other = other_name ? path_join(directory, other_name) : NULL;
    return error;
}

#define IN_LIVE "in %s, from where 'osprof recover' takes it"

int session_save(const struct session *session) {
    const char *name = session->source.name;
    const char *profile = session->options->profile;
    CLEANUP_FREE char *other = NULL;
    const int error = profile ? save_final(session, session->options->keeps_old, &other) : 0;
    const char *why = error == -ELOOP ? "it lies in the mount itself" : strerror(-error);
    if (other)
        session_tell(session, "%s holds the profile of another mount, or a later one; that of %s goes to %s", profile,
                     name, other);
    if (error && session->live_path)
        session_tell(session, "cannot write the profile of %s to %s: %s; it is " IN_LIVE, name, profile, why,
                     session->live_path);
    else if (error)
        session_tell(session, "cannot write the profile of %s to %s: %s", name, profile, why);
    return error;
}

void session_leave(struct session *session) {
    if (!session->live_path)
        return;
    session->keeps_live = true;
    session_tell(session, "the profile of %s is " IN_LIVE, session->source.name, session->live_path);
}

int session_end(struct session *session) {
    session_stop_answering(session);
    const int error = session_save(session);
    if (error == 0 && !session->keeps_live)
        aggstats_recorder_unlink_live(session->recorder);
    session->keeps_live = true;
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

int session_dump(void *context, const struct control_file *file) {
    const struct session *session = context;
    CLEANUP_FREE char *other = NULL;
    if (!file->name && !session->options->profile)
        return -EINVAL;
    return file->name ? save_in_open_file(session, file) : save_final(session, false, &other);
}

/* ---- Rotation ----------------------------------------------------------------------------------- */

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

int session_rotate(void *context, const struct control_file *file) {
    const struct session *session = context;
    struct span_place place = {session, file};
    return aggstats_recorder_rotate(session->recorder, save_span, &place);
}
