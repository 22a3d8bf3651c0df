/* A disk is found in sysfs, and its limits in the control groups where systems mount them. */
#include "disk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base.h"
#include "process.h"

/* ---- The disk ----------------------------------------------------------------------------------- */

bool disk_parse_in_flight(const char *text, uint64_t *ret_count) {
    char *reads_end = NULL;
    char *end = NULL;
    uint64_t reads = strtoull(text, &reads_end, 10);
    uint64_t writes = strtoull(reads_end, &end, 10);
    if (reads_end == text || end == reads_end)
        return false;
    *ret_count = reads + writes;
    return true;
}

static bool read_line(int dir_fd, const char *name, char *ret_text, size_t size_bytes) {
    bool is_read = read_beginning(dir_fd, name, ret_text, size_bytes);
    size_t length = strlen(ret_text);
    if (length > 0 && ret_text[length - 1] == '\n')
        ret_text[length - 1] = '\0';
    return is_read;
}

/* The directory in sysfs. Some file systems, such as btrfs, have device numbers of their own; their source is the device.
 * Owner: the caller frees it. Returns NULL if there is none */
static char *find_directory(const struct place *place) {
    static const char devices[] = "/dev/";
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(place->device), minor(place->device));
    char *found = realpath(path, NULL);
    const char *name = place->source + strlen(devices);
    if (found || strncmp(place->source, devices, strlen(devices)) != 0 || strchr(name, '/') || name[0] == '.')
        return found;
    snprintf(path, sizeof(path), "/sys/class/block/%s", name);
    return realpath(path, NULL);
}

bool disk_find(const struct place *place, struct disk *ret_disk) {
    char text[128];
    CLEANUP_FREE char *directory = place->has_mount ? find_directory(place) : NULL;
    CLEANUP_FD int dir_fd = directory ? open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir_fd >= 0 && faccessat(dir_fd, "partition", F_OK, 0) == 0) { /* its disk is the directory above */
        *strrchr(directory, '/') = '\0';
        close_fd(&dir_fd);
        dir_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    if (dir_fd < 0)
        return false;
    *ret_disk = (struct disk){.has_in_flight = false};
    snprintf(ret_disk->name, sizeof(ret_disk->name), "%.63s", strrchr(directory, '/') + 1);
    if (read_line(dir_fd, "dm/name", text, sizeof(text)))
        snprintf(ret_disk->name, sizeof(ret_disk->name), "%.63s", text);
    if (read_line(dir_fd, "dev", text, sizeof(text)))
        snprintf(ret_disk->number, sizeof(ret_disk->number), "%.31s", text);
    ret_disk->has_in_flight =
        read_line(dir_fd, "inflight", text, sizeof(text)) && disk_parse_in_flight(text, &ret_disk->in_flight);
    read_line(dir_fd, "loop/backing_file", ret_disk->backing, sizeof(ret_disk->backing));
    return true;
}

/* ---- Its limits --------------------------------------------------------------------------------- */

/* "7:0 524288", "7:0 rbps=max wbps=524288 riops=max wiops=max" */
bool disk_limit_is_set(const char *text, const char *disk) {
    const size_t length = strlen(disk);
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, disk, length) != 0 || line[length] != ' ')
            continue;
        for (const char *word = line + length; *word == ' '; word += strcspn(word, " \n")) {
            word++;
            const char *equals = memchr(word, '=', strcspn(word, " \n"));
            const char *value = equals ? equals + 1 : word;
            if (*value >= '1' && *value <= '9')
                return true;
        }
    }
    return false;
}

static bool is_limited_by(const char *top, const char *group, const char *file, const char *disk) {
    char path[PATH_MAX];
    char text[4096];
    const int length = snprintf(path, sizeof(path), "%s%s/%s", top, group, file);
    return length > 0 && (size_t)length < sizeof(path) && read_beginning(AT_FDCWD, path, text, sizeof(text)) &&
           disk_limit_is_set(text, disk);
}

bool disk_limit_find(uint64_t thread, const char *disk, char *ret_group, size_t size_bytes) {
    static const char *const tops[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    static const char *const files[] = {"blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device",
                                        "blkio.throttle.read_iops_device", "blkio.throttle.write_iops_device"};
    char text[PROCESS_CGROUPS_SIZE];
    char *group = process_cgroups_read((uint32_t)thread, text) ? process_cgroup_in(text, "blkio") : NULL;
    bool is_found = false;
    for (size_t i = 0; group && !is_found && i < ARRAY_SIZE(files); i++)
        is_found = is_limited_by("/sys/fs/cgroup/blkio", group, files[i], disk);
    if (!is_found) /* again, because the text is cut */
        group = process_cgroups_read((uint32_t)thread, text) ? process_cgroup_in(text, "") : NULL;
    /* The limits of version 2 count for all groups below. */
    for (char *end = group ? group + strlen(group) : NULL; !is_found && end && end > group;) {
        *end = '\0';
        for (size_t i = 0; i < ARRAY_SIZE(tops); i++)
            is_found = is_found || is_limited_by(tops[i], group, "io.max", disk);
        end = is_found ? NULL : strrchr(group, '/');
    }
    if (is_found)
        snprintf(ret_group, size_bytes, "%s", group);
    return is_found;
}
