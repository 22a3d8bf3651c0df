#include "bytes.h"

#include <stdio.h>
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

bool bytes_parse(const char *text, struct bytes_pair *ret_bytes) {
    unsigned long long read;
    unsigned long long written;
    int end = 0;
    if (sscanf(text, "%llu read, %llu written%n", &read, &written, &end) != 2 || text[end])
        return false;
    *ret_bytes = (struct bytes_pair){(double)read, (double)written};
    return true;
}

static bool read_label(const struct aggstats_profile *profile, const char *key, struct bytes_pair *ret_bytes) {
    const char *text = aggstats_profile_label(profile, key);
    return text && bytes_parse(text, ret_bytes);
}

static void find_elsewhere(const struct aggstats_profile *profile, double seen, struct bytes_witness *witness) {
    struct bytes_pair elsewhere;
    if (!read_label(profile, "bytes_elsewhere", &elsewhere) || elsewhere.read + elsewhere.written <= 0)
        return;
    witness->elsewhere = elsewhere.read + elsewhere.written;
    witness->inside_share = seen / (seen + witness->elsewhere);
    witness->is_elsewhere = witness->inside_share < BYTES_INSIDE_MIN && witness->elsewhere >= BYTES_GAP_MIN;
}

static double share_of(double seen, double kernel) {
    return kernel > seen ? seen / kernel : 1;
}

static bool is_missed(double seen, double kernel) {
    return share_of(seen, kernel) < BYTES_SHARE_MIN && kernel - seen >= BYTES_GAP_MIN;
}

struct bytes_witness bytes_witness(const struct aggstats_profile *profile) {
    struct bytes_witness witness = {.share = {1, 1}, .inside_share = 1};
    struct bytes_pair seen;
    struct bytes_pair kernel;
    witness.is_known = read_label(profile, "bytes_seen", &seen) && read_label(profile, "bytes_kernel", &kernel);
    if (!witness.is_known)
        return witness;
    find_elsewhere(profile, seen.read + seen.written, &witness);
    witness.share = (struct bytes_pair){share_of(seen.read, kernel.read), share_of(seen.written, kernel.written)};
    witness.is_read_missed = is_missed(seen.read, kernel.read);
    witness.is_written_missed = is_missed(seen.written, kernel.written);
    witness.is_at_least = witness.is_read_missed || witness.is_written_missed;
    return witness;
}
