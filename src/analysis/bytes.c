/* One table has the operations that move bytes, and whether the kernel's own sums contain them. The sums of a
 * profile, and their comparison with the kernel's, follow from it. */
#include "bytes.h"

#include <string.h>

#include "base.h"

/* Operations of all layers. Extended attributes and lists of names are no bytes of files. */
static const struct {
    const char *op;
    enum bytes_way way;
    bool is_in_sums;        /* the kernel's */
    bool is_other_call_too; /* may also make another system call than one that moves bytes, or none */
} rows[] = {
    {"READ", BYTES_READ, true},
    {"READV", BYTES_READ, true},
    {"PREAD", BYTES_READ, true},
    {"PREADV", BYTES_READ, true},
    {"FREAD", BYTES_READ, true},
    {"FGETS", BYTES_READ, true},
    {"FGETC", BYTES_READ, true},
    {"FSCANF", BYTES_READ, true},
    {"FSEEK", BYTES_READ, true, true},
    {"WRITE", BYTES_WRITTEN, true},
    {"WRITEV", BYTES_WRITTEN, true},
    {"PWRITE", BYTES_WRITTEN, true},
    {"PWRITEV", BYTES_WRITTEN, true},
    {"FWRITE", BYTES_WRITTEN, true},
    {"FPUTS", BYTES_WRITTEN, true},
    {"FPUTC", BYTES_WRITTEN, true},
    {"FPRINTF", BYTES_WRITTEN, true},
    {"FFLUSH", BYTES_WRITTEN, true, true},
    {"FCLOSE", BYTES_WRITTEN, true, true},
    {"COPY_FILE_RANGE", BYTES_COPIED, true},
    {"COPY_FILE_RANGE_64", BYTES_COPIED, true},
    {"SENDFILE", BYTES_COPIED, true},
    {"SPLICE", BYTES_COPIED, false},
};

struct bytes_moved bytes_moved(const struct aggstats_profile *profile, enum bytes_way way) {
    struct bytes_moved moved = {0};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct aggstats_op_profile *op = rows[i].way == way ? aggstats_profile_op(profile, rows[i].op) : NULL;
        if (!op || op->moved_bytes == 0)
            continue;
        moved.bytes += (double)op->moved_bytes;
        moved.total_cycles += (double)op->total_cycles;
        if (!moved.op || op->moved_bytes > moved.op->moved_bytes)
            moved.op = op;
    }
    return moved;
}

bool bytes_has_calls(const struct aggstats_profile *profile, enum bytes_way way) {
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct aggstats_op_profile *op = rows[i].way == way ? aggstats_profile_op(profile, rows[i].op) : NULL;
        if (op && op->calls > 0)
            return true;
    }
    return false;
}

struct bytes_seen bytes_seen(const struct aggstats_profile *profile) {
    struct bytes_seen seen = {0};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct aggstats_op_profile *op = aggstats_profile_op(profile, rows[i].op);
        if (!op || !rows[i].is_in_sums)
            continue;
        seen.read += rows[i].way != BYTES_WRITTEN ? op->moved_bytes : 0;
        seen.written += rows[i].way != BYTES_READ ? op->moved_bytes : 0;
        seen.reads += rows[i].way != BYTES_WRITTEN && !rows[i].is_other_call_too ? op->calls : 0;
    }
    return seen;
}

static double share_of(double seen, double kernel) {
    return kernel > seen ? seen / kernel : 1;
}

static bool is_missed(double seen, double kernel) {
    return share_of(seen, kernel) < BYTES_SHARE_MIN && kernel - seen >= BYTES_GAP_MIN;
}

struct bytes_witness bytes_witness(const struct aggstats_profile *profile) {
    struct bytes_witness witness = {.is_known = profile->has_witness, .share = {1, 1}, .inside_share = 1};
    if (!witness.is_known)
        return witness;
    const struct bytes_pair seen = {(double)profile->bytes_seen.read, (double)profile->bytes_seen.written};
    const struct bytes_pair kernel = {(double)profile->bytes_kernel.read, (double)profile->bytes_kernel.written};
    const double elsewhere = (double)profile->bytes_elsewhere.read + (double)profile->bytes_elsewhere.written;
    if (profile->has_elsewhere && elsewhere > 0) {
        witness.elsewhere = elsewhere;
        witness.inside_share = (seen.read + seen.written) / (seen.read + seen.written + elsewhere);
        witness.is_elsewhere = witness.inside_share < BYTES_INSIDE_MIN && elsewhere >= BYTES_GAP_MIN;
    }
    witness.share = (struct bytes_pair){share_of(seen.read, kernel.read), share_of(seen.written, kernel.written)};
    witness.is_read_missed = is_missed(seen.read, kernel.read);
    witness.is_written_missed = is_missed(seen.written, kernel.written);
    witness.is_at_least = witness.is_read_missed || witness.is_written_missed;
    return witness;
}
