#include "disk_limit.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base.h"
#include "process.h"

#define TEXT_BYTES 4096

/* ---- Text of the kernel ---- */

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

/* ---- Control groups ---- */

static bool is_limited_by(const char *top, const char *group, const char *file, const char *disk) {
    char path[PATH_MAX];
    char text[TEXT_BYTES];
    const int length = snprintf(path, sizeof(path), "%s%s/%s", top, group, file);
    return length > 0 && (size_t)length < sizeof(path) && read_beginning(AT_FDCWD, path, text, sizeof(text)) &&
           disk_limit_is_set(text, disk);
}

/* The limits of version 2 count for all below. Cuts the group's path to that of the one that limits. */
static bool find_of_version_2(char *group, const char *disk) {
    static const char *const tops[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    for (char *end = group + strlen(group); end && end > group; end = strrchr(group, '/')) {
        *end = '\0';
        for (size_t i = 0; i < ARRAY_SIZE(tops); i++)
            if (group[0] && is_limited_by(tops[i], group, "io.max", disk))
                return true;
    }
    return false;
}

static bool find_of_version_1(const char *group, const char *disk) {
    static const char *const files[] = {"blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device",
                                        "blkio.throttle.read_iops_device", "blkio.throttle.write_iops_device"};
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        if (is_limited_by("/sys/fs/cgroup/blkio", group, files[i], disk))
            return true;
    return false;
}

bool disk_limit_find(uint64_t thread, const char *disk, char *ret_group, size_t size_bytes) {
    char text[PROCESS_CGROUPS_SIZE];
    char *group = process_cgroups_read((uint32_t)thread, text) ? process_cgroup_in(text, "blkio") : NULL;
    bool is_found = group && find_of_version_1(group, disk);
    if (!is_found) { /* the text is cut */
        group = process_cgroups_read((uint32_t)thread, text) ? process_cgroup_in(text, "") : NULL;
        is_found = group && find_of_version_2(group, disk);
    }
    if (is_found)
        snprintf(ret_group, size_bytes, "%s", group);
    return is_found;
}
