/* What meson has found. */
#include "parts.h"

#include <stddef.h>

#include "parts_built.h"

const char *part_missing(enum part part) {
    static const char *const missing[] = {
        [PART_BPF] = MISSING_BPF,
        [PART_STACKS] = MISSING_STACKS,
        [PART_SERVE] = MISSING_SERVE,
        [PART_TOP] = MISSING_TOP,
        [PART_STATISTICS] = MISSING_STATISTICS,
        [PART_PROTOBUF] = MISSING_PROTOBUF,
        [PART_CONTAINERS] = MISSING_CONTAINERS,
    };
    return missing[part];
}
