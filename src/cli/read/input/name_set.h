/* Names of profiles, from arguments: "@FILE" stands for the names in a file, one a line, unless it is the name of a
 * result that is kept (kept.h). */
#ifndef NAME_SET_H
#define NAME_SET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct name_set {
    char **names; /* [count], in order; empty lines of files are ignored */
    size_t count;
};

/* "@-" is standard input; "./@x" is a file of the name @x.
 * Owner:   the caller finishes *ret_set, also after an error
 * Errors:  a file cannot be read, or -ENOMEM: reported to the user */
int name_set_of(char *const *arguments, size_t count, struct name_set *ret_set);

/* The profiles in a directory, sorted by name: those that end with .osprof and begin with prefix.
 * Owner:   the caller finishes *ret_set, also after an error
 * Errors:  the failed call's, not reported */
int name_set_in(const char *directory, const char *prefix, struct name_set *ret_set);

/* The index of the words behind "--"; argc: there are none. */
int name_set_second(int argc, char **argv);

/* True if a name stands for the files of a directory. */
bool name_is_directory(const char *name);

void name_set_finish(struct name_set *set);

/* ---- A list, one name at a time ----------------------------------------------------------------- */

struct name_list {
    FILE *stream;
    const char *name; /* of the list, for messages */
    size_t line_number;
};

/* name: "-" is standard input. Errors: reported to the user */
int name_list_open(struct name_list *ret_list, const char *name);

/* 1: ret_name is the next one; 0: end of the list. Empty lines are ignored.
 * Errors:  reported to the user */
int name_list_next(struct name_list *list, char ret_name[PATH_MAX]);

void name_list_close(struct name_list *list);

/* ---- Files --------------------------------------------------------------------------------------- */

/* Recognises a file that is given again, under any name. */

struct file_id {
    dev_t device;
    ino_t inode;
};

/* Zeroed: no files. */
struct file_set {
    struct file_id *files; /* [slot_count], a hash table with open addressing; inode 0: free */
    size_t slot_count;     /* a power of two, or 0 */
    size_t count;
};

/* inode: 0: it is no file, and always new. Returns 1 if it is new, 0 if it has been added before.
 * Errors:  -ENOMEM */
int file_set_add(struct file_set *set, dev_t device, ino_t inode);

void file_set_finish(struct file_set *set);

#endif
