/* A chain of who waits for whom: what is asked, and what is found. */
#ifndef HOLDERS_CHAIN_H
#define HOLDERS_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "causes.h"
#include "thread_cause.h"

#define HOLDERS_LINKS_MAX 4
#define HOLDERS_NAME_SIZE 64
#define HOLDERS_OBJECT_SIZE 512
#define HOLDERS_TEXT_SIZE 4096

/* What is waited for. */
enum holders_thing {
    HOLDERS_NO_THING,    /* only the cause is known */
    HOLDERS_FLOCK,       /* object: the file's path */
    HOLDERS_FCNTL,       /* the same, a lock of a process or of an open file description */
    HOLDERS_LEASE,       /* the same */
    HOLDERS_KERNEL_LOCK, /* object: the function that asked for it; holder: given by find_kernel_lock() */
    HOLDERS_FROZEN,      /* object: where the file system is mounted */
    HOLDERS_FUSE,        /* object: where it is mounted; source: its type; holder: the daemon */
    HOLDERS_SERVER,      /* object: where it is mounted; source: the server's name */
    HOLDERS_PIPE_ROOM,   /* holder: the reader */
    HOLDERS_PIPE_DATA,   /* holder: the writer */
    HOLDERS_DISK,        /* object: its name; source: the file, if it is a loop device */
};

/* How the holder has it. */
enum holders_relation {
    HOLDERS_NOBODY_KNOWN,
    HOLDERS_HELD,           /* it holds the lock; serves the file system; reads or writes the pipe */
    HOLDERS_TAKEN,          /* it took the lock; whether it has passed it on by fork(2) cannot be seen */
    HOLDERS_ASKED_BEFORE,   /* it waits for a lock that overlaps, and is served first */
    HOLDERS_BY_DESCRIPTION, /* an open file description holds the lock; whose is unknown */
    HOLDERS_BY_UNSEEN,      /* a process of another pid namespace */
};

struct holders_party {
    uint64_t process;             /* 0: unknown */
    uint64_t thread;              /* 0: any of the process */
    char name[HOLDERS_NAME_SIZE]; /* of the process, any bytes; "": unknown */
};

/* Somebody who waits, and for whom. */
struct holders_link {
    struct holders_party waiter;     /* process 0: the file of the loop device that is the link before */
    bool is_all;                     /* all threads of the waiter have this cause */
    char cause[AGGSTATS_CAUSE_SIZE]; /* "waiting for a frozen file system"; "": unknown */
    enum holders_thing thing;
    char object[HOLDERS_OBJECT_SIZE]; /* any bytes; "": unknown; so is source */
    char source[HOLDERS_OBJECT_SIZE];
    bool has_in_flight;
    uint64_t in_flight;              /* of a disk: requests that it has not completed */
    char group[HOLDERS_OBJECT_SIZE]; /* of a disk: the control group that limits the waiter there; "": none is known */
    enum holders_relation relation;
    struct holders_party holder;
    size_t others; /* other holders of the same thing */
};

/* links[i + 1].waiter is links[i].holder, or one of its threads. The last holder is not followed if nothing is known of
 * it, or if the chain is full. */
struct holders_chain {
    struct holders_link links[HOLDERS_LINKS_MAX];
    size_t count;
    bool is_circle; /* the last holder is the waiter of a link */
};

/* A lock of the kernel, from a program that watches these. */
struct holders_kernel_lock {
    uint64_t owner; /* the number of its thread, as of gettid(2); 0: unknown */
    char function[CAUSE_FUNCTION_SIZE];
};

/* Finds the lock of the kernel for which a thread waits. Returns false if it waits for none
 * Threads: that of holders_find() */
typedef bool (*holders_kernel_lock_fn)(void *context, uint64_t thread, struct holders_kernel_lock *ret_lock);

struct holders_options {
    struct thread_causes *causes;
    bool
        may_scan; /* look for holders in the descriptors of all processes: up to some 100 ms on a large machine. Without
                    * it ends of pipes, FUSE daemons and holders of locks by descriptions are not found */
    holders_kernel_lock_fn find_kernel_lock; /* NULL: none is known */
    void *kernel_lock_context;
};

struct holders_waiter {
    uint64_t process;
    uint64_t thread;
    const struct kernel_stack *stack; /* NULL: is read. Owner: the caller */
    dev_t device;                     /* of the file system that its call is on; 0: unknown, is read if possible */
    const char *path;                 /* of the call's file; NULL: the same. Owner: the caller */
};

#endif
