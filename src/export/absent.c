/* Where osprof is built without protobuf-c: part_missing(PART_PROTOBUF). */
#include <errno.h>

#include "events_export.h"
#include "views.h"

static int write_nothing(const struct aggstats_profile *profile, FILE *stream) {
    (void)profile, (void)stream;
    return -ENOTSUP;
}

static int write_nothing_of_all(const struct view_target *targets, size_t count, FILE *stream) {
    (void)targets, (void)count, (void)stream;
    return -ENOTSUP;
}

const struct view view_protobuf = {
    .name = "protobuf", .write = write_nothing, .write_all = write_nothing_of_all, .needs_steady_rate = true};

int events_export_perfetto(const struct events_export *out) {
    (void)out;
    return -ENOTSUP;
}
