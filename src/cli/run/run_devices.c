/* Pseudo file systems are known by where they are mounted: the kernel does not tell all of them from others. */
#include "run_devices.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "mounts.h"
#include "path.h"

#define DEVICES_MAX 32 /* of each kind */

/* statfs(2) of these asks a daemon or a server. */
static bool is_remote(const struct mounts_entry *entry) {
    static const char *const types[] = {"nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "afs", "lustre", "virtiofs"};
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (strcmp(entry->type, types[i]) == 0)
            return true;
    return mounts_is_fuse(entry);
}

/* statfs(2) takes devtmpfs for tmpfs. */
static bool is_pseudo(const struct mounts_entry *entry) {
    return path_below(entry->path, "/proc") || path_below(entry->path, "/sys") ||
           (path_below(entry->path, "/dev") && !path_below(entry->path, "/dev/shm")) ||
           strcmp(entry->type, "devtmpfs") == 0;
}

/* Minor numbers of devices with major number 0. */
struct devices {
    unsigned minors[DEVICES_MAX];
    size_t count;
};

static void remove_device(struct devices *devices, dev_t device) {
    for (size_t i = 0; i < devices->count; i++)
        if (major(device) == 0 && devices->minors[i] == minor(device)) {
            devices->minors[i] = devices->minors[--devices->count];
            return;
        }
}

static void add_device(struct devices *devices, dev_t device) {
    remove_device(devices, device);
    if (major(device) == 0 && devices->count < DEVICES_MAX)
        devices->minors[devices->count++] = minor(device);
}

/* Files in memory (memfd_create(2), shared memory of System V) are on a file system that is mounted nowhere. */
static void find_memory_files(struct devices *ret_pseudo) {
    struct stat attr;
    CLEANUP_FD int fd = memfd_create("osprof", MFD_CLOEXEC);
    if (fd >= 0 && fstat(fd, &attr) == 0)
        add_device(ret_pseudo, attr.st_dev);
}

/* What is mounted at places of pseudo file systems: files of others may be bound there too. */
static void find_pseudo(struct devices *ret_pseudo) {
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry entry;
    mounts_open(&table);
    while (mounts_next(&table, &entry))
        if (is_pseudo(&entry))
            add_device(ret_pseudo, entry.device);
}

/* What is mounted elsewhere is none of them. */
static void find_others(struct devices *pseudo, struct devices *ret_remote) {
    CLEANUP_MOUNTS struct mounts_table table;
    struct mounts_entry entry;
    mounts_open(&table);
    while (mounts_next(&table, &entry)) {
        if (is_pseudo(&entry))
            continue;
        remove_device(pseudo, entry.device);
        if (is_remote(&entry))
            add_device(ret_remote, entry.device);
    }
}

static void write_devices(FILE *stream, char letter, const struct devices *devices) {
    for (size_t i = 0; i < devices->count; i++)
        fprintf(stream, "%c%u", letter, devices->minors[i]);
}

void run_devices_write(FILE *stream) {
    struct devices pseudo = {.count = 0};
    struct devices remote = {.count = 0};
    dev_t shared_memory = 0;
    find_memory_files(&pseudo);
    find_pseudo(&pseudo);
    find_others(&pseudo, &remote);
    if (mounts_device_at("/dev/shm", &shared_memory) == 0)
        remove_device(&pseudo, shared_memory);
    write_devices(stream, 'p', &pseudo);
    write_devices(stream, 'd', &remote);
}
