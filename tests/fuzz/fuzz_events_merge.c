/* Merging any events file with itself: reading ends, and the result is whole and has all calls twice. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "events_merging.h"
#include "fuzz.h"

struct made {
    unsigned char *bytes;
    size_t size_bytes;
};

static int keep(void *context, const void *bytes, size_t size_bytes) {
    struct made *made = context;
    unsigned char *grown = realloc(made->bytes, made->size_bytes + size_bytes);
    if (!grown)
        return -ENOMEM;
    memcpy(grown + made->size_bytes, bytes, size_bytes);
    made->bytes = grown;
    made->size_bytes += size_bytes;
    return 0;
}

static uint64_t count_calls(const struct events_file *file) {
    struct events_cursor *cursor;
    struct event event;
    uint64_t count = 0;
    if (events_cursor_open(file, &cursor) < 0)
        return 0;
    while (events_next(cursor, &event))
        count++;
    events_cursor_close(cursor);
    return count;
}

static void try_merge(const struct events_file *file) {
    const struct events_file *const twice[] = {file, file};
    char complaint[EVENTS_COMPLAINT_SIZE];
    struct made made = {0};
    struct events_file *merged;
    size_t place;
    int err = events_merge(twice, 2, keep, &made, &place);
    FUZZ_PROMISE(err == 0 || err == -ENODATA || err == -E2BIG || err == -ENOMEM);
    if (err == 0) {
        FUZZ_PROMISE(events_open(made.bytes, made.size_bytes, &merged, complaint) == 0);
        FUZZ_PROMISE(merged->losses.cut_bytes == 0 && merged->losses.skipped == 0);
        FUZZ_PROMISE(count_calls(merged) == 2 * count_calls(file));
        events_close(merged);
    }
    free(made.bytes);
}

/* Gives chunks the checksums of what is in them: else whatever a fuzzer changes would only cut the file off. */
static void mend(unsigned char *bytes, size_t size_bytes) {
    size_t at = sizeof(struct events_start);
    struct events_chunk chunk;
    while (at + sizeof(chunk) <= size_bytes) {
        memcpy(&chunk, bytes + at, sizeof(chunk));
        if (chunk.size_bytes < sizeof(chunk) || chunk.size_bytes % 8 != 0 || chunk.size_bytes > size_bytes - at)
            return;
        chunk.magic = EVENTS_CHUNK_MAGIC;
        chunk.checksum = 0;
        memcpy(bytes + at, &chunk, sizeof(chunk));
        chunk.checksum = events_checksum(events_sum_add((struct events_sum){0}, bytes + at, chunk.size_bytes));
        memcpy(bytes + at, &chunk, sizeof(chunk));
        at += chunk.size_bytes;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    char complaint[EVENTS_COMPLAINT_SIZE];
    struct events_file *file;
    /* records lie at multiples of 8 bytes */
    uint64_t *copy = malloc(size_bytes + 1);
    FUZZ_PROMISE(copy);
    memcpy(copy, data, size_bytes);
    mend((unsigned char *)copy, size_bytes);
    if (events_open(copy, size_bytes, &file, complaint) == 0) {
        try_merge(file);
        events_close(file);
    }
    free(copy);
    return 0;
}
