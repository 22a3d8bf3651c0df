#include "saving.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "control_file.h"
#include "final_file.h"
#include "path.h"

/* A file in the mount would be written by the daemon that is profiled. */
static int open_place(const struct saving *saving, const char *file, int *ret_dir_fd, const char **ret_name) {
    struct stat attr;
    CLEANUP_FD int dir_fd = -1;
    int error = open_parent(AT_FDCWD, file, &dir_fd, ret_name);
    if (error == 0 && fstat(dir_fd, &attr) < 0)
        error = negative_errno();
    if (error == 0 && attr.st_dev == saving->device)
        error = -ELOOP;
    if (error == 0)
        *ret_dir_fd = steal_fd(&dir_fd);
    return error;
}

static mode_t mode_of(bool has_paths) {
    const mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask & (has_paths ? 0600 : 0666);
}

static int make_text(const struct saving *saving, struct control_text *ret_text) {
    struct control control = *saving->control;
    control.is_saved = true;
    return control_read(&control, &view_text, true, ret_text);
}

static int save_final(const struct saving *saving, bool keeps_old, char **ret_other) {
    CLEANUP_FD int dir_fd = -1;
    CLEANUP_FREE char *other_name = NULL;
    char directory[PATH_MAX] = "";
    const char *name;
    struct control_text text;
    int error = open_place(saving, saving->profile, &dir_fd, &name);
    if (error == 0)
        error = make_text(saving, &text);
    if (error)
        return error;
    error = final_file_save(dir_fd, name, keeps_old, mode_of(text.has_paths), &text, &other_name);
    free(text.text);
    path_of_open(dir_fd, directory);
    *ret_other = other_name ? path_join(directory, other_name) : NULL;
    return error;
}

static int save_in_open_file(const struct saving *saving, const struct control_file *file) {
    struct control_text text;
    int error = make_text(saving, &text);
    if (error)
        return error;
    error = control_file_write(file, saving->device, text.text, text.size_bytes);
    free(text.text);
    return error;
}

int saving_check(const struct saving *saving) {
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    return open_place(saving, saving->profile, &dir_fd, &name);
}

int saving_save(const struct saving *saving, char **ret_other) {
    return save_final(saving, saving->keeps_old, ret_other);
}

int saving_dump(void *context, const struct control_file *file) {
    const struct saving *saving = context;
    CLEANUP_FREE char *other = NULL;
    if (!file->name && !saving->profile)
        return -EINVAL;
    return file->name ? save_in_open_file(saving, file) : save_final(saving, false, &other);
}

/* ---- Rotation ----------------------------------------------------------------------------------- */

struct span_place {
    const struct saving *saving;
    const struct control_file *file;
};

/* An aggstats_save_fn. */
static int save_span(void *context, const struct aggstats_profile *profile) {
    const struct span_place *place = context;
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes;
    int error = aggstats_profile_format(profile, &text, &size_bytes);
    if (error == 0)
        error = control_file_write(place->file, place->saving->device, text, size_bytes);
    return error ? error : place->file->give_name(place->file->context);
}

int saving_rotate(void *context, const struct control_file *file) {
    const struct saving *saving = context;
    struct span_place place = {saving, file};
    return aggstats_recorder_rotate(saving->control->recorder, save_span, &place);
}
