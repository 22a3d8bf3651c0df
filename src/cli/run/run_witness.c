#include "run_witness.h"

#include <inttypes.h>
#include <stdio.h>

#include "bytes.h"
#include "proc.h"

/* For each read that was not seen: to execute a program, the kernel and ld.so make reads of at most 832 bytes. */
#define UNSEEN_BYTES 832

#define NUMBER_SIZE 24

static struct run_witness look_at(const char *who) {
    struct proc_io io;
    if (!proc_io_read(who, &io))
        return (struct run_witness){0};
    return (struct run_witness){true, io.read_bytes + io.written_bytes, io.reads + io.writes};
}

/* Its own reading between the two is the same each time, and falls out of differences. */
void run_witness_look(struct run_witness *ret_witness) {
    const struct run_witness all = look_at("self");
    const struct run_witness own = look_at("thread-self");
    *ret_witness = (struct run_witness){all.is_known && own.is_known, all.bytes - own.bytes, all.calls - own.calls};
}

static uint64_t less(uint64_t number, uint64_t more) {
    return number > more ? number - more : 0;
}

static int add_number(struct aggstats_profile *profile, const char *key, uint64_t number) {
    char text[NUMBER_SIZE];
    snprintf(text, sizeof(text), "%" PRIu64, number);
    return aggstats_profile_add_label(profile, key, text);
}

int run_witness_add(const struct run_witness *before, uint64_t other_bytes, uint64_t other_calls, bool is_narrowed,
                    struct aggstats_profile *profile) {
    struct run_witness after;
    run_witness_look(&after);
    if (!before->is_known || !after.is_known)
        return 0;
    const struct bytes_seen seen = bytes_seen(profile);
    const uint64_t unseen_calls = less(after.calls - before->calls, seen.calls + other_calls);
    const uint64_t bytes = less(after.bytes - before->bytes, other_bytes + unseen_calls * UNSEEN_BYTES);
    int error = add_number(profile, "bytes_seen", seen.bytes);
    if (error == 0)
        error = add_number(profile, "bytes_kernel", bytes);
    return error || !is_narrowed ? error : add_number(profile, "bytes_elsewhere", other_bytes);
}
