/* Calling any op of FS_OPS by its number. A struct op_arguments holds one value for every parameter name of the
 * table, no two alike, so that the called function can tell whether each arrived in its place. */
#ifndef OP_CALLS_H
#define OP_CALLS_H

#include "fs_ops.h"

#define OP_BUFFER_BYTES 128

/* What ops may write to. */
struct op_results {
    struct fs_entry entry;
    unsigned char attr[sizeof(struct stat) + 256]; /* a struct stat, or a struct statx */
    struct statvfs statfs;
    struct fs_lock lock;
    fs_file file;
    uint64_t block;
    size_t read_bytes;
    size_t written_bytes;
    size_t copied_bytes;
    size_t entry_count;
    size_t size_bytes;
    off_t offset;
    int result;
    unsigned events;
    struct fs_read_into into;
    unsigned char data[OP_BUFFER_BYTES];
    unsigned char value[OP_BUFFER_BYTES];
    char names[OP_BUFFER_BYTES];
    char target[OP_BUFFER_BYTES];
};

/* The values of those parameters that tests choose themselves, and room for results. The others are constants. */
struct op_arguments {
    struct fs_caller caller;
    fs_ino ino;
    fs_file file;
    char name[OP_BUFFER_BYTES];
    char new_name[OP_BUFFER_BYTES];
    struct stat attr;
    struct fs_ioctl ioctl;
    struct op_results results;
    struct op_results results_before;
};

void op_arguments_init(struct op_arguments *arguments);

/* Calls the op of that number and gives its result. Threads: any, each with arguments of its own */
int op_call(struct fs_layer *layer, enum fs_op op, struct op_arguments *arguments);

/* True if no call has written to the results since op_arguments_init(). */
bool op_results_untouched(const struct op_arguments *arguments);

/* ---- Arguments as numbers, for comparisons ---- */

#define OP_WORDS_MAX 10

/* The arguments that op_call() passes, as numbers. Returns how many. */
size_t op_words(enum fs_op op, struct op_arguments *arguments, uint64_t ret_words[OP_WORDS_MAX]);

/* The arguments of a row's op, each as an uint64_t, in an initialiser's list. */
#define OP_WORD(type, name) , (uint64_t)(uintptr_t)(name)
#define OP_WORDS(params) (uint64_t)(uintptr_t) caller, ino FS_EACH(PARAMS, params, OP_WORD, OP_WORD)

#endif
