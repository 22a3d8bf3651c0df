/* Rotation. A span is in its file, under the file's own name, before it is taken from the profile. Nothing in between
 * can take long, because a process that is killed there leaves the span in both. */
#include "rotator.h"

#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "log.h"
#include "profile_series.h"
#include "quiet_thread.h"
#include "waiting.h"

#define END_WAIT_S 2
#define NAME_ATTEMPTS 100

/* ---- A rotation ---- */

struct saving {
    struct rotator *rotator;
    const struct control_file *file; /* NULL: the next of the series */
    bool is_last;
    struct control_text text;
    int64_t *last_ms; /* time in the latest name of the series */
    bool holds_name_lock;
    char name[NAME_MAX + 1]; /* in the series */
};

/* Gives a written file its name, unless the end has come meanwhile. If that succeeds the lock stays locked: the final
 * profile must not be taken before the span has been taken from it. */
static int name_span(struct saving *saving, int (*give_name)(void *context), void *context) {
    struct rotator *rotator = saving->rotator;
    if (saving->is_last)
        return give_name(context);
    pthread_mutex_lock(&rotator->name_lock);
    int err = rotator->has_ended ? -ECANCELED : give_name(context);
    saving->holds_name_lock = err == 0;
    if (err < 0)
        pthread_mutex_unlock(&rotator->name_lock);
    return err;
}

struct new_name {
    struct nameless_file *written;
    const char *name;
};

/* Errors: -EEXIST the name is taken; those of renaming */
static int name_new(void *context) {
    const struct new_name *name = context;
    return nameless_file_give_name(name->written, name->name, false);
}

static struct profile_series series_of(const struct saving *saving) {
    const struct profile_target *target = saving->rotator->target;
    return (struct profile_series){.dir_fd = target->dir_fd, .name = target->name, .text = &saving->text};
}

/* If the next name is taken by a file that is not of the series, another name is used. */
static int name_next(struct saving *saving, struct nameless_file *written) {
    const struct profile_series series = series_of(saving);
    int err = -EEXIST;
    for (unsigned attempt = 0; err == -EEXIST && attempt < NAME_ATTEMPTS; attempt++) {
        err = profile_series_next(&series, read_clock_ns(CLOCK_REALTIME), saving->last_ms, saving->name);
        if (err == 0)
            err = name_span(saving, name_new, &(struct new_name){written, saving->name});
    }
    return err;
}

/* Writes the span to a file while it has no name, which may take long. Then the file gets its name at once; an existing
 * file is never replaced. name: NULL: the next of the series */
static int save_in_new_file(struct saving *saving, int dir_fd, const char *name) {
    const mode_t mode = profile_target_mode(saving->rotator->target, &saving->text);
    struct nameless_file written = {.fd = -1};
    int err = nameless_file_create(dir_fd, &written);
    if (err == 0)
        err = nameless_file_fill(&written, mode, saving->text.text, saving->text.size_bytes);
    if (err == 0)
        err = name ? name_span(saving, name_new, &(struct new_name){&written, name}) : name_next(saving, &written);
    nameless_file_finish(&written);
    return err;
}

static int save_in_series(struct saving *saving) {
    const struct profile_target *target = saving->rotator->target;
    return target->is_series ? save_in_new_file(saving, target->dir_fd, NULL) : -EISDIR;
}

/* The client that has opened a file gives it its name. */
static int save_span(void *context, const struct aggstats_profile *profile) {
    struct saving *saving = context;
    const struct rotator *rotator = saving->rotator;
    const struct control_file *file = saving->file;
    CLEANUP_FD int dir_fd = -1;
    const char *name = NULL;
    int err = aggstats_profile_format(profile, &saving->text.text, &saving->text.size_bytes);
    if (err < 0)
        return err;
    if (!file)
        return save_in_series(saving);
    if (file->fd >= 0) {
        if (profile_target_is_at(rotator->target, file->name))
            return -EBUSY;
        err = control_file_write(file, rotator->own_device, saving->text.text, saving->text.size_bytes);
        return err < 0 ? err : name_span(saving, file->give_name, file->context);
    }
    err = profile_target_open_new(rotator->target, file->name, rotator->own_device, &dir_fd, &name);
    return err < 0 ? err : save_in_new_file(saving, dir_fd, name);
}

/* Called after one more of the series was written. */
static void remove_old(const struct saving *saving) {
    struct rotator *rotator = saving->rotator;
    const struct profile_series series = series_of(saving);
    int err = rotator->keep > 0 ? profile_series_prune(&series, rotator->keep) : 0;
    if (err < 0 && !rotator->is_littering)
        log_message("cannot remove old profiles %s: %s; they stay", rotator->target->shown, strerror(-err));
    rotator->is_littering = err < 0;
}

