/* Finding calibrations, and deciding whether they apply. */
#include "calibration.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "command.h"
#include "layers.h"
#include "mounts.h"
#include "path.h"
#include "state_dir.h"

/* ---- Files -------------------------------------------------------------------------------------- */

int calibration_file_open(const char *host, bool makes, struct calibration_file *ret_file) {
    char directory[PATH_MAX];
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const size_t length = strlen(host);
    ret_file->dir_fd = -1;
    /* A profile from elsewhere may have any text as its host. */
    if (length == 0 || length > HOST_NAME_MAX || host[0] == '.' || strspn(host, allowed) != length)
        return -EINVAL;
    int error = state_dir_open(makes, &ret_file->dir_fd, directory);
    snprintf(ret_file->name, sizeof(ret_file->name), "%s.calibration", host);
    snprintf(ret_file->path, sizeof(ret_file->path), "%s/%s", directory, ret_file->name);
    if (error == 0 && makes && faccessat(ret_file->dir_fd, ".", W_OK | X_OK, AT_EACCESS) < 0)
        error = negative_errno();
    return error;
}

void calibration_file_close(struct calibration_file *file) {
    close_fd(&file->dir_fd);
}

static int complain_unusable(const char *path, int error, const struct aggstats_parse_error *why) {
    if (error == -EBADMSG)
        complain("%s is not a calibration: line %zu: %s; remove it, then 'osprof doctor --calibrate' makes a new one",
                 path, why->line, why->message);
    else
        complain("cannot read calibration %s: %s", path, strerror(-error));
    return error;
}

int calibration_load(const struct calibration_file *file, struct calibration *ret_calibration) {
    const char *path = file->path;
    struct aggstats_parse_error why = {0};
    struct stat st;
    CLEANUP_FD int fd = openat(file->dir_fd, file->name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return -ENOENT;
    if (fd < 0 || fstat(fd, &st) < 0)
        return complain_unusable(path, negative_errno(), &why);
    if (!S_ISREG(st.st_mode))
        return complain_unusable(path, S_ISDIR(st.st_mode) ? -EISDIR : -ENOTSUP, &why);
    CLEANUP_STREAM FILE *stream = fdopen(fd, "r");
    if (!stream)
        return complain_unusable(path, negative_errno(), &why);
    steal_fd(&fd);
    int error = calibration_parse(stream, ret_calibration, &why);
    return error ? complain_unusable(path, error, &why) : 0;
}

int calibration_save(const struct calibration_file *file, const struct calibration *calibration) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = calibration_format(calibration, &text, &size_bytes);
    return error ? error : replace_file(file->dir_fd, file->name, NULL, 0600, text, size_bytes);
}

/* ---- The machine -------------------------------------------------------------------------------- */

bool calibration_is_of(const struct calibration *calibration, const char *host, const struct aggstats_clock *clock) {
    double ratio = (double)clock->frequency_hz / (double)calibration->clock.frequency_hz;
    bool comparable = clock->kind == calibration->clock.kind && clock->kind != AGGSTATS_CLOCK_MONOTONIC;
    return strcmp(calibration->host, host) == 0 && (!comparable || fabs(ratio - 1) < 1e-3);
}

/* The device below a profile; name NULL: unknown. */
static struct mounts_device device_below(const struct aggstats_profile *profile) {
    struct mounts_device device = {0};
    const char *lower = aggstats_profile_label(profile, "lower");
    if (!lower || lower[0] != '/')
        return device;
    CLEANUP_FREE char *path = path_normalise(lower);
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    if (path && mounts_open(&table) == 0)
        mounts_find_device(&table, path, true, &device);
    return device;
}

/* Keeps the times that apply to a profile. */
static void keep_those_of(const struct aggstats_profile *profile, struct calibration *calibration) {
    const enum layer layer = layers_of_name(layers_name(profile));
    /* Between these layers and the disk there is a FUSE daemon. Calls of programs may go through a mount, unless it is
     * known what they had read from storage themselves. */
    const bool is_above_fuse = layer == LAYER_IS_FUSE || layer == LAYER_IS_QUEUE || layer == LAYER_IS_DAEMON ||
                               (layer == LAYER_IS_USER && !profile->has_storage_read);
    struct mounts_device device = device_below(profile);
    size_t kept = 0;
    for (size_t i = 0; i < calibration->count; i++) {
        const struct characteristic *time = &calibration->times[i];
        const enum characteristic_scope scope = characteristic_scope(time->kind);
        bool applies = scope != SCOPE_NETWORK || !device.is_local;
        if (scope == SCOPE_DEVICE)
            applies = !is_above_fuse && device.name && strcmp(device.name, time->place) == 0;
        if (applies)
            calibration->times[kept++] = *time;
        else
            free(time->place);
    }
    calibration->count = kept;
    free(device.name);
}

/* A user without a directory of state, or where only other users have one, has nothing kept.
 * Returns false if there is a file that cannot be used, which has been reported. */
static bool find_for_profile(const struct aggstats_profile *profile, struct calibration *ret_calibration) {
    const struct aggstats_parse_error none = {0};
    const char *host = aggstats_profile_label(profile, "host");
    const struct aggstats_clock *clock = &profile->clock;
    struct calibration_file file;
    struct calibration calibration = {0};
    *ret_calibration = (struct calibration){0};
    if (!host || clock->frequency_hz == 0)
        return true;
    int error = calibration_file_open(host, false, &file);
    if (error == -EINVAL || error == -ENXIO || error == -EPERM)
        error = -ENOENT;
    else if (error == 0)
        error = calibration_load(&file, &calibration);
    else if (error != -ENOENT)
        complain_unusable(file.path, error, &none);
    calibration_file_close(&file);
    if (error)
        return error == -ENOENT;
    if (calibration_is_of(&calibration, host, clock)) {
        keep_those_of(profile, &calibration);
        *ret_calibration = calibration;
        return true;
    }
    if (strcmp(calibration.host, host) != 0)
        complain(
            "no labels: %s was taken on another host, not on %s; 'osprof doctor --calibrate' there makes a new one",
            file.path, host);
    else
        complain("no labels: %s was taken with a clock of %.3f MHz, the profile with one of %.3f MHz", file.path,
                 (double)calibration.clock.frequency_hz / 1e6, (double)clock->frequency_hz / 1e6);
    calibration_finish(&calibration);
    return false;
}

void calibration_for_profile(const struct aggstats_profile *profile, struct calibration *ret_calibration) {
    find_for_profile(profile, ret_calibration);
}

void calibration_for_pair(const struct aggstats_profile *a, const struct aggstats_profile *b, struct calibration *ret_a,
                          struct calibration *ret_b) {
    const char *a_host = aggstats_profile_label(a, "host");
    const char *b_host = aggstats_profile_label(b, "host");
    bool is_usable = find_for_profile(a, ret_a);
    *ret_b = (struct calibration){0};
    if (is_usable || strcmp(a_host ? a_host : "", b_host ? b_host : "") != 0)
        find_for_profile(b, ret_b);
}

const struct characteristic *calibration_time(const struct calibration *calibration, enum characteristic_kind kind) {
    for (size_t i = 0; i < calibration->count; i++)
        if (calibration->times[i].kind == kind && !calibration->times[i].place)
            return &calibration->times[i];
    return NULL;
}
