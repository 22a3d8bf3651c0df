/* Descriptors of other processes, from links in /proc/N/fd and from fdinfo: neither asks the file that is open. */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DESCRIPTORS_INFO_SIZE 8192
#define DESCRIPTORS_MAX 200000 /* that are looked at in one search */

/* What fdinfo says. */
struct descriptor_info {
    bool has_access;
    int access; /* O_RDONLY, O_WRONLY or O_RDWR */
    bool has_mount;
    uint64_t mount; /* the number of the mount, as in mountinfo */
    bool has_inode; /* since Linux 5.14 */
    uint64_t inode;
    bool has_connection; /* of /dev/fuse, since Linux 6.18 */
    uint64_t connection;
};

/* Parses fdinfo. A pure function. */
void descriptor_info_parse(const char *text, struct descriptor_info *ret_info);

/* The value in the first line "NAME:\tVALUE" of fdinfo, from there to the end of the text; NULL: there is none. A pure
 * function.
 * Owner:   text */
const char *descriptor_info_find(const char *text, const char *name);

/* Reads fdinfo of a descriptor of a process or thread, as text, or parsed. Returns false if it is not there, or hidden
 * from us; then the text is empty */
bool descriptor_read_text(uint64_t process, uint64_t fd, char ret_text[DESCRIPTORS_INFO_SIZE]);
bool descriptor_read_info(uint64_t process, uint64_t fd, struct descriptor_info *ret_info);

/* The path of what is open, or a text such as "pipe:[4711]". Returns false as above */
bool descriptor_read_link(uint64_t thread, uint64_t fd, char ret_link[PATH_MAX]);

struct descriptor {
    uint64_t process;
    uint64_t fd;
    const char *link;
};

/* Is called for a descriptor. Returns false if no more are wanted */
typedef bool (*descriptor_fn)(void *context, const struct descriptor *descriptor);

enum descriptors_seen {
    DESCRIPTORS_ALL,
    DESCRIPTORS_SOME,   /* the function wanted no more, or there were too many */
    DESCRIPTORS_HIDDEN, /* of a process: it is another user's, or has ended */
};

/* Descriptors of a process. */
enum descriptors_seen descriptors_of(uint64_t process, descriptor_fn look, void *context);

/* Descriptors of all processes, in the order of /proc. Those of others' processes are left out without privilege. */
void descriptors_of_all(descriptor_fn look, void *context);

#endif
