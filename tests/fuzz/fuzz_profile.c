/* The profile parser: any text is a profile that survives the round trip, or an error with a message. */
#include <errno.h>

#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    if (size_bytes == 0)
        return 0; /* fmemopen(3) knows no empty file */
    FILE *stream = fmemopen((void *)(uintptr_t)data, size_bytes, "r");
    struct aggstats_profile profile;
    struct aggstats_parse_error error = {0};
    FUZZ_PROMISE(stream != NULL);
    int err = aggstats_profile_parse(stream, &profile, &error);
    fclose(stream);
    if (err < 0) {
        FUZZ_PROMISE(err == -EBADMSG && error.message[0] != '\0');
        return 0;
    }
    promise_round_trip(&profile);
    aggstats_profile_finish(&profile);
    return 0;
}
