/* Rotation. A span is in its file, under the file's own name, before it is taken from the profile; and nothing that can
 * take long is done between, for a process that is killed there leaves it in both. */
#include "rotator.h"

#include <string.h>

#include "base.h"
#include "new_file.h"

/* One rotation. */
struct saving {
    struct rotator *rotator;
    const char *file;
    bool holds_name_lock;
};

/* Gives a written file its name, unless the end has come meanwhile. The lock is kept if that succeeds: the final
 * profile must not be taken before the span has gone. */
static int name_span(struct saving *saving, struct new_file *written, const char *name) {
    struct rotator *rotator = saving->rotator;
    pthread_mutex_lock(&rotator->name_lock);
    int err = rotator->has_ended ? -ECANCELED : new_file_name(written, name);
    saving->holds_name_lock = err == 0;
    if (err < 0)
        pthread_mutex_unlock(&rotator->name_lock);
    return err;
}

static int save_text(struct saving *saving, const struct control_text *text) {
    const struct rotator *rotator = saving->rotator;
    struct new_file written = NEW_FILE_NONE;
    const char *name = NULL;
    int dir_fd = -1;
    int err = profile_target_open_new(rotator->target, saving->file, rotator->own_device, &dir_fd, &name);
    if (err == 0)
        err = new_file_write(&written, dir_fd, profile_target_mode(rotator->target, text), text);
    if (err == 0)
        err = name_span(saving, &written, name);
    new_file_finish(&written);
    return err;
}

static int save_span(void *context, const struct aggstats_profile *profile) {
    struct control_text text = {.text = NULL};
    int err = aggstats_profile_format(profile, &text.text, &text.size_bytes);
    if (err == 0)
        err = save_text(context, &text);
    free(text.text);
    return err;
}

int rotator_rotate(struct rotator *rotator, const char *file) {
    struct saving saving = {.rotator = rotator, .file = file};
    pthread_mutex_lock(&rotator->lock);
    int err = aggstats_recorder_rotate(rotator->recorder, save_span, &saving);
    if (saving.holds_name_lock)
        pthread_mutex_unlock(&rotator->name_lock);
    pthread_mutex_unlock(&rotator->lock);
    return err;
}

void rotator_end(struct rotator *rotator) {
    pthread_mutex_lock(&rotator->name_lock);
    rotator->has_ended = true;
    pthread_mutex_unlock(&rotator->name_lock);
}