/* Call under the rotator's lock. */
static int rotate(struct saving *saving) {
    struct rotator *rotator = saving->rotator;
    spare_fds_use(rotator->spare);
    int err = aggstats_recorder_rotate(rotator->recorder, save_span, saving);
    if (saving->holds_name_lock)
        pthread_mutex_unlock(&rotator->name_lock);
    if (err == 0 && !saving->file)
        remove_old(saving);
    spare_fds_keep(rotator->spare);
    free(saving->text.text);
    malloc_trim(0); /* of the whole profile */
    return err;
}

int rotator_rotate(struct rotator *rotator, const struct control_file *file) {
    struct saving saving = {.rotator = rotator, .file = file->name ? file : NULL, .last_ms = &rotator->last_ms};
    pthread_mutex_lock(&rotator->lock);
    int err = rotate(&saving);
    pthread_mutex_unlock(&rotator->lock);
    return err;
}

/* The directory shows the time of the latest name. */
int rotator_save_last(struct rotator *rotator, const struct control_text *text) {
    int64_t last_ms = 0;
    struct saving saving = {.rotator = rotator, .is_last = true, .text = *text, .last_ms = &last_ms};
    int err = save_in_series(&saving);
    if (err == 0)
        remove_old(&saving);
    return err;
}

/* ---- By the clock ---- */

/* Prints a message when writing fails for the first time, and when it works again. */
static void tell(struct rotator *rotator, const struct saving *saving, int err) {
    const char *shown = rotator->target->shown;
    if (err == -ECANCELED)
        return;
    if (err < 0 && !rotator->is_failing)
        log_message("cannot write profile %s: %s; what it counts goes into the next one that can be written", shown,
                    strerror(-err));
    if (err == 0 && rotator->is_failing)
        log_message("profiles are written to %s again: %s has all since the last one", shown, saving->name);
    rotator->is_failing = err < 0;
}

static void rotate_by_clock(struct rotator *rotator) {
    struct saving saving = {.rotator = rotator, .last_ms = &rotator->last_ms};
    pthread_mutex_lock(&rotator->lock);
    int err = rotate(&saving);
    tell(rotator, &saving, err);
    pthread_mutex_unlock(&rotator->lock);
}

/* Returns false if the end comes before. */
static bool wait_until(struct rotator *rotator, const struct timespec *until) {
    int err = 0;
    pthread_mutex_lock(&rotator->timer_lock);
    while (!rotator->is_told && err != ETIMEDOUT)
        err = pthread_cond_timedwait(&rotator->told, &rotator->timer_lock, until);
    bool is_told = rotator->is_told;
    pthread_mutex_unlock(&rotator->timer_lock);
    return !is_told;
}

/* Rotations missed because one took longer than the interval are not made up for. */
static void *run(void *argument) {
    struct rotator *rotator = argument;
    struct timespec next = timespec_of(read_clock_ns(CLOCK_MONOTONIC));
    next.tv_sec += rotator->interval_s;
    while (wait_until(rotator, &next)) {
        rotate_by_clock(rotator);
        const int64_t now_s = read_clock_ns(CLOCK_MONOTONIC) / NS_PER_S;
        do
            next.tv_sec += rotator->interval_s;
        while (next.tv_sec <= now_s);
    }
    return NULL;
}

/* ---- Life cycle ---- */

void rotator_init(struct rotator *rotator) {
    pthread_mutex_init(&rotator->lock, NULL);
    pthread_mutex_init(&rotator->name_lock, NULL);
    pthread_mutex_init(&rotator->timer_lock, NULL);
    cond_init_monotonic(&rotator->told);
}

int rotator_start(struct rotator *rotator) {
    if (rotator->interval_s == 0)
        return 0;
    int err = quiet_thread_start(&rotator->thread, run, rotator);
    rotator->has_thread = err == 0;
    return err;
}

bool rotator_end(struct rotator *rotator) {
    pthread_mutex_lock(&rotator->timer_lock);
    rotator->is_told = true;
    pthread_cond_signal(&rotator->told);
    pthread_mutex_unlock(&rotator->timer_lock);
    bool has_ended = !rotator->has_thread || join_within(rotator->thread, END_WAIT_S);
    if (!lock_within(&rotator->name_lock, END_WAIT_S)) {
        log_message("a profile hangs while its file gets its name; the final one may hold its calls too");
        return false;
    }
    rotator->has_ended = true;
    pthread_mutex_unlock(&rotator->name_lock);
    return has_ended;
}
