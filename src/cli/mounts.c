/* Reading the table of mounts. */
#include "mounts.h"

#include <mntent.h>
#include <string.h>

#include "base.h"

/* Options of a network mount may be long; one that is longer still is cut by getmntent, at its end. */
#define LINE_BYTES 16384

static bool holds(const char *mount, const char *path) {
    size_t length = strlen(mount);
    if (strcmp(mount, "/") == 0)
        return true;
    return strncmp(mount, path, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static char *name_device(const struct mntent *entry) {
    char *name = NULL;
    if (strchr(entry->mnt_fsname, '/'))
        return strdup(entry->mnt_fsname);
    return asprintf(&name, "%s on %s", entry->mnt_fsname, entry->mnt_dir) < 0 ? NULL : name;
}

/* A newline would end the line in which a calibration has it. */
static void replace_controls(char *name) {
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == 0x7f)
            *name = '?';
}

int mounts_find_device(FILE *table, const char *path, bool through, struct mounts_device *ret_device) {
    struct mounts_device device = {0};
    size_t longest = 0;
    struct mntent entry;
    CLEANUP_FREE char *line = malloc(LINE_BYTES);
    if (!line)
        return -ENOMEM;
    while (getmntent_r(table, &entry, line, LINE_BYTES)) {
        bool is_profiled = strcmp(entry.mnt_type, "fuse.osproffs") == 0;
        size_t length = strlen(entry.mnt_dir);
        if (!holds(entry.mnt_dir, path) || length < longest || (through && is_profiled))
            continue;
        longest = length; /* a later mount at the same place hides the earlier one */
        free(device.name);
        device.name = name_device(&entry);
        if (!device.name)
            return -ENOMEM;
        replace_controls(device.name);
        device.is_local = strncmp(entry.mnt_fsname, "/dev/", 5) == 0;
        device.is_profiled = is_profiled;
    }
    if (!device.name)
        return -ENOENT;
    *ret_device = device;
    return 0;
}
