/* The table of the operations of layers that belong together. Each name is in one row; an operation without
 * counterparts has a row of its own. tests/unit/test_layers_table.c checks it against the names of the layers that we
 * record. */
#include <string.h>

#include "aggstats/words.h"
#include "base.h"
#include "layers.h"

#define NAME(constant, word) [LAYER_IS_##constant] = word,
static const char *const layer_names[LAYER_IS_OTHER] = {LAYER_ROWS(NAME, NAME)};
_Static_assert(LAYER_COUNT == LAYER_IS_OTHER, "each layer has a word");

enum layer layers_of_name(const char *name) {
    return (enum layer)word_index(layer_names, ARRAY_SIZE(layer_names), name);
}

const char *layers_name(const struct aggstats_profile *profile) {
    const char *name = aggstats_profile_label(profile, "layer");
    return name ? name : "fs";
}

/* A mount that copies data has no such label. */
bool layers_has_kernel_data(const struct aggstats_profile *profile) {
    return aggstats_profile_label(profile, "data") != NULL;
}

#define QUEUED "_QUEUED" /* see layers_is_queued() */
#define READ_AHEAD "reading ahead goes on while nobody waits for it"
#define WRITE_BACK "what is written back is written while nobody waits for it"
#define OTHERS_NAMES "it looks up the names of other calls too"
#define SENT_LATER "RELEASE is sent when nobody waits for it any more"
#define DIR_SENT_LATER "RELEASEDIR is sent when nobody waits for it any more"

/* Any call that takes a path looks up names, and checks permissions. */
#define PATH "LOOKUP GETATTR"

static const struct layers_relation relations[] = {
    {.name = "READ",
     .ops = {"READ READV PREAD PREADV FREAD FGETS FGETC FSCANF SENDFILE", "READ", "READ"},
     .is_cached = true,
     .elsewhere = "GETATTR",
     .why_more = READ_AHEAD},
    {.name = "WRITE",
     .ops = {"WRITE WRITEV PWRITE PWRITEV FWRITE FPUTS FPUTC FPRINTF FFLUSH", "WRITE", "WRITE"},
     .elsewhere = "GETXATTR", /* whether the file has capabilities, which a write takes away */
     .at_disk = "FLUSH",      /* of writes with O_SYNC or O_DSYNC */
     .why_more = WRITE_BACK},
    {.name = "COPY_FILE_RANGE",
     .ops = {"COPY_FILE_RANGE", "COPY_FILE_RANGE COPY_FILE_RANGE_64"},
     .elsewhere = "READ WRITE GETXATTR"}, /* how the kernel does it if the file system cannot */
    {.name = "OPEN", .ops = {"OPEN FOPEN", "OPEN CREATE TMPFILE"}, .elsewhere = PATH " OPENDIR SETATTR GETXATTR"},
    {.name = "CLOSE", .ops = {"CLOSE FCLOSE", "FLUSH RELEASE"}, .elsewhere = "WRITE", .why_more = SENT_LATER},
    {.name = "STAT",
     .ops = {"STAT FSTAT STATX ACCESS", "LOOKUP GETATTR STATX ACCESS"},
     .is_cached = true,
     .why_more = OTHERS_NAMES},
    {.name = "READDIR",
     .ops = {"OPENDIR READDIR GETDENTS CLOSEDIR", "OPENDIR READDIR READDIRPLUS RELEASEDIR"},
     .is_cached = true,
     .elsewhere = PATH,
     .why_more = DIR_SENT_LATER},
    {.name = "READLINK", .ops = {"READLINK", "READLINK"}, .is_cached = true, .elsewhere = PATH},
    {.name = "STATFS", .ops = {"STATFS", "STATFS"}},
    {.name = "FSYNC",
     .ops = {"FSYNC FDATASYNC MSYNC SYNC_FILE_RANGE SYNCFS", "FSYNC FSYNCDIR SYNCFS"},
     .elsewhere = "WRITE",
     .at_disk = "FLUSH WRITE"},
    {.name = "SETATTR", .ops = {"TRUNCATE FTRUNCATE CHMOD CHOWN UTIMENS", "SETATTR"}, .elsewhere = PATH " GETXATTR"},
    {.name = "FALLOCATE", .ops = {"FALLOCATE", "FALLOCATE"}, .elsewhere = "GETXATTR"},
    {.name = "RENAME", .ops = {"RENAME", "RENAME RENAME2"}, .elsewhere = PATH},
    {.name = "UNLINK", .ops = {"UNLINK", "UNLINK"}, .elsewhere = PATH},
    {.name = "MKDIR", .ops = {"MKDIR", "MKDIR"}, .elsewhere = PATH},
    {.name = "RMDIR", .ops = {"RMDIR", "RMDIR"}, .elsewhere = PATH},
    {.name = "LINK", .ops = {"LINK", "LINK"}, .elsewhere = PATH},
    {.name = "SYMLINK", .ops = {"SYMLINK", "SYMLINK"}, .elsewhere = PATH},
    {.name = "MKNOD", .ops = {"MKNOD", "MKNOD"}, .elsewhere = PATH},
    {.name = "GETXATTR", .ops = {"GETXATTR", "GETXATTR"}, .elsewhere = PATH},
    {.name = "SETXATTR", .ops = {"SETXATTR", "SETXATTR"}, .elsewhere = PATH},
    {.name = "LISTXATTR", .ops = {"LISTXATTR", "LISTXATTR"}, .elsewhere = PATH},
    {.name = "REMOVEXATTR", .ops = {"REMOVEXATTR", "REMOVEXATTR"}, .elsewhere = PATH},
    {.name = "LOCK", .ops = {"FLOCK LOCK", "GETLK SETLK SETLKW"}},
    {.name = "LSEEK", .ops = {"LSEEK FSEEK", "LSEEK"}, .elsewhere = "GETATTR"}, /* finds the end of the file */
    /* operations that either read or write, or do so later */
    {.name = "SPLICE", .ops = {"SPLICE"}},
    {.name = "MMAP", .ops = {"MMAP"}},
    {.name = "FADVISE", .ops = {"FADVISE"}},
    {.name = "IOCTL", .ops = {"IOCTL", "IOCTL"}},
    {.name = "CHDIR", .ops = {"CHDIR"}, .elsewhere = PATH},
    /* requests that no call of the layer user makes */
    {.name = "POLL", .ops = {NULL, "POLL"}},
    {.name = "BMAP", .ops = {NULL, "BMAP"}},
    {.name = "INIT", .ops = {NULL, "INIT"}},
    {.name = "DESTROY", .ops = {NULL, "DESTROY"}},
    /* requests to disks that no single operation above makes: who causes a flush, by fsync(2), O_SYNC or a journal, is
     * not known */
    {.name = "FLUSH", .ops = {NULL, NULL, "FLUSH"}},
    {.name = "DISCARD", .ops = {NULL, NULL, "DISCARD"}},
    {.name = "OTHER", .ops = {NULL, NULL, "OTHER"}},
};

