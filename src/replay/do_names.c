/* Operations on names. */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "replay_private.h"

mode_t replay_mode(const struct replay *replay, uint64_t mode, uint32_t mask, mode_t least) {
    mode_t made = (mode_t)mode & ~(mode_t)mask & 07777;
    if (!replay->options.is_privileged)
        made &= (mode_t) ~(S_ISUID | S_ISGID);
    return geteuid() == 0 ? made : made | least;
}

static void add_place(struct replay *replay, uint32_t node, uint32_t directory, const char *text) {
    pthread_rwlock_wrlock(&replay->places_lock);
    replay_place_add(replay, node, directory, text);
    pthread_rwlock_unlock(&replay->places_lock);
}

static bool has_more_places(struct replay *replay, uint32_t node) {
    pthread_rwlock_rdlock(&replay->places_lock);
    bool has_more = replay->nodes.at[node].places[1].directory;
    pthread_rwlock_unlock(&replay->places_lock);
    return has_more;
}

int replay_lookup(struct replay_lane *lane, struct replay_op *op) {
    struct stat attr;
    int dir_fd = replay_open_parent(lane, op->node);
    if (dir_fd < 0)
        return replay_refuse(lane, REPLAY_NO_PLACE);
    int err = (int)TIMED(lane, fstatat(dir_fd, op->name, &attr, AT_SYMLINK_NOFOLLOW));
    if (err < 0)
        return err;
    add_place(lane->replay, op->entry, op->node, op->name);
    bool has_one_name = S_ISDIR(attr.st_mode) || attr.st_nlink < 2;
    if (has_one_name && has_more_places(lane->replay, op->entry))
        atomic_store(&lane->replay->is_astray, true);
    return 0;
}

/* ---- Making ---- */

/* The directory for a new name, whose space is charged; below 0: with lane->reason set. */
static int open_for_name(struct replay_lane *lane, uint32_t directory) {
    int dir_fd = replay_open_parent(lane, directory);
    if (dir_fd < 0)
        return replay_refuse(lane, REPLAY_NO_PLACE);
    return replay_charge_name(lane->replay) ? dir_fd : replay_refuse(lane, REPLAY_TOO_LARGE);
}

/* Handles the result of making a name. */
static int made(struct replay_lane *lane, int err, uint32_t node, uint32_t directory, const char *text) {
    if (err == 0)
        add_place(lane->replay, node, directory, text);
    else
        replay_return_name(lane->replay);
    return err;
}

int replay_mkdir(struct replay_lane *lane, struct replay_op *op) {
    int dir_fd = open_for_name(lane, op->node);
    if (dir_fd < 0)
        return dir_fd;
    mode_t mode = replay_mode(lane->replay, op->args[0], op->umask, S_IRWXU);
    int err = (int)TIMED(lane, mkdirat(dir_fd, op->name, mode));
    return made(lane, err, op->entry, op->node, op->name);
}

int replay_mknod(struct replay_lane *lane, struct replay_op *op) {
    mode_t type = (mode_t)op->args[0] & S_IFMT;
    bool is_device = type == S_IFCHR || type == S_IFBLK;
    if (is_device && !lane->replay->options.is_privileged)
        return replay_refuse(lane, REPLAY_NOT_PRIVILEGED);
    int dir_fd = open_for_name(lane, op->node);
    if (dir_fd < 0)
        return dir_fd;
    mode_t mode = replay_mode(lane->replay, op->args[0], op->umask, S_IRUSR | S_IWUSR) | type;
    int err = (int)TIMED(lane, mknodat(dir_fd, op->name, mode, is_device ? (dev_t)op->args[1] : 0));
    return made(lane, err, op->entry, op->node, op->name);
}

/* True if a link's target stays below the root, wherever the link and its directories are moved to. */
static bool leads_down(const char *target) {
    if (target[0] == '/')
        return false;
    for (const char *at = target; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return false;
    }
    return true;
}

