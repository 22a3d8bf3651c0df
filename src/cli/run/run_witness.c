#include "run_witness.h"

#include "bytes.h"
#include "proc.h"

/* For each read that was not seen: to execute a program, the kernel and ld.so make reads of at most 832 bytes. */
#define UNSEEN_BYTES 832

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

void run_witness_add(const struct run_witness *before, const struct run_witness *other, bool is_narrowed,
                     struct aggstats_profile *profile) {
    struct run_witness after;
    run_witness_look(&after);
    if (!before->is_known || !after.is_known)
        return;
    const struct bytes_seen seen = bytes_seen(profile);
    const uint64_t unseen_reads = less(after.reads - before->reads, seen.reads + other->reads);
    profile->has_witness = true;
    profile->bytes_seen = (struct aggstats_bytes){seen.read, seen.written};
    profile->bytes_kernel =
        (struct aggstats_bytes){less(after.read - before->read, other->read + unseen_reads * UNSEEN_BYTES),
                                less(after.written - before->written, other->written)};
    profile->has_elsewhere = is_narrowed;
    if (is_narrowed)
        profile->bytes_elsewhere = (struct aggstats_bytes){other->read, other->written};
}
