/* Where osprof is built without protobuf-c: part_missing(PART_PROTOBUF). */
#include <errno.h>

#include "events_export.h"
#include "views.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int write_nothing(const struct aggstats_profile *profile, FILE *stream) {
    return -ENOTSUP;
}

static int write_nothing_of_all(const struct view_target *targets, size_t count, FILE *stream) {
    return -ENOTSUP;
}

const struct view view_protobuf = {
    .name = "protobuf", .write = write_nothing, .write_all = write_nothing_of_all, .needs_steady_rate = true};

int events_export_perfetto(const struct events_export *out) {
    return -ENOTSUP;
}