/* A link that could lead out gets another target of the same length. */
int replay_symlink(struct replay_lane *lane, struct replay_op *op) {
    char other[PATH_MAX];
    const char *target = op->text;
    int dir_fd = open_for_name(lane, op->node);
    if (dir_fd < 0)
        return dir_fd;
    if (!leads_down(target)) {
        size_t length = strnlen(target, sizeof(other) - 1);
        memset(other, '-', length);
        other[length] = '\0';
        target = other;
        atomic_fetch_add(&lane->replay->replaced_targets, 1);
    }
    int err = (int)TIMED(lane, symlinkat(target, dir_fd, op->name));
    return made(lane, err, op->entry, op->node, op->name);
}

int replay_link(struct replay_lane *lane, struct replay_op *op) {
    struct replay_place place = replay_place_of(lane->replay, op->node);
    CLEANUP_FD int old_fd = replay_open_node(lane->replay, place.directory, O_PATH | O_DIRECTORY);
    if (old_fd < 0)
        return replay_refuse(lane, REPLAY_NO_PLACE);
    int dir_fd = open_for_name(lane, op->other);
    if (dir_fd < 0)
        return dir_fd;
    int err = (int)TIMED(lane, linkat(old_fd, place.text, dir_fd, op->name, 0));
    return made(lane, err, op->node, op->other, op->name);
}

/* ---- Removing, renaming ---- */

static void lose_place(struct replay *replay, uint32_t node, uint32_t directory, const char *text) {
    if (!node)
        return;
    pthread_rwlock_wrlock(&replay->places_lock);
    replay_place_remove(replay, node, directory, text);
    pthread_rwlock_unlock(&replay->places_lock);
    replay_count_open(replay, node, 0);
}

int replay_remove(struct replay_lane *lane, struct replay_op *op) {
    bool is_directory = op->row->type == TYPE_DIRECTORY;
    int dir_fd = replay_open_parent(lane, op->node);
    if (dir_fd < 0)
        return replay_refuse(lane, REPLAY_NO_PLACE);
    int err = (int)TIMED(lane, unlinkat(dir_fd, op->name, is_directory ? AT_REMOVEDIR : 0));
    if (err < 0)
        return err;
    replay_return_name(lane->replay);
    if (is_directory)
        replay_place_forget_descriptors(lane->replay);
    lose_place(lane->replay, op->entry, op->node, op->name);
    return 0;
}

/* A rename between two names of one file does nothing. The effect of one that failed when recorded, but succeeds now,
 * is unknown. */
static void move_places(struct replay *replay, const struct replay_op *op, bool is_exchange) {
    if (op->entry == 0)
        atomic_store(&replay->is_astray, true);
    if (op->replaced == op->entry)
        return;
    replay_place_remove(replay, op->entry, op->node, op->name);
    replay_place_remove(replay, op->replaced, op->other, op->text);
    replay_place_add(replay, op->entry, op->other, op->text);
    if (is_exchange)
        replay_place_add(replay, op->replaced, op->node, op->name);
}

int replay_rename(struct replay_lane *lane, struct replay_op *op) {
    struct replay *replay = lane->replay;
    unsigned flags = (unsigned)op->args[0];
    if (flags & RENAME_WHITEOUT && !replay->options.is_privileged)
        return replay_refuse(lane, REPLAY_NOT_PRIVILEGED); /* it makes a device */
    int dir_fd = replay_open_parent(lane, op->node);
    CLEANUP_FD int new_fd = replay_open_node(replay, op->other, O_PATH | O_DIRECTORY);
    if (dir_fd < 0 || new_fd < 0)
        return replay_refuse(lane, REPLAY_NO_PLACE);
    pthread_rwlock_wrlock(&replay->places_lock);
    int err = (int)TIMED(lane, renameat2(dir_fd, op->name, new_fd, op->text, flags));
    if (err == 0)
        move_places(replay, op, flags & RENAME_EXCHANGE);
    pthread_rwlock_unlock(&replay->places_lock);
    if (err < 0)
        return err;
    replay_place_forget_descriptors(replay);
    if (op->replaced && op->replaced != op->entry && !(flags & RENAME_EXCHANGE)) {
        replay_return_name(replay);
        replay_count_open(replay, op->replaced, 0);
    }
    return 0;
}
