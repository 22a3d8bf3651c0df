#include "saving.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"

#define BACKUP_SUFFIX ".old"

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

static int save(const struct saving *saving, const char *file, bool keeps_old) {
    CLEANUP_FD int dir_fd = -1;
    CLEANUP_FREE char *backup = NULL;
    const char *name;
    struct control control = *saving->control;
    struct control_text text;
    control.is_saved = true;
    int error = open_place(saving, file, &dir_fd, &name);
    if (error == 0 && keeps_old && asprintf(&backup, "%s" BACKUP_SUFFIX, name) < 0)
        error = -ENOMEM;
    if (error == 0)
        error = control_read(&control, &view_text, true, &text);
    if (error)
        return error;
    error = replace_file(dir_fd, name, backup, mode_of(text.has_paths), text.text, text.size_bytes);
    free(text.text);
    return error;
}

int saving_check(const struct saving *saving) {
    CLEANUP_FD int dir_fd = -1;
    const char *name;
    return open_place(saving, saving->profile, &dir_fd, &name);
}

int saving_save(const struct saving *saving) {
    return save(saving, saving->profile, saving->keeps_old);
}

int saving_dump(void *context, const char *file) {
    const struct saving *saving = context;
    return save(saving, file ? file : saving->profile, false);
}

/* ---- Rotation ----------------------------------------------------------------------------------- */

struct span_place {
    const struct saving *saving;
    const char *file;
};

/* An aggstats_save_fn. */
static int save_span(void *context, const struct aggstats_profile *profile) {
    const struct span_place *place = context;
    CLEANUP_FD int dir_fd = -1;
    CLEANUP_FREE char *text = NULL;
    const char *name;
    size_t size_bytes;
    struct stat attr;
    int error = open_place(place->saving, place->file, &dir_fd, &name);
    if (error == 0 && fstatat(dir_fd, name, &attr, AT_SYMLINK_NOFOLLOW) == 0)
        error = -EEXIST;
    if (error == 0)
        error = aggstats_profile_format(profile, &text, &size_bytes);
    return error ? error
                 : replace_file(dir_fd, name, NULL, mode_of(aggstats_profile_has_paths(profile)), text, size_bytes);
}

int saving_rotate(void *context, const char *file) {
    const struct saving *saving = context;
    struct span_place place = {saving, file};
    return aggstats_recorder_rotate(saving->control->recorder, save_span, &place);
}
