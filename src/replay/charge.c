/* The space that files may take: each is charged up to its largest end, and each name as a block. So the disk never
 * holds more, whatever is written where. Removed files are given back, unless it is uncertain that the whole file was
 * removed: it has had more names than are remembered, or names have become others' in ways that were not recorded. */
#include <sys/stat.h>

#include "base.h"
#include "replay_private.h"

static bool take(struct replay *replay, uint64_t bytes) {
    if (bytes > replay->options.max_bytes - replay->charged_bytes)
        return false;
    replay->charged_bytes += bytes;
    return true;
}

bool replay_charge(struct replay *replay, uint32_t node, uint64_t end_bytes) {
    struct replay_node *file = &replay->nodes.at[node];
    pthread_mutex_lock(&replay->charge_lock);
    bool fits = end_bytes <= file->charged_bytes || take(replay, end_bytes - file->charged_bytes);
    if (fits && end_bytes > file->charged_bytes)
        file->charged_bytes = end_bytes;
    pthread_mutex_unlock(&replay->charge_lock);
    return fits;
}

bool replay_charge_name(struct replay *replay) {
    pthread_mutex_lock(&replay->charge_lock);
    bool fits = take(replay, REPLAY_NAME_BYTES);
    replay->charged_names += fits;
    pthread_mutex_unlock(&replay->charge_lock);
    return fits;
}

void replay_return_name(struct replay *replay) {
    pthread_mutex_lock(&replay->charge_lock);
    if (replay->charged_names > 0) {
        replay->charged_names--;
        replay->charged_bytes -= REPLAY_NAME_BYTES;
    }
    pthread_mutex_unlock(&replay->charge_lock);
}

bool replay_charge_attribute(struct replay *replay, uint64_t size_bytes) {
    pthread_mutex_lock(&replay->charge_lock);
    bool fits = take(replay, size_bytes + REPLAY_NAME_BYTES);
    pthread_mutex_unlock(&replay->charge_lock);
    return fits;
}

bool replay_charge_insertion(struct replay *replay, uint32_t node, int fd, uint64_t size_bytes) {
    struct stat attr;
    return fstat(fd, &attr) == 0 && replay_charge(replay, node, (uint64_t)attr.st_size + size_bytes);
}

void replay_shrink(struct replay *replay, uint32_t node, uint64_t size_bytes) {
    struct replay_node *file = &replay->nodes.at[node];
    pthread_mutex_lock(&replay->charge_lock);
    if (file->charged_bytes > size_bytes) {
        replay->charged_bytes -= file->charged_bytes - size_bytes;
        file->charged_bytes = size_bytes;
    }
    pthread_mutex_unlock(&replay->charge_lock);
}

void replay_count_open(struct replay *replay, uint32_t node, int change) {
    bool has_place = replay_place_of(replay, node).directory != 0;
    pthread_mutex_lock(&replay->charge_lock);
    replay->nodes.at[node].open_count += (uint32_t)change;
    bool is_gone = replay->nodes.at[node].open_count == 0 && !has_place && !replay->nodes.at[node].has_more_places &&
                   !atomic_load(&replay->is_astray);
    pthread_mutex_unlock(&replay->charge_lock);
    if (is_gone)
        replay_shrink(replay, node, 0);
}
