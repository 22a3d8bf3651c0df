#include "run_witness.h"

#include <inttypes.h>
#include <stdio.h>

#include "bytes.h"
#include "proc.h"

/* For each read that was not seen: to execute a program, the kernel and ld.so make reads of at most 832 bytes. */
#define UNSEEN_BYTES 832

#define TEXT_SIZE 64

static struct run_witness look_at(const char *who) {
    struct proc_io io;
    if (!proc_io_read(who, &io))
        return (struct run_witness){0};
    return (struct run_witness){true, io.read_bytes, io.written_bytes, io.reads};
}

/* Its own reading between the two is the same each time, and falls out of differences. */
void run_witness_look(struct run_witness *ret_witness) {
    const struct run_witness all = look_at("self");
    const struct run_witness own = look_at("thread-self");
    *ret_witness = (struct run_witness){all.is_known && own.is_known, all.read - own.read, all.written - own.written,
                                        all.reads - own.reads};
}

static uint64_t less(uint64_t number, uint64_t more) {
    return number > more ? number - more : 0;
}

static int add_bytes(struct aggstats_profile *profile, const char *key, uint64_t read, uint64_t written) {
    char text[TEXT_SIZE];
    snprintf(text, sizeof(text), "%" PRIu64 " read, %" PRIu64 " written", read, written);
    return aggstats_profile_add_label(profile, key, text);
}

int run_witness_add(const struct run_witness *before, const struct run_witness *other, bool is_narrowed,
                    struct aggstats_profile *profile) {
    struct run_witness after;
    run_witness_look(&after);
    if (!before->is_known || !after.is_known)
        return 0;
    const struct bytes_seen seen = bytes_seen(profile);
    const uint64_t unseen_reads = less(after.reads - before->reads, seen.reads + other->reads);
    int error = add_bytes(profile, "bytes_seen", seen.read, seen.written);
    if (error == 0)
        error = add_bytes(profile, "bytes_kernel",
                          less(after.read - before->read, other->read + unseen_reads * UNSEEN_BYTES),
                          less(after.written - before->written, other->written));
    return error || !is_narrowed ? error : add_bytes(profile, "bytes_elsewhere", other->read, other->written);
}
