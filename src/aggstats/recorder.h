/* Private: the recorder behind aggstats.h. */
#ifndef RECORDER_H
#define RECORDER_H

#include <pthread.h>

#include "clock.h"
#include "events.h"
#include "grouping.h"
#include "joint.h"
#include "live.h"
#include "sampler.h"
#include "timeline.h"

/* One thread's block. It is never freed or moved while the recorder lives; threads come and go. */
struct segment {
    struct segment *next; /* set before the segment is published */
    struct aggstats_block *block;
    size_t size_bytes;
    uint64_t owner_thread; /* 0: free; under the registry's lock */
    struct events *events; /* of its owner; atomic; NULL until it has any */
};

struct aggstats_recorder {
    struct aggstats_recorder_hot hot; /* first: aggstats_hot() */
    struct layout layout;
    char (*op_names)[AGGSTATS_NAME_SIZE];
    struct aggstats_label *labels;
    size_t label_count;

    struct aggstats_clock clock;
    bool clock_measured; /* its frequency can be bettered by measuring longer */
    struct clock_pair created;

    struct live live;
    struct aggstats_block *fallback_block; /* shared by threads for which no memory was left */
    uint64_t fallback_used;                /* atomic */

    struct aggstats_recorder *next; /* in the registry, under its lock */
    struct segment *segments;       /* newest first; grows only, read without a lock */
    pthread_mutex_t span_lock;      /* the spans, and what is read against them */
    struct joints joints;           /* changed and read under the span lock */
    struct timeline *timeline;      /* under the span lock; NULL: not sampled */
    pthread_mutex_t sampler_lock;   /* taken first */
    struct sampler *sampler;        /* under its lock; NULL: not sampled */
    struct grouping *grouping;      /* set before threads count; NULL: not grouped */
};

/* The calling thread's queue; it has a block. NULL: no memory is left. */
struct events *recorder_thread_events(struct aggstats_recorder *recorder);

#endif
