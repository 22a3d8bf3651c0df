/* Private: how many buckets each op of a profile has. */
#ifndef PROFILE_BUCKETS_H
#define PROFILE_BUCKETS_H

#include "aggstats.h"

static inline unsigned profile_bucket_count(const struct aggstats_profile *profile) {
    return 64 * profile->resolution;
}

#endif
