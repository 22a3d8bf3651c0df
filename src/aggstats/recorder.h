/* Private: the recorder behind aggstats.h. */
#ifndef RECORDER_H
#define RECORDER_H

#include <pthread.h>

#include "clock.h"
#include "grouping.h"
#include "joint.h"
#include "sampler.h"
#include "threads.h"
#include "timeline.h"

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
    struct threads threads;
    pthread_mutex_t window_lock;  /* the windows, and what is read against them */
    struct joints joints;         /* changed and read under the window lock */
    struct timeline *timeline;    /* under the window lock; NULL: not sampled */
    pthread_mutex_t sampler_lock; /* taken first */
    struct sampler *sampler;      /* under its lock; NULL: not sampled */
    struct grouping *grouping;    /* set before threads count; NULL: not grouped */
};

#endif
