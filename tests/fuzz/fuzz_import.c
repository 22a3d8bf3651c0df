/* The readers of other tools' histograms: any text becomes a profile that survives the round trip, or an error with a
 * message. */
#include <errno.h>

#include "imported_parse.h"
#include "imported_profile.h"
#include "round_trip.h"

static void promise_profile(const struct imported *imported, const struct imported_options *options) {
    struct aggstats_profile profile;
    struct aggstats_parse_error error = {0};
    int err = imported_profile(imported, options, &profile, &error);
    if (err < 0) {
        FUZZ_PROMISE(err == -EBADMSG && error.message[0] != '\0');
        return;
    }
    promise_round_trip(&profile);
    aggstats_profile_finish(&profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    struct imported imported;
    struct aggstats_parse_error error = {0};
    int err = imported_parse((const char *)data, size_bytes, &imported, &error);
    if (err < 0) {
        FUZZ_PROMISE(err == -EBADMSG && error.message[0] != '\0');
        return 0;
    }
    const struct imported_options as_said = {.layer = "block"};
    const struct imported_options first_in_ns = {.map = imported.map_count > 0 ? imported.maps[0].name : NULL,
                                                 .unit = "ns"};
    promise_profile(&imported, &as_said);
    promise_profile(&imported, &first_in_ns);
    imported_finish(&imported);
    return 0;
}
