/* Calls under way, at most one for each thread. */
#ifndef UNDER_WAY_H
#define UNDER_WAY_H

#include "call_places.h"
#include "read_cache.h"

/* A call of a thread. */
struct under_way {
    __u64 begin_ns; /* before count_from_ns: that is not known */
    __u64 asked_bytes;
    __u64 object; /* that it is on; 0: unknown */
    __u32 number;
    __u32 op; /* 0: there is none; else one more */
    __u32 known;
};

/* The state of a call that a signal has interrupted. Without a handler the kernel restarts the call at once. After a
 * handler the kernel restarts the call, or the call fails: the result of rt_sigreturn(2) shows which. If the handler
 * never returns, the call has failed. */
enum interrupted {
    AT_ONCE,
    IN_HANDLER,
    RETURNING, /* from a handler, maybe one within another */
    ANEW,
};

struct thread {
    struct under_way call;
    struct reading_call reads;    /* what it reads */
    struct under_way interrupted; /* handlers make calls of their own meanwhile */
    struct reading_call interrupted_reads;
    __u64 end_ns; /* of the latter */
    __u64 stack;  /* where the stack was: handlers are elsewhere */
    __u32 state;  /* enum interrupted */
    struct read_file read_last;
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct thread);
} threads SEC(".maps");

#endif
