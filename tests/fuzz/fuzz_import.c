/* The readers of other tools' histograms: any text becomes a profile that survives the round trip, or an error with a
 * message. */
#include <errno.h>

#include "foreign.h"
#include "round_trip.h"

static void promise_profile(const struct foreign *foreign, const struct foreign_options *options) {
    struct aggstats_profile profile;
    struct aggstats_parse_error error = {0};
    int err = foreign_profile(foreign, options, &profile, &error);
    if (err < 0) {
        FUZZ_PROMISE(err == -EBADMSG && error.message[0] != '\0');
        return;
    }
    promise_round_trip(&profile);
    aggstats_profile_finish(&profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    struct foreign foreign;
    struct aggstats_parse_error error = {0};
    int err = foreign_parse((const char *)data, size_bytes, &foreign, &error);
    if (err < 0) {
        FUZZ_PROMISE(err == -EBADMSG && error.message[0] != '\0');
        return 0;
    }
    const struct foreign_options as_said = {.layer = "block"};
    const struct foreign_options first_in_ns = {.map = foreign.maps[0].name, .unit = "ns"};
    promise_profile(&foreign, &as_said);
    promise_profile(&foreign, &first_in_ns);
    foreign_finish(&foreign);
    return 0;
}
