/* Telling mounts that are ending by their live files: still recording, but no longer mounted. */
#include "ending.h"

#include <string.h>
#include <time.h>

#include "base.h"
#include "command.h"
#include "live_files.h"
#include "mounts.h"
#include "path.h"

#define STEP_NS 20000000L
#define STEPS_MAX 250

static bool is_mounted(const char *mountpoint) {
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    bool found = false;
    mounts_open(&table);
    while (!found && mounts_next(&table, &entry))
        found = strcmp(entry.path, mountpoint) == 0 && mounts_is_fuse(&entry);
    return found;
}

static bool is_ending(const struct live_file *file, const char *profile_path) {
    const char *profile = aggstats_profile_label(&file->profile, "profile");
    const char *mountpoint = aggstats_profile_label(&file->profile, "mount");
    return file->info.recording && profile && mountpoint && strcmp(profile, profile_path) == 0 &&
           !is_mounted(mountpoint);
}

static bool any_is_ending(const char *profile_path) {
    struct live_files files = {0};
    bool found = false;
    if (live_files_read(&files) < 0)
        return false;
    for (size_t i = 0; i < files.count && !found; i++)
        found = is_ending(&files.files[i], profile_path);
    live_files_finish(&files);
    return found;
}

/* As osproffs names it: its directory without symbolic links. */
static char *real_path(const char *path) {
    CLEANUP_FREE char *normal = path_normalise(path);
    char *slash = normal ? strrchr(normal, '/') : NULL;
    if (!slash)
        return NULL;
    *slash = '\0';
    CLEANUP_FREE char *directory = realpath(slash == normal ? "/" : normal, NULL);
    return directory ? path_join(strcmp(directory, "/") == 0 ? "" : directory, slash + 1) : NULL;
}

void ending_wait_for_profile(const char *path) {
    const struct timespec step = {.tv_nsec = STEP_NS};
    CLEANUP_FREE char *profile_path = real_path(path);
    int steps = 0;
    for (; profile_path && steps < STEPS_MAX && any_is_ending(profile_path); steps++)
        nanosleep(&step, NULL);
    if (steps == STEPS_MAX)
        complain("note: the mount whose profile goes to %s has not ended yet, so that this is not it", path);
}
