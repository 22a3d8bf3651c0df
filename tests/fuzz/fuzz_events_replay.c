/* Merging any events file with itself, and replaying it in a directory of its own: reading ends, all calls are there,
 * and nothing outside of that directory changes. */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>

#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "events_merging.h"
#include "fuzz.h"
#include "replay.h"

#define MAX_BYTES (UINT64_C(1) << 20)

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

/* ---- Replaying ---- */

static int remove_one(const char *path, const struct stat *attr, int type, struct FTW *ftw) {
    (void)attr;
    (void)type;
    (void)ftw;
    return remove(path);
}

static unsigned count_names(const char *path) {
    DIR *directory = opendir(path);
    unsigned count = 0;
    FUZZ_PROMISE(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void run_in(struct replay *replay, const char *path) {
    static const volatile sig_atomic_t stop;
    const struct replay_options options = {.is_fast = true, .max_bytes = MAX_BYTES};
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    FUZZ_PROMISE(fd >= 0);
    replay_run(replay, fd, &options, &stop);
    close(fd);
}

static void try_profiles(const struct replay *replay) {
    struct aggstats_profile profile = {0};
    FUZZ_PROMISE(replay_recorded_profile(replay, &profile) == 0);
    aggstats_profile_finish(&profile);
    FUZZ_PROMISE(replay_replayed_profile(replay, &profile) == 0);
    aggstats_profile_finish(&profile);
}

static void try_replay(const struct events_file *file) {
    char outer[] = "/tmp/osprof-fuzz-XXXXXX";
    char inner[sizeof(outer) + 8];
    struct replay *replay;
    if (replay_create(file, &replay) < 0)
        return;
    FUZZ_PROMISE(mkdtemp(outer));
    snprintf(inner, sizeof(inner), "%s/dir", outer);
    FUZZ_PROMISE(mkdir(inner, 0755) == 0);
    run_in(replay, inner);
    FUZZ_PROMISE(count_names(outer) == 3); /* ".", ".." and the directory */
    try_profiles(replay);
    replay_destroy(replay);
    nftw(outer, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
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
        try_replay(file);
        events_close(file);
    }
    free(copy);
    return 0;
}
