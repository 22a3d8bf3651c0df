/* Open files and directories. Numbers of closed ones are reused, and so early that a call that closes one may begin
 * after the call that opens the next has begun; but not after that has ended. */
#include "base.h"
#include "replay_private.h"

static uint32_t add_handle(struct replay *replay, uint64_t file, const struct replay_handle *handle) {
    uint32_t before = replay_map_get(&replay->handle_of_file, file);
    uint32_t place = REPLAY_ADD(replay, &replay->handles);
    if (!place)
        return 0;
    replay->handles.at[place] = *handle;
    replay->handles.at[place].before = before == REPLAY_CLOSED ? 0 : before;
    replay->handles.at[place].fd = -1;
    replay_map_set(replay, &replay->handle_of_file, file, place);
    return place;
}

uint32_t replay_handle_open(struct replay *replay, uint64_t file, const struct replay_handle *handle) {
    return add_handle(replay, file, handle);
}

uint32_t replay_handle_of(struct replay *replay, uint64_t file, uint64_t cycles, const struct replay_handle *handle) {
    uint32_t place = replay_map_get(&replay->handle_of_file, file);
    if (place && place != REPLAY_CLOSED && cycles < replay->handles.at[place].opened_cycles &&
        replay->handles.at[place].before)
        place = replay->handles.at[place].before;
    if (place && place != REPLAY_CLOSED)
        return place;
    struct replay_handle first = *handle;
    first.is_opened_first = true;
    return add_handle(replay, file, &first);
}

void replay_handle_close(struct replay *replay, uint64_t file, uint32_t handle) {
    if (replay_map_get(&replay->handle_of_file, file) == handle)
        replay_map_set(replay, &replay->handle_of_file, file, REPLAY_CLOSED);
}
