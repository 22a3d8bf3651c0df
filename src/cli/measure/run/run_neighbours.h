/* Others at the disk of the command: how much more was read from it or written to it while the command ran than the
 * command has, and who did.
 *
 * The kernel counts what each disk does, and what each process reads and dirties; to read these sums needs no privilege.
 * Whose a request to a disk was it does not count, and the metadata that a file system writes for a call are in nobody's sum:
 * so others are mentioned only if they have clearly more than the command can have caused. */
#ifndef RUN_NEIGHBOURS_H
#define RUN_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "aggstats.h"
#include "run_user.h"

#define RUN_NEIGHBOURS_PLACES 8

enum run_way { RUN_READ, RUN_WRITTEN, RUN_WAYS };

/* A process, and what it has read or written between two looks, or since it started. */
struct run_other {
    uint64_t pid;
    uint64_t bytes;
    bool has_children; /* the sum may be that of its children, which it has waited for */
    char program[AGGSTATS_PROGRAM_SIZE];
};

#define RUN_OTHERS_MAX 8

/* Those with the most bytes, by descending bytes. */
struct run_others {
    struct run_other others[RUN_OTHERS_MAX];
    size_t count;
};

/* The sums of all processes at one time. */
struct run_look;

/* A file system where the command's calls took time. */
struct run_neighbours_place {
    dev_t device;
    char *name; /* the mount point, or a directory of the file system */
};

/* Zeroed: nothing is known. */
struct run_neighbours {
    char *before; /* the counters of all disks as the profile began; NULL: they are not counted */
    char *after;
    int64_t begun_ns;      /* CLOCK_MONOTONIC */
    int64_t begun_boot_ns; /* CLOCK_BOOTTIME */
    int64_t ended_ns;
    struct rusage opened; /* of children, before the first */
    struct rusage begun;  /* as the profile began */
    dev_t directory_device;
    char *directory; /* the only one; NULL: none, or several */
    bool has_looked; /* at processes */
    struct run_look *first;
    struct run_others others[RUN_WAYS];

    bool are_calls_known; /* and the next two */
    uint64_t written_bytes;
    uint64_t metadata_bytes; /* that the calls may have caused */
    struct run_neighbours_place places[RUN_NEIGHBOURS_PLACES];
    size_t place_count;
};

/* Call before the first child is made, and before anything is mounted. */
void run_neighbours_open(struct run_neighbours *ret_neighbours, const char *const *directories, size_t count);
void run_neighbours_finish(struct run_neighbours *neighbours);

/* The profile begins. */
void run_neighbours_begin(struct run_neighbours *neighbours);

/* In how many milliseconds to call run_neighbours_look(); -1: never. A short command is not looked at. neighbours: NULL is
 * fine, of the next function too */
int run_neighbours_wait_ms(const struct run_neighbours *neighbours);

/* Looks at other processes for the first time, if it is time to, in another thread. */
void run_neighbours_look(struct run_neighbours *neighbours);

/* The command has ended. Looks at other processes again if some disk did more than the command. */
void run_neighbours_end(struct run_neighbours *neighbours);

/* What the command did, by its calls.
 * user:    the profile of the layer user; groups: its mounts
 * is_mounted: calls were made at a mount of osproffs, so their file system is not the one with the disk */
void run_neighbours_note_calls(struct run_neighbours *neighbours, const struct aggstats_profile *user,
                               const struct run_groups *groups, bool is_mounted);

/* Adds the labels disk_written or disk_read, disk_busy and disk_other, if there is something to tell; see osprof(5). Call when
 * all children have ended.
 * Errors:  -ENOMEM */
int run_neighbours_add(const struct run_neighbours *neighbours, struct aggstats_profile *profile);

#endif
