#include "things.h"

#include <fnmatch.h>

#include "base.h"

/* The first one that matches counts. */
static const struct {
    const char *cause;
    enum holders_thing thing;
} things[] = {
    {"waiting for a lock of a file that another holds (flock)", HOLDERS_FLOCK},
    {"waiting for a lock of a file that another holds (fcntl)", HOLDERS_FCNTL},
    {"waiting for who has a lease of the file", HOLDERS_LEASE},
    {"waiting for a frozen file system", HOLDERS_FROZEN},
    {"waiting for another FUSE daemon", HOLDERS_FUSE},
    {"waiting for the server (*)", HOLDERS_SERVER},
    {"waiting for another process to read from a full pipe", HOLDERS_PIPE_ROOM},
    {"waiting for another process at a pipe", HOLDERS_PIPE_DATA},
    {"waiting for * journal*", HOLDERS_DISK},
    {"waiting for a block that the ext4 journal holds", HOLDERS_DISK},
    {"waiting for the XFS log", HOLDERS_DISK},
    {"waiting for the btrfs transaction to commit", HOLDERS_DISK},
    {"waiting for pages to be written", HOLDERS_DISK},
    {"waiting for * disk*", HOLDERS_DISK},
    {"writing * the disk*", HOLDERS_DISK},
    {"reading * the disk*", HOLDERS_DISK},
};

const char *things_pattern(size_t index) {
    return index < ARRAY_SIZE(things) ? things[index].cause : NULL;
}

enum holders_thing things_of_cause(const char *cause) {
    for (size_t i = 0; cause && i < ARRAY_SIZE(things); i++)
        if (fnmatch(things[i].cause, cause, 0) == 0)
            return things[i].thing;
    return HOLDERS_NO_THING;
}
