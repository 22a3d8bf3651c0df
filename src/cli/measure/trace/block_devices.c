/* sysfs shows for each block device which devices it is on. Directories of devices there:
 *
 *     /sys/dev/block/8:1 -> .../sda/sda1    has the file "partition"; its parent is the disk
 *     .../sda/mq                            takes requests (blk-mq)
 *     .../dm-0/slaves/sda1                  is made of others */
#include "block_devices.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "dir.h"
#include "mounts.h"

#define DEPTH_MAX 8 /* of devices on other devices */

static void set_name(char ret_name[BLOCK_DEVICES_NAME_SIZE], const char *name) {
    snprintf(ret_name, BLOCK_DEVICES_NAME_SIZE, "%s", name);
}

/* ---- Devices below a device --------------------------------------------------------------------- */

static int add_device(struct block_devices *devices, int dir_fd, const char *name) {
    char text[32];
    char *colon = read_beginning(dir_fd, "dev", text, sizeof(text)) ? strchr(text, ':') : NULL; /* "8:16" */
    if (!colon)
        return -ENODEV;
    struct block_device device = {.major = (unsigned)strtoul(text, NULL, 10),
                                  .minor = (unsigned)strtoul(colon + 1, NULL, 10)};
    for (size_t i = 0; i < devices->count; i++)
        if (devices->devices[i].major == device.major && devices->devices[i].minor == device.minor)
            return 0;
    if (devices->count == BLOCK_DEVICES_MAX)
        return -E2BIG;
    set_name(device.name, name);
    devices->devices[devices->count++] = device;
    return 0;
}

/* directory: of a device, in sysfs, maybe a symbolic link
 * Errors:    -ENOTSUP *ret_name takes no requests, and is made of no other devices */
static int add_below(struct block_devices *devices, const char *directory, unsigned depth, char *ret_name) {
    CLEANUP_FREE char *path = realpath(directory, NULL);
    if (!path)
        return negative_errno();
    CLEANUP_FD int dir_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0)
        return negative_errno();
    if (depth > DEPTH_MAX)
        return -ELOOP;
    if (faccessat(dir_fd, "partition", F_OK, 0) == 0) {
        *strrchr(path, '/') = '\0';
        return add_below(devices, path, depth + 1, ret_name);
    }
    if (faccessat(dir_fd, "mq", F_OK, 0) == 0)
        return add_device(devices, dir_fd, strrchr(path, '/') + 1);
    char below[PATH_MAX];
    size_t count = 0;
    int error = 0;
    snprintf(below, sizeof(below), "%s/slaves", path);
    CLEANUP_DIR DIR *slaves = opendir(below);
    for (const struct dirent *slave; slaves && error == 0 && (slave = readdir(slaves)) != NULL;) {
        if (slave->d_name[0] == '.')
            continue;
        count++;
        snprintf(below, sizeof(below), "%s/slaves/%s", path, slave->d_name);
        error = add_below(devices, below, depth + 1, ret_name);
    }
    if (count > 0)
        return error;
    set_name(ret_name, strrchr(path, '/') + 1);
    return -ENOTSUP;
}

/* ---- The device below a path -------------------------------------------------------------------- */

static bool is_block_device(dev_t device, char ret_directory[64]) {
    snprintf(ret_directory, 64, "/sys/dev/block/%u:%u", major(device), minor(device));
    return access(ret_directory, F_OK) == 0;
}

/* Some file systems, such as btrfs, have device numbers of their own; then the table of mounts names the mounted
 * device. */
static bool find_mounted(const char *path, char ret_directory[64]) {
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_device mounted = {.name = NULL};
    struct stat attr;
    if (mounts_open(&table) != 0 || mounts_find_device(&table, path, false, &mounted) != 0)
        return false;
    bool is_found =
        stat(mounted.name, &attr) == 0 && S_ISBLK(attr.st_mode) && is_block_device(attr.st_rdev, ret_directory);
    free(mounted.name);
    return is_found;
}

int block_devices_add(struct block_devices *devices, const char *path, char ret_type[BLOCK_DEVICES_NAME_SIZE]) {
    char directory[64];
    struct stat attr;
    CLEANUP_FREE char *real = realpath(path, NULL);
    if (!real || stat(real, &attr) < 0)
        return negative_errno();
    if (is_block_device(attr.st_dev, directory) || find_mounted(real, directory))
        return add_below(devices, directory, 0, ret_type);
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_entry entry;
    mounts_open(&table);
    set_name(ret_type, mounts_of_device(&table, attr.st_dev, &entry) ? entry.type : "");
    return -ENOTBLK;
}

bool block_devices_find_disk(dev_t device, struct block_device *ret_disk) {
    char directory[64];
    char partition[PATH_MAX];
    struct block_devices found = {.count = 0};
    CLEANUP_FREE char *path = is_block_device(device, directory) ? realpath(directory, NULL) : NULL;
    snprintf(partition, sizeof(partition), "%s/partition", path ? path : "");
    if (path && access(partition, F_OK) == 0)
        *strrchr(path, '/') = '\0';
    CLEANUP_FD int dir_fd = path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir_fd < 0 || add_device(&found, dir_fd, strrchr(path, '/') + 1) != 0)
        return false;
    *ret_disk = found.devices[0];
    return true;
}

/* ---- Counts ------------------------------------------------------------------------------------- */

uint64_t block_devices_count_requests(const struct block_devices *devices) {
    uint64_t count = 0;
    for (size_t i = 0; i < devices->count; i++) {
        char path[64];
        char text[512];
        snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/stat", devices->devices[i].major, devices->devices[i].minor);
        read_beginning(AT_FDCWD, path, text, sizeof(text));
        char *end = text;
        const char *at = NULL;
        for (unsigned field = 0; end != at; field++) { /* while there are numbers */
            at = end;
            uint64_t value = strtoull(at, &end, 10);
            /* The fields of "stat": requests to read, to write, to discard, and to flush. */
            count += field == 0 || field == 4 || field == 11 || field == 15 ? value : 0;
        }
    }
    return count;
}
