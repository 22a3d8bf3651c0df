/* Two system calls of bpf(2) on maps of windows: one waits for running programs, one removes entries in batches. */
#include "windows.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "base.h"

/* An update of a map of maps, even with the same map, waits until all running programs that may use the old map have
 * ended. */
int windows_wait(int windows_fd, unsigned number, int window_fd) {
    return bpf_map_update_elem(windows_fd, &number, &window_fd, BPF_ANY) < 0 ? negative_errno() : 0;
}

int windows_empty(int window_fd, void *keys, void *values, unsigned room, void (*taken)(void *context, unsigned count),
                  void *context) {
    unsigned place = 0; /* of the map's, opaque */
    bool is_first = true;
    int result = 0;
    while (result == 0) {
        unsigned count = room;
        result =
            bpf_map_lookup_and_delete_batch(window_fd, is_first ? NULL : &place, &place, keys, values, &count, NULL);
        if (result < 0 && errno != ENOENT) /* that is the end */
            return negative_errno();
        taken(context, count);
        is_first = false;
    }
    return 0;
}
