/* The profile parser and the views: any text is a recording, of which each profile survives the round trip and has
 * every view, or an error with a message. */
#include <errno.h>
#include <jansson.h>

#include "base.h"
#include "round_trip.h"
#include "views.h"

static void promise_view(const struct view *view, const struct aggstats_profile *profile) {
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int err = view_format(view, profile, &text, &size_bytes);
    if ((view == &view_metrics || view == &view_protobuf) && profile->clock.frequency_hz == 0) {
        FUZZ_PROMISE(err == -EDOM);
        return;
    }
    if (view == &view_protobuf) {
        FUZZ_PROMISE(err == 0 || err == -EOVERFLOW);
        return;
    }
    FUZZ_PROMISE(err == 0 && strlen(text) == size_bytes);
    if (view != &view_json)
        return;
    json_t *json = json_loadb(text, size_bytes, JSON_DECODE_INT_AS_REAL, NULL); /* its integers are of 63 bits */
    FUZZ_PROMISE(json != NULL);
    json_decref(json);
}

static void promise_all(struct aggstats_profile *profile) {
    promise_round_trip(profile);
    promise_view(&view_json, profile);
    promise_view(&view_csv, profile);
    promise_view(&view_metrics, profile);
    promise_view(&view_protobuf, profile);
    aggstats_profile_finish(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    if (size_bytes == 0)
        return 0; /* fmemopen(3) knows no empty file */
    FILE *stream = fmemopen((void *)(uintptr_t)data, size_bytes, "r");
    struct aggstats_text_position position = {0};
    struct aggstats_profile profile;
    struct aggstats_parse_error error = {0};
    int more;
    FUZZ_PROMISE(stream != NULL);
    while ((more = aggstats_profile_parse_next(stream, &position, &profile, &error)) > 0)
        promise_all(&profile);
    fclose(stream);
    FUZZ_PROMISE(more == 0 || (more == -EBADMSG && error.message[0] != '\0'));
    return 0;
}
