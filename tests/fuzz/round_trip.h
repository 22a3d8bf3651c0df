/* A rule of the text format: a profile that is written, read back and written again gives the same text. */
#ifndef ROUND_TRIP_H
#define ROUND_TRIP_H

#include <string.h>

#include "aggstats.h"
#include "fuzz.h"

static inline void promise_round_trip(const struct aggstats_profile *profile) {
    char *first;
    char *second;
    size_t first_bytes;
    size_t second_bytes;
    struct aggstats_profile again;
    FUZZ_PROMISE(aggstats_profile_format(profile, &first, &first_bytes) == 0);
    FILE *stream = fmemopen(first, first_bytes, "r");
    FUZZ_PROMISE(stream != NULL);
    FUZZ_PROMISE(aggstats_profile_parse(stream, &again, NULL) == 0);
    fclose(stream);
    FUZZ_PROMISE(aggstats_profile_format(&again, &second, &second_bytes) == 0);
    FUZZ_PROMISE(first_bytes == second_bytes && memcmp(first, second, first_bytes) == 0);
    aggstats_profile_finish(&again);
    free(first);
    free(second);
}

#endif