static bool has_word(const char *words, const char *word, size_t length) {
    for (; words && *words; words += strspn(words, " ")) {
        size_t this_length = strcspn(words, " ");
        if (this_length == length && strncmp(words, word, length) == 0)
            return true;
        words += this_length;
    }
    return false;
}

static enum layers_place place_of(enum layer layer) {
    return layer == LAYER_IS_USER ? LAYERS_USER : layer == LAYER_IS_BLOCK ? LAYERS_BLOCK : LAYERS_REQUEST;
}

bool layers_has_place(const struct layers_relation *relation, enum layer layer) {
    return layer != LAYER_IS_OTHER && relation->ops[place_of(layer)];
}

const struct layers_relation *layers_relate(enum layer layer, const char *op) {
    size_t length = layers_is_queued(layer, op) ? strlen(op) - strlen(QUEUED) : strlen(op);
    for (size_t i = 0; layer != LAYER_IS_OTHER && i < ARRAY_SIZE(relations); i++)
        if (has_word(relations[i].ops[place_of(layer)], op, length))
            return &relations[i];
    return NULL;
}

bool layers_is_queued(enum layer layer, const char *op) {
    size_t length = strlen(op);
    return layer == LAYER_IS_BLOCK && length > strlen(QUEUED) && strcmp(op + length - strlen(QUEUED), QUEUED) == 0;
}

/* ---- Words -------------------------------------------------------------------------------------- */

static const char *words_of_lowest(enum layer layer) {
    static const char *const words[] = {
        [LAYER_IS_USER] = "at the layer user, and no other has them",
        [LAYER_IS_FUSE] = "in FUSE and below it",
        [LAYER_IS_QUEUE] = "in the queue for a worker",
        [LAYER_IS_DAEMON] = "in the daemon and below it",
        [LAYER_IS_FS] = "in the lower file system and below it",
        [LAYER_IS_BLOCK] = "at the disk",
        [LAYER_IS_OTHER] = "there",
    };
    return words[layer];
}

const char *layers_words(enum layer layer, enum layer below) {
    if (below == LAYER_IS_OTHER)
        return words_of_lowest(layer);
    switch (layer) {
    case LAYER_IS_USER:
        if (below == LAYER_IS_BLOCK)
            return "in the kernel (page cache, file system)";
        if (below == LAYER_IS_FUSE)
            return "in the kernel, above FUSE (page cache, locks, waking the program)";
        return below == LAYER_IS_FS ? "in the kernel and FUSE (page cache, queues, waking up, what the mount adds)"
                                    : "in the kernel and FUSE (page cache, queues, waking up)";
    case LAYER_IS_FUSE:
        if (below == LAYER_IS_QUEUE)
            return "in FUSE (waking the daemon, copying)";
        if (below == LAYER_IS_BLOCK)
            return "in FUSE and the file system";
        return below == LAYER_IS_FS ? "in FUSE (queues, waking the daemon, copying: what the mount adds)"
                                    : "in FUSE (queues, waking the daemon, copying)";
    case LAYER_IS_DAEMON:
        return below == LAYER_IS_BLOCK ? "in the daemon and the file system below it" : "in the daemon";
    default:
        return "in the lower file system (its cache, locks, journal)";
    }
}
