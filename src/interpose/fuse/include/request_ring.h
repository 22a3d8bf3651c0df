/* How the object preloaded into a FUSE daemon reports requests: a ring of records in a file that the daemon and the
 * observer map. Any number of threads and processes write; one reads. A writer never waits, takes no lock, and keeps
 * nothing but the mapping. When the ring is full, records are dropped, and lost requests and answers counted.
 *
 * Shape:   struct request_ring, then slot_count slots (struct request_record), of which a record takes one, and one for
 *          every REQUEST_NAME_BYTES of names. Slot n is at n % slot_count. A record is complete when its `ready` is the
 *          number of its slot + 1. Slots of names have 0 there, so that the reader finds the next record if the writer
 *          of one was killed.
 * Units:   cycles of the clock that the ring names
 *
 * The daemon may write any bytes into the ring, so the reader checks all that it reads. */
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
#define REQUEST_NAMES_MAX 560U    /* of two names, each with its NUL; longer ones are cut */

enum request_kind {
    REQUEST_ARRIVED = 1,
    REQUEST_ANSWERED,
    REQUEST_NAMED,   /* an answer gave a node's name: node, offset (the directory), names */
    REQUEST_CALLER,  /* a caller that has not called recently: pid, node (its process), names (its program) */
    REQUEST_STARTED, /* the kernel has asked to begin (FUSE_INIT) */
    REQUEST_ENDED,   /* the mount is gone */
    REQUEST_LEFT,    /* a process that has served the mount cannot be observed any more: node (enum request_leaving) */
};

enum request_leaving {
    REQUEST_LEFT_SANDBOXED = 1, /* it forbids itself system calls */
    REQUEST_LEFT_BARE,          /* it executes a program without the variables that preload us */
};

struct request_record {
    uint64_t ready; /* atomic */
    uint64_t time_cycles;
    uint64_t unique;
    uint32_t process; /* of the daemon; thread: the one that read or answered */
    uint32_t thread;
    uint8_t kind;       /* enum request_kind */
    uint8_t name_slots; /* the number that follow */
    uint8_t opcode;
    uint8_t mount; /* 1: the first mount served, and so on; 0: unknown */
    uint32_t asked_bytes;
    uint64_t node; /* answers: the first eight bytes of the body, if it has them */
    union {
        struct {
            uint32_t pid;
            uint32_t uid;
            uint64_t offset; /* or the second node that the request names */
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
    REQUEST_READER_LOOKS, /* the reader polls */
    REQUEST_READER_RESTS, /* it sleeps until the ring is half full */
    REQUEST_READER_SLEEPS /* it sleeps until the next record */
};

struct request_ring {
    char magic[8]; /* written last */
    uint32_t version;
    uint32_t clock_kind;
    uint32_t slot_count;    /* a power of two */
    uint32_t wants_callers; /* 1: report callers too */
    /* atomic, each in a cache line of its own: */
    uint64_t head __attribute__((aligned(64)));   /* the next free slot */
    uint64_t dropped;                             /* records dropped because it was full */
    uint64_t unseen;                              /* answers that could not be parsed */
    uint32_t mounts;                              /* mounts begun */
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

/* Adds a record, and names that follow it; its `ready` and `name_slots` are set here. Keeps errno. Returns false if
 * there is no room. The last eighth is reserved for answers, so that answers to reported requests find room.
 * Signals: may be called in handlers.
 * Threads: any */
bool request_ring_add(struct request_ring *ring, const struct request_record *record, const char *names,
                      size_t names_bytes);

#endif
