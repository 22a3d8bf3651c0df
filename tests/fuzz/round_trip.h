/* Rules of the text format: a profile that is written, read back and written again gives the same text, which can be
 * printed on a terminal. */
#ifndef ROUND_TRIP_H
#define ROUND_TRIP_H

#include <string.h>

#include "aggstats.h"
#include "base.h"
#include "fuzz.h"

static inline void promise_plain_text(const char *text) {
    const char *character;
    size_t length;
    for (const char *at = text, *before = text; (length = next_character(&at, &character)) > 0; before = at)
        FUZZ_PROMISE(character == before && (*character == '\n' || !is_invisible(character, length)));
}

static inline void promise_round_trip(const struct aggstats_profile *profile) {
    char *first;
    char *second;
    size_t first_bytes;
    size_t second_bytes;
    struct aggstats_profile again;
    FUZZ_PROMISE(aggstats_profile_format(profile, &first, &first_bytes) == 0);
    promise_plain_text(first);
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
