/* What the system call of a thread is on: its descriptor, and the mount of that. */
#ifndef PLACE_H
#define PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "descriptors.h"

#define CALL_ARGUMENTS 3
#define PLACE_TYPE_SIZE 32
#define PLACE_SOURCE_SIZE 512

struct thread_call {
    bool is_known;
    long number;
    uint64_t arguments[CALL_ARGUMENTS];
};

/* Parses /proc/N/syscall. Returns false outside of system calls. A pure function */
bool call_parse(const char *text, struct thread_call *ret_call);

/* Reads the call of a thread. is_known is false if it is in none, or hidden from us */
void call_read(uint64_t thread, struct thread_call *ret_call);

/* The descriptor of the file that the call is on. Returns false if it has none, or has a path: that may lead anywhere */
bool call_descriptor(const struct thread_call *call, uint64_t *ret_fd);

/* The descriptor of the directory in which the name of the call begins. Returns false if it has none */
bool call_directory(const struct thread_call *call, uint64_t *ret_fd);

/* Zeroed: unknown. */
struct place {
    struct descriptor_info file; /* what the call is on */
    char path[PATH_MAX];         /* of the file, or "pipe:[4711]"; "": unknown */
    bool is_near;                /* the mount is that of something else in the call: names may lead to another one */
    bool is_directory;           /* namely of the directory in which the name begins */
    bool has_mount;              /* then the members below are known */
    dev_t device;                /* of the file system */
    char mount[PATH_MAX];
    char type[PLACE_TYPE_SIZE];
    char source[PLACE_SOURCE_SIZE];
};

/* Reads the place of a call of a thread. */
void place_read(uint64_t thread, const struct thread_call *call, struct place *ret_place);

/* Finds a mount of a file system in the thread's mount table, or if that is hidden in our own. Returns false if there is
 * none */
bool place_find_mount(uint64_t thread, dev_t device, struct place *place);

/* Finds the mount that holds a path, in the mount table of this process. */
bool place_find_path(const char *path, struct place *ret_place);

/* The name of the server in the source of a mount: "server:/export", "//server/share". Returns false if there is none.
 * A pure function */
bool place_server(const struct place *place, char *ret_name, size_t size_bytes);

#endif
