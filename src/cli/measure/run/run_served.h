/* The layer "daemon" of osprof run: what a FUSE daemon that osprof fuse profiles has done for the command. It is the
 * difference of two profiles of its mount. */
#ifndef RUN_SERVED_H
#define RUN_SERVED_H

#include "recording.h"

struct run_served {
    char *socket; /* of the process beside the daemon; NULL: the layer is not wanted */
    struct aggstats_profile before;
    uint64_t handed_over_before;
    bool has_workers; /* valid after run_served_stop(): each request was answered by the thread that took it */
};

/* Whether all directories are on one mount that osprof fuse profiles.
 * Owner:   the caller finishes *ret_served
 * Errors:  -ENOENT one is not, and -EXDEV they are on different ones, -ENOMEM; ret_name: which, borrowed */
int run_served_find(const char *const *directories, size_t count, struct run_served *ret_served, const char **ret_name);
void run_served_finish(struct run_served *served);

/* The profile begins here. Errors: reported to the user */
int run_served_begin(struct run_served *served);

/* It ends here, and is added to the layers. Errors: reported to the user */
int run_served_stop(struct run_served *served, struct recording *layers);

#endif
