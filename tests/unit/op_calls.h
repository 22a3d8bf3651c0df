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

/* ---- Arguments as numbers, so that they can be compared ---- */

#define OP_WORDS_MAX 10

/* The arguments that op_call() passes, as numbers. Returns how many. */
size_t op_words(enum fs_op op, struct op_arguments *arguments, uint64_t ret_words[OP_WORDS_MAX]);

/* OP_WORDS(caller, ino, name): each as an uint64_t, in an initialiser's list. */
#define OP_WORD(argument) (uint64_t)(uintptr_t)(argument)
#define OP_WORDS_1(a) OP_WORD(a)
#define OP_WORDS_2(a, ...) OP_WORD(a), OP_WORDS_1(__VA_ARGS__)
#define OP_WORDS_3(a, ...) OP_WORD(a), OP_WORDS_2(__VA_ARGS__)
#define OP_WORDS_4(a, ...) OP_WORD(a), OP_WORDS_3(__VA_ARGS__)
#define OP_WORDS_5(a, ...) OP_WORD(a), OP_WORDS_4(__VA_ARGS__)
#define OP_WORDS_6(a, ...) OP_WORD(a), OP_WORDS_5(__VA_ARGS__)
#define OP_WORDS_7(a, ...) OP_WORD(a), OP_WORDS_6(__VA_ARGS__)
#define OP_WORDS_8(a, ...) OP_WORD(a), OP_WORDS_7(__VA_ARGS__)
#define OP_WORDS_9(a, ...) OP_WORD(a), OP_WORDS_8(__VA_ARGS__)
#define OP_WORDS_10(a, ...) OP_WORD(a), OP_WORDS_9(__VA_ARGS__)
#define OP_WORDS_CHOOSE(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, chosen, ...) chosen
#define OP_WORDS(...)                                                                                                  \
    OP_WORDS_CHOOSE(__VA_ARGS__, OP_WORDS_10, OP_WORDS_9, OP_WORDS_8, OP_WORDS_7, OP_WORDS_6, OP_WORDS_5, OP_WORDS_4,  \
                    OP_WORDS_3, OP_WORDS_2, OP_WORDS_1, )                                                              \
    (__VA_ARGS__)

#endif
