#include "disk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base.h"

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

static int open_disk(char *directory) {
    CLEANUP_FD int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || faccessat(fd, "partition", F_OK, 0) < 0)
        return steal_fd(&fd);
    *strrchr(directory, '/') = '\0';
    return open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

bool disk_find(const struct place *place, struct disk *ret_disk) {
    char text[128];
    CLEANUP_FREE char *directory = place->has_mount ? find_directory(place) : NULL;
    CLEANUP_FD int dir_fd = directory ? open_disk(directory) : -1;
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
