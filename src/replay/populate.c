/* Making what must have existed before the first operation: names in the order in which they were found. Existing ones
 * stay as they are. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base.h"
#include "replay_private.h"

#define PASSES_MAX 64U

/* Fills a file, or leaves a hole. Errors: -EFBIG files would take too much space */
static int fill(struct replay *replay, uint32_t node, int fd) {
    uint64_t size_bytes = replay->nodes.at[node].existed_bytes;
    bool is_filled = !replay->options.is_sparse;
    if (size_bytes > INT64_MAX || (is_filled && !replay_charge(replay, node, size_bytes)))
        return -EFBIG;
    if (!is_filled && ftruncate(fd, (off_t)size_bytes) < 0)
        return negative_errno();
    for (uint64_t at = 0; is_filled && at < size_bytes;) {
        size_t part = size_bytes - at < PATTERN_BYTES ? (size_t)(size_bytes - at) : PATTERN_BYTES;
        ssize_t written = pwrite(fd, replay->pattern, part, (off_t)at);
        if (written < 0)
            return negative_errno();
        at += (uint64_t)written;
        replay->report.made_bytes += (uint64_t)written;
        if (*replay->stop)
            return -EINTR;
    }
    return 0;
}

/* 1: it existed already. */
static int make_file(struct replay *replay, uint32_t node, int dir_fd, const char *text) {
    CLEANUP_FD int fd = openat(dir_fd, text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return errno == EEXIST ? 1 : negative_errno();
    int err = fill(replay, node, fd);
    if (err < 0)
        unlinkat(dir_fd, text, 0);
    replay->report.made_files += err == 0;
    return err;
}

static int make_directory(struct replay *replay, int dir_fd, const char *text) {
    if (mkdirat(dir_fd, text, 0755) < 0)
        return errno == EEXIST ? 1 : negative_errno();
    replay->report.made_directories++;
    return 0;
}

static int make_symlink(int dir_fd, const char *text) {
    return symlinkat("-", dir_fd, text) == 0 ? 0 : errno == EEXIST ? 1 : negative_errno();
}

/* Another name of a file that has one. */
static int make_link(struct replay *replay, uint32_t node, int dir_fd, const char *text) {
    const struct replay_place *place = &replay->nodes.at[node].places[0];
    CLEANUP_FD int old_fd = replay_open_node(replay, place->directory, O_PATH | O_DIRECTORY);
    if (old_fd < 0)
        return old_fd;
    return linkat(old_fd, place->text, dir_fd, text, 0) == 0 ? 0 : errno == EEXIST ? 1 : negative_errno();
}

static int make_name_in(struct replay *replay, const struct replay_name *name, int dir_fd) {
    const struct replay_node *node = &replay->nodes.at[name->first];
    if (node->places[0].directory)
        return make_link(replay, name->first, dir_fd, name->text);
    if (node->type == TYPE_DIRECTORY)
        return make_directory(replay, dir_fd, name->text);
    return node->type == TYPE_SYMLINK ? make_symlink(dir_fd, name->text)
                                      : make_file(replay, name->first, dir_fd, name->text);
}

static int make_name(struct replay *replay, const struct replay_name *name) {
    CLEANUP_FD int dir_fd = replay_open_node(replay, name->directory, O_PATH | O_DIRECTORY);
    if (dir_fd < 0)
        return dir_fd;
    if (!replay_charge_name(replay))
        return -EFBIG;
    int err = make_name_in(replay, name, dir_fd);
    if (err != 0)
        replay_return_name(replay);
    return err;
}

/* Opens a file that was open when recording began. */
static void open_first(struct replay *replay, struct replay_handle *handle) {
    struct replay_lane lane = {.replay = replay, .parent_fd = -1};
    int flags = (handle->is_written ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK;
    CLEANUP_FD int path_fd = replay_open_node(replay, handle->node, O_PATH);
    int fd = path_fd < 0 ? path_fd : replay_open_checked(&lane, path_fd, flags, handle->is_directory);
    if (fd < 0)
        return; /* operations on it will report that */
    handle->fd = fd;
    replay_count_open(replay, handle->node, 1);
}

/* Returns how many names were made; those whose directory does not exist yet are left for the next time. */
static uint32_t make_names(struct replay *replay) {
    uint32_t count = 0;
    replay->report.not_made = 0;
    replay->report.not_made_error = 0;
    for (uint32_t i = 1; i < replay->names.count && !*replay->stop; i++) {
        struct replay_name *name = &replay->names.at[i];
        if (!name->existed || name->is_made)
            continue;
        int err = make_name(replay, name);
        name->is_made = err >= 0;
        if (err < 0 && replay->report.not_made_error == 0)
            replay->report.not_made_error = -err;
        if (name->is_made)
            replay_place_add(replay, name->first, name->directory, name->text);
        count += name->is_made;
        replay->report.not_made += !name->is_made;
    }
    return count;
}

int replay_populate(struct replay *replay) {
    unsigned passes = 0; /* names may be in directories that were found after them */
    while (make_names(replay) > 0 && replay->report.not_made > 0 && ++passes < PASSES_MAX)
        ;
    for (uint32_t i = 1; i < replay->handles.count; i++)
        if (replay->handles.at[i].is_opened_first)
            open_first(replay, &replay->handles.at[i]);
    return syncfs(replay->root_fd) < 0 ? negative_errno() : 0; /* so that it is not written during the replay */
}
