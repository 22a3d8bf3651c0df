/* What a FUSE daemon's preloaded object tells of its requests, and to whom: a ring of records in a file that both have
 * mapped. Any number of threads and processes write; one reads. Who writes never waits, takes no lock, and keeps
 * nothing but the mapping: where the ring is full, records are dropped, and lost requests and answers counted.
 *
 * Shape: struct request_ring, then slot_count slots (struct request_record), of which a record takes one, and one for
 *        every REQUEST_NAME_BYTES of names. Slot n is at n % slot_count. A record is whole when its `ready` is the
 *        number of its slot + 1; slots of names have 0 there, so that a reader who has lost a record, since whoever
 *        wrote it was killed, finds the next.
 * Units: cycles of the clock that the ring names.
 * Whoever reads trusts nothing of it: the daemon may write what it likes. */
#ifndef REQUEST_RING_H
#define REQUEST_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_RING_VARIABLE "OSPROF_FUSE" /* of the environment: the path of the file */
#define REQUEST_RING_MAGIC "OSPROFRQ"
#define REQUEST_RING_VERSION 2U
#define REQUEST_RING_SLOTS 32768U /* 2 MiB */
#define REQUEST_NAME_BYTES 56U    /* in a slot */
#define REQUEST_NAMES_MAX 560U    /* of two names, each with its NUL, whatever is longer is cut */

enum request_kind {
    REQUEST_ARRIVED = 1,
    REQUEST_ANSWERED,
    REQUEST_NAMED,   /* an answer has told of a node and its name: node, offset (the directory), names */
    REQUEST_CALLER,  /* a caller that has not called lately: pid, node (its process), names (its program) */
    REQUEST_STARTED, /* the kernel has asked to begin (FUSE_INIT) */
    REQUEST_ENDED,   /* the mount is gone */
    REQUEST_LEFT,    /* the process, which has served the mount, is not seen from now on: node (enum request_leaving) */
};

enum request_leaving {
    REQUEST_LEFT_SANDBOXED = 1, /* it forbids itself system calls */
    REQUEST_LEFT_BARE,          /* it executes a program without the variables that preload us */
};

struct request_record {
    uint64_t ready; /* atomic */
    uint64_t time_cycles;
    uint64_t unique;
    uint32_t process; /* of the daemon, and the thread of it that has read or answered */
    uint32_t thread;
    uint8_t kind;       /* enum request_kind */
    uint8_t name_slots; /* that follow */
    uint8_t opcode;
    uint8_t mount; /* 1: the first that is served, and so on; 0: not known */
    uint32_t asked_bytes;
    uint64_t node; /* answers: the first eight bytes of the body, as far as it has them */
    union {
        struct {
            uint32_t pid;
            uint32_t uid;
            uint64_t offset; /* or the other node that the request names */
        } arrived;
        struct {
            int32_t error; /* 0 or -errno */
            uint32_t body_bytes;
            uint64_t unused;
        } answered;
        struct {
            int32_t fd; /* of the device, in the daemon */
            uint32_t unused[3];
        } started;
    };
};

struct request_names {
    uint64_t ready; /* 0 */
    char bytes[REQUEST_NAME_BYTES];
};

union request_slot {
    struct request_record record;
    struct request_names names;
};

enum request_reader {
    REQUEST_READER_LOOKS, /* now and then */
    REQUEST_READER_RESTS, /* and is to be woken when the ring is half full */
    REQUEST_READER_SLEEPS /* and is to be woken by the next record */
};

struct request_ring {
    char magic[8]; /* written last */
    uint32_t version;
    uint32_t clock_kind;
    uint32_t slot_count;    /* a power of two */
    uint32_t wants_callers; /* 1: who callers are is to be told */
    /* atomic, each in a cache line of its own: */
    uint64_t head __attribute__((aligned(64)));   /* the next free slot */
    uint64_t dropped;                             /* records for which there was no room */
    uint64_t unseen;                              /* answers that could not be looked at */
    uint32_t mounts;                              /* that have begun */
    uint64_t tail __attribute__((aligned(64)));   /* the next slot to be read */
    uint32_t reader __attribute__((aligned(64))); /* a futex; enum request_reader */
    union request_slot slots[] __attribute__((aligned(64)));
};

static inline size_t request_ring_bytes(uint32_t slot_count) {
    return sizeof(struct request_ring) + slot_count * sizeof(union request_slot);
}

/* ---- Writing ---- */

/* Maps the ring that the environment names. NULL: there is none. Keeps errno */
struct request_ring *request_ring_join(void);

/* Adds a record, and names that follow it; its `ready` and `name_slots` are set here. Keeps errno. False: there is no
 * room. The last eighth is for answers: so those to requests that are told find room.
 * Signals: may be called in handlers.
 * Threads: any */
bool request_ring_add(struct request_ring *ring, const struct request_record *record, const char *names,
                      size_t names_bytes);

#endif
