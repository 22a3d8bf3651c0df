/* Open files and directories. Numbers of closed ones are used again. */
#include "base.h"
#include "replay_private.h"

uint32_t replay_handle_of(struct replay *replay, uint64_t file, uint32_t node, bool is_new, bool is_directory) {
    uint32_t handle = is_new ? 0 : replay_map_get(&replay->handle_of_file, file);
    if (handle && handle != REPLAY_CLOSED)
        return handle;
    handle = REPLAY_ADD(replay, &replay->handles);
    if (!handle)
        return 0;
    replay->handles.at[handle] = (struct replay_handle){
        .node = node,
        .is_opened_first = !is_new,
        .is_directory = is_directory,
        .fd = -1,
    };
    replay_map_set(replay, &replay->handle_of_file, file, handle);
    return handle;
}
