/* Where nodes are during the replay, and opening them there.
 *
 * The lock is held for reading while a place is looked up and opened, and for writing during a rename: so a path stays
 * the node's until it is open. */
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base.h"
#include "replay_private.h"

#define DEPTH_MAX 1000U /* of directories; a forged file may have cycles */

/* Builds the path from its end. Returns its beginning, NULL: there is none. */
static char *path_of(const struct replay *replay, uint32_t node, char buffer[PATH_MAX]) {
    size_t at = PATH_MAX - 1;
    buffer[at] = '\0';
    for (unsigned depth = 0; node != ROOT_NODE; depth++) {
        const struct replay_place *place = &replay->nodes.at[node].places[0];
        size_t length = place->directory ? strlen(place->text) : 0;
        if (!place->directory || depth == DEPTH_MAX || at < length + 1)
            return NULL;
        if (buffer[at] != '\0')
            buffer[--at] = '/';
        at -= length;
        memcpy(buffer + at, place->text, length);
        node = place->directory;
    }
    if (buffer[at] == '\0')
        buffer[--at] = '.';
    return buffer + at;
}

static int open_at_once(int root_fd, const char *path, int flags) {
    const struct open_how how = {
        .flags = (uint64_t)(unsigned)flags,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
    };
    int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    return fd < 0 ? negative_errno() : fd;
}

/* The next component of a path. device: that of the directory */
static int open_step(int dir_fd, const char *component, int flags, dev_t device) {
    struct stat attr;
    CLEANUP_FD int fd = openat(dir_fd, component, flags);
    if (fd < 0 || fstat(fd, &attr) < 0)
        return negative_errno();
    return attr.st_dev == device ? steal_fd(&fd) : -EXDEV;
}

/* For Linux before 5.6, and containers that forbid openat2(2): a component at a time, none of which is "..". */
static int open_by_steps(const struct replay *replay, char *path, int flags) {
    CLEANUP_FD int dir_fd = -1;
    int from_fd = replay->root_fd;
    for (char *slash; (slash = strchr(path, '/')); path = slash + 1) {
        *slash = '\0';
        int next = open_step(from_fd, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, replay->root_device);
        if (next < 0)
            return next;
        close_fd(&dir_fd);
        from_fd = dir_fd = next;
    }
    return open_step(from_fd, path, flags, replay->root_device);
}

static int open_beneath(struct replay *replay, char *path, int flags) {
    flags |= O_CLOEXEC | O_NOFOLLOW;
    int fd = replay->has_no_openat2 ? -ENOSYS : open_at_once(replay->root_fd, path, flags);
    if (fd != -ENOSYS && fd != -EPERM)
        return fd;
    replay->has_no_openat2 = true;
    return open_by_steps(replay, path, flags);
}

int replay_open_node(struct replay *replay, uint32_t node, int flags) {
    char buffer[PATH_MAX];
    if (node == 0)
        return -ENXIO;
    pthread_rwlock_rdlock(&replay->places_lock);
    char *path = path_of(replay, node, buffer);
    int fd = path ? open_beneath(replay, path, flags) : -ENXIO;
    pthread_rwlock_unlock(&replay->places_lock);
    return fd;
}

int replay_open_parent(struct replay_lane *lane, uint32_t directory) {
    uint64_t generation = __atomic_load_n(&lane->replay->generation, __ATOMIC_ACQUIRE);
    if (lane->parent_fd >= 0 && lane->parent == directory && lane->parent_generation == generation)
        return lane->parent_fd;
    close_fd(&lane->parent_fd);
    int fd = replay_open_node(lane->replay, directory, O_PATH | O_DIRECTORY);
    if (fd < 0)
        return fd;
    lane->parent = directory;
    lane->parent_generation = generation;
    return lane->parent_fd = fd;
}

void replay_place_forget_descriptors(struct replay *replay) {
    __atomic_fetch_add(&replay->generation, 1, __ATOMIC_RELEASE);
}

static bool is_at(const struct replay_place *place, uint32_t directory, const char *text) {
    return place->directory == directory && place->text && strcmp(place->text, text) == 0;
}

/* A third name is not remembered. */
void replay_place_add(struct replay *replay, uint32_t node, uint32_t directory, const char *text) {
    struct replay_place *places = replay->nodes.at[node].places;
    if (node == 0 || node == ROOT_NODE || is_at(&places[0], directory, text) || is_at(&places[1], directory, text))
        return;
    struct replay_place *place = places[0].directory ? &places[1] : &places[0];
    if (place->directory)
        replay->nodes.at[node].has_more_places = true;
    else
        *place = (struct replay_place){directory, text};
}

void replay_place_remove(struct replay *replay, uint32_t node, uint32_t directory, const char *text) {
    struct replay_place *places = replay->nodes.at[node].places;
    if (is_at(&places[1], directory, text))
        places[1] = (struct replay_place){0};
    if (is_at(&places[0], directory, text)) {
        places[0] = places[1];
        places[1] = (struct replay_place){0};
    }
}

struct replay_place replay_place_of(struct replay *replay, uint32_t node) {
    pthread_rwlock_rdlock(&replay->places_lock);
    struct replay_place place = replay->nodes.at[node].places[0];
    pthread_rwlock_unlock(&replay->places_lock);
    return place;
}
