/* The reader of live files: any file is a consistent profile, or an error with a message. */
#include <errno.h>
#include <sys/mman.h>

#include "base.h"
#include "round_trip.h"

static void promise_consistent(const struct aggstats_profile *profile) {
    for (size_t i = 0; i < profile->op_count; i++) {
        uint64_t finished = 0;
        for (unsigned bucket = 0; bucket < 64 * profile->resolution; bucket++)
            FUZZ_PROMISE(!__builtin_add_overflow(finished, profile->ops[i].buckets[bucket], &finished));
        FUZZ_PROMISE(finished <= profile->ops[i].calls);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    CLEANUP_FD int fd = memfd_create("live", MFD_CLOEXEC);
    struct aggstats_profile profile;
    struct aggstats_live_info info;
    struct aggstats_parse_error error = {0};
    FUZZ_PROMISE(fd >= 0 && write_all(fd, data, size_bytes) == 0);
    int err = aggstats_live_read(fd, &profile, &info, &error);
    if (err < 0) {
        FUZZ_PROMISE(err == -EBADMSG && error.message[0] != '\0');
        return 0;
    }
    FUZZ_PROMISE(aggstats_live_is(fd) && !info.recording);
    promise_consistent(&profile);
    promise_round_trip(&profile);
    aggstats_profile_finish(&profile);
    return 0;
}
