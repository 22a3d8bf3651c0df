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

#endif
