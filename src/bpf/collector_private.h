/* Private: what the collectors of all layers have in common. */
#ifndef COLLECTOR_PRIVATE_H
#define COLLECTOR_PRIVATE_H

#include "collector.h"
#include "loading.h"

struct bpf_object_skeleton;

/* What calls of a slot are counted as. */
struct collector_slot {
    unsigned char lane;
    unsigned char op;
};

/* The programs of a layer, opened and set, which include call_counts.h. */
struct collector_programs {
    void *programs;                       /* made by bpftool */
    struct bpf_object_skeleton *skeleton; /* of them */
    void (*destroy)(void *programs);
    void (*attach_more)(void *programs); /* what does not attach by itself; NULL: nothing */
    void (*detach_more)(void *programs);
    struct loading_needs needs;
    const char *const *ops;
    unsigned op_count;
    const struct collector_slot *slots; /* [COUNTING_SLOTS] */
};

/* Loads and attaches.
 * Owner:   takes the programs over, also if it fails
 * Errors:  as collector_start_fuse() */
int collector_start(const struct collector_programs *programs, struct collector **ret_collector,
                    char ret_why[COLLECTOR_WHY_SIZE]);

void *collector_programs_of(const struct collector *collector);

/* ---- Maps in windows: programs count in one while the other is read and emptied ------------------ */

/* Call after another window has been put in use. Waits until the programs that may still use the old window have ended.
 * windows_fd: the map of maps
 * number:     index of the old window in the map of maps
 * window_fd:  the old window
 * Errors:  those of bpf(2) */
int windows_wait(int windows_fd, unsigned number, int window_fd);

/* Removes all entries of a hash map.
 * keys, values: arrays of `room` elements; each call of taken() finds there the entries just removed
 * Errors:  those of bpf(2); the remaining entries stay in the map */
int windows_empty(int window_fd, void *keys, void *values, unsigned room, void (*taken)(void *context, unsigned count),
                  void *context);

#endif
