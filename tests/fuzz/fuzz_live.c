/* The reader of live files: any file is a consistent profile, or an error with a message. What has a profile has a head with
 * the same labels. */
#include <errno.h>
#include <string.h>
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

static void promise_head(int fd, const struct aggstats_profile *whole) {
    struct aggstats_profile head;
    struct aggstats_live_info info;
    struct aggstats_parse_error error = {0};
    const int err = aggstats_live_read_head(fd, &head, &info, &error);
    FUZZ_PROMISE(err == 0 || (!whole && err == -EBADMSG && error.message[0] != '\0'));
    if (err < 0)
        return;
    if (whole) {
        FUZZ_PROMISE(head.label_count == whole->label_count && head.start_ns == whole->start_ns);
        for (size_t i = 0; i < head.label_count; i++)
            FUZZ_PROMISE(strcmp(head.labels[i].value, whole->labels[i].value) == 0);
    }
    aggstats_profile_finish(&head);
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
        promise_head(fd, NULL);
        return 0;
    }
    FUZZ_PROMISE(aggstats_live_is(fd) && !info.recording);
    promise_head(fd, &profile);
    promise_consistent(&profile);
    promise_round_trip(&profile);
    aggstats_profile_finish(&profile);
    return 0;
}
