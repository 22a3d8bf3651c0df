/* Ways to look, and what they need: rows that osprof doctor tries. */
#ifndef WAYS_H
#define WAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "collector.h"

#define WHY_SIZE COLLECTOR_WHY_SIZE

struct way {
    const char *name;
    const char *what; /* it has, or allows; and how */
    /* ret_why: filled if it does not work: why, and what would help */
    bool (*try)(const struct way *way, char ret_why[WHY_SIZE]);
    const char *library; /* NULL: none */
    int capability;
    enum collector_countable countable;
    const char *since;                   /* which kernels have the tracepoint of that */
    int (*load)(char ret_why[WHY_SIZE]); /* programs into the kernel, for a moment */
};

/* What osprof attach needs, and what else the kernel reports to it. */
extern const struct way attach_needs[];
extern const size_t attach_need_count;

#endif
