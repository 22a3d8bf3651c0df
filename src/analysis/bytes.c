#include "bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"

/* Operations of all layers, and names of system calls. Extended attributes and lists of names are no bytes of files. */
static const struct {
    const char *op;
    enum bytes_way way;
    unsigned kernel_times;  /* how often the kernel has a byte in its sums */
    bool is_other_call_too; /* may also make another system call than one that moves bytes, or none */
} rows[] = {
    {"READ", BYTES_READ, 1},
    {"READV", BYTES_READ, 1},
    {"PREAD", BYTES_READ, 1},
    {"PREAD64", BYTES_READ, 1},
    {"PREADV", BYTES_READ, 1},
    {"PREADV2", BYTES_READ, 1},
    {"FREAD", BYTES_READ, 1},
    {"FGETS", BYTES_READ, 1},
    {"FGETC", BYTES_READ, 1},
    {"FSCANF", BYTES_READ, 1},
    {"FSEEK", BYTES_READ, 1, true},
    {"WRITE", BYTES_WRITTEN, 1},
    {"WRITEV", BYTES_WRITTEN, 1},
    {"PWRITE", BYTES_WRITTEN, 1},
    {"PWRITE64", BYTES_WRITTEN, 1},
    {"PWRITEV", BYTES_WRITTEN, 1},
    {"PWRITEV2", BYTES_WRITTEN, 1},
    {"FWRITE", BYTES_WRITTEN, 1},
    {"FPUTS", BYTES_WRITTEN, 1},
    {"FPUTC", BYTES_WRITTEN, 1},
    {"FPRINTF", BYTES_WRITTEN, 1},
    {"FFLUSH", BYTES_WRITTEN, 1, true},
    {"FCLOSE", BYTES_WRITTEN, 1, true},
    {"COPY_FILE_RANGE", BYTES_COPIED, 2},
    {"COPY_FILE_RANGE_64", BYTES_COPIED, 2},
    {"SENDFILE", BYTES_COPIED, 2},
    {"SENDFILE64", BYTES_COPIED, 2},
    {"SPLICE", BYTES_COPIED, 0},
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

struct bytes_seen bytes_seen(const struct aggstats_profile *profile) {
    struct bytes_seen seen = {0};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct aggstats_op_profile *op = aggstats_profile_op(profile, rows[i].op);
        seen.bytes += op ? op->moved_bytes * rows[i].kernel_times : 0;
        seen.calls += op && !rows[i].is_other_call_too ? op->calls * rows[i].kernel_times : 0;
    }
    return seen;
}

static bool read_label(const struct aggstats_profile *profile, const char *key, double *ret_bytes) {
    const char *text = aggstats_profile_label(profile, key);
    char *end = NULL;
    if (text)
        *ret_bytes = (double)strtoull(text, &end, 10);
    return text && end > text;
}

static void find_elsewhere(const struct aggstats_profile *profile, double seen, struct bytes_witness *witness) {
    double elsewhere;
    if (!read_label(profile, "bytes_elsewhere", &elsewhere) || elsewhere <= 0)
        return;
    witness->elsewhere = elsewhere;
    witness->inside_share = seen / (seen + elsewhere);
    witness->is_elsewhere = witness->inside_share < BYTES_INSIDE_MIN && elsewhere >= BYTES_GAP_MIN;
}

struct bytes_witness bytes_witness(const struct aggstats_profile *profile) {
    struct bytes_witness witness = {.share = 1, .inside_share = 1};
    double seen;
    double kernel;
    witness.is_known = read_label(profile, "bytes_seen", &seen) && read_label(profile, "bytes_kernel", &kernel);
    if (witness.is_known)
        find_elsewhere(profile, seen, &witness);
    if (!witness.is_known || kernel <= seen)
        return witness;
    witness.share = seen / kernel;
    witness.is_at_least = witness.share < BYTES_SHARE_MIN && kernel - seen >= BYTES_GAP_MIN;
    return witness;
}
