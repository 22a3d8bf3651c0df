/* From the table's parameter names to values. */
#include "op_calls.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define UNUSED __attribute__((unused))
#define PATTERN 0xa5

static bool fill_nothing(void *context, const struct fs_dirent *dirent) {
    (void)context, (void)dirent;
    return false;
}

/* A variable for every parameter name of FS_OPS, so that a row's arguments can stand in a call as they are. A
 * name that is missing here does not compile. Result pointers are void: ops of one name differ in their types. */
#define DECLARE_ARGUMENTS(from)                                                                                        \
    struct op_results *results UNUSED = &(from)->results;                                                              \
    const struct fs_caller *caller UNUSED = &(from)->caller;                                                           \
    const fs_ino ino UNUSED = (from)->ino;                                                                             \
    const fs_ino new_parent UNUSED = 1009;                                                                             \
    const fs_ino out_ino UNUSED = 1013;                                                                                \
    const fs_file file UNUSED = (from)->file;                                                                          \
    const fs_file out_file UNUSED = 2003;                                                                              \
    const char *name UNUSED = (from)->name;                                                                            \
    const char *new_name UNUSED = (from)->new_name;                                                                    \
    const struct stat *attr UNUSED = &(from)->attr;                                                                    \
    const struct fs_ioctl *call UNUSED = &(from)->ioctl;                                                               \
    const off_t offset UNUSED = 4001;                                                                                  \
    const off_t out_offset UNUSED = 4003;                                                                              \
    const off_t length UNUSED = 4007;                                                                                  \
    const size_t size_bytes UNUSED = 101;                                                                              \
    const size_t block_size_bytes UNUSED = 512;                                                                        \
    const uint64_t lock_owner UNUSED = 5003;                                                                           \
    const mode_t mode UNUSED = S_IFREG | 0640;                                                                         \
    const dev_t device UNUSED = 6007;                                                                                  \
    const int flags UNUSED = O_NONBLOCK;                                                                               \
    const int which UNUSED = FS_SET_SIZE;                                                                              \
    const int mask UNUSED = 4;                                                                                         \
    const int whence UNUSED = SEEK_DATA;                                                                               \
    const bool data_only UNUSED = true;                                                                                \
    const fs_fill_fn fill UNUSED = fill_nothing;                                                                       \
    void *context UNUSED = (from);                                                                                     \
    struct fs_lock *lock UNUSED = &results->lock;                                                                      \
    struct fs_read_into *into UNUSED = &results->into;                                                                 \
    void *data UNUSED = results->data;                                                                                 \
    void *value UNUSED = results->value;                                                                               \
    void *names UNUSED = results->names;                                                                               \
    void *target UNUSED = results->target;                                                                             \
    void *block UNUSED = &results->block;                                                                              \
    void *ret_entry UNUSED = &results->entry;                                                                          \
    void *ret_attr UNUSED = results->attr;                                                                             \
    void *ret_statfs UNUSED = &results->statfs;                                                                        \
    void *ret_file UNUSED = &results->file;                                                                            \
    void *ret_offset UNUSED = &results->offset;                                                                        \
    void *ret_result UNUSED = &results->result;                                                                        \
    void *ret_events UNUSED = &results->events;                                                                        \
    void *ret_read_bytes UNUSED = &results->read_bytes;                                                                \
    void *ret_written_bytes UNUSED = &results->written_bytes;                                                          \
    void *ret_copied_bytes UNUSED = &results->copied_bytes;                                                            \
    void *ret_entry_count UNUSED = &results->entry_count;                                                              \
    void *ret_size_bytes UNUSED = &results->size_bytes

#define CALLER(NAME, member, params, ...)                                                                              \
    static int call_##member(struct fs_layer *layer, struct op_arguments *arguments) {                                 \
        DECLARE_ARGUMENTS(arguments);                                                                                  \
        return layer->ops->member(layer, FS_ARGUMENTS(params));                                                        \
    }
FS_OPS(CALLER)

#define WORDS_OF(NAME, member, params, ...)                                                                            \
    static size_t words_##member(struct op_arguments *arguments, uint64_t *ret_words) {                                \
        DECLARE_ARGUMENTS(arguments);                                                                                  \
        const uint64_t words[] = {OP_WORDS(params)};                                                                   \
        memcpy(ret_words, words, sizeof(words));                                                                       \
        return sizeof(words) / sizeof(words[0]);                                                                       \
    }
FS_OPS(WORDS_OF)

static int (*const callers[FS_OP_COUNT])(struct fs_layer *, struct op_arguments *) = {
#define CALLER_ROW(NAME, member, params, ...) [FS_OP_##NAME] = call_##member,
    FS_OPS(CALLER_ROW)};

static size_t (*const word_makers[FS_OP_COUNT])(struct op_arguments *, uint64_t *) = {
#define WORDS_ROW(NAME, member, params, ...) [FS_OP_##NAME] = words_##member,
    FS_OPS(WORDS_ROW)};

void op_arguments_init(struct op_arguments *arguments) {
    memset(arguments, 0, sizeof(*arguments));
    arguments->caller = (struct fs_caller){.uid = 61, .gid = 67, .pid = 71, .umask = 027};
    arguments->ino = 1019;
    arguments->file = 2011;
    arguments->attr.st_size = 73;
    arguments->ioctl.command = 79;
    snprintf(arguments->name, sizeof(arguments->name), "a name");
    snprintf(arguments->new_name, sizeof(arguments->new_name), "a new name");
    memset(&arguments->results, PATTERN, sizeof(arguments->results));
    arguments->results.lock.is_flock = true; /* what is asked for; the pattern is no truth */
    arguments->results.target[OP_BUFFER_BYTES - 1] = '\0';
    memcpy(&arguments->results_before, &arguments->results, sizeof(arguments->results));
}

int op_call(struct fs_layer *layer, enum fs_op op, struct op_arguments *arguments) {
    return callers[op](layer, arguments);
}

bool op_results_untouched(const struct op_arguments *arguments) {
    return memcmp((const void *)&arguments->results, (const void *)&arguments->results_before,
                  sizeof(arguments->results)) == 0;
}

size_t op_words(enum fs_op op, struct op_arguments *arguments, uint64_t ret_words[OP_WORDS_MAX]) {
    return word_makers[op](arguments, ret_words);
}
