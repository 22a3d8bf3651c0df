/* A container, by the path of its control group. */
#ifndef CONTAINER_H
#define CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CONTAINER_ID_DIGITS 64
#define CONTAINER_ID_SHOWN 12 /* digits, as the runtimes show them */
#define CONTAINER_NAME_SIZE 200

enum container_runtime {
    CONTAINER_DOCKER,
    CONTAINER_PODMAN,
    CONTAINER_CRIO,
    CONTAINER_CONTAINERD,
    CONTAINER_KUBERNETES, /* one of its runtimes; the control group does not tell which */
    CONTAINER_RUNTIMES,
};

struct container {
    enum container_runtime runtime;
    char id[CONTAINER_ID_DIGITS + 1];
    uid_t user;                     /* whose service manager has made the group; 0: the system's */
    bool is_inner;                  /* the group is one inside that of the container */
    size_t above_bytes;             /* of the path: of the group in which the container's is */
    char name[CONTAINER_NAME_SIZE]; /* letters, digits, "_", "-", "." and "/" only; "": not known */
};

/* The container of a control group, without its name. Of containers in containers the outermost one.
 * path:    "/system.slice/docker-<64 hexadecimal digits>.scope"; "..." in front of it: its beginning is missing
 * Returns false if it belongs to none */
bool container_parse(const char *path, struct container *ret_container);

/* "web1 (docker 3f2a9c1b2d4e)"; "docker 3f2a9c1b2d4e" without a name. */
void container_describe(const struct container *container, char *ret_text, size_t size_bytes);

/* True if a user may mean the container by that text: its name, or its id, of which 12 digits are enough. */
bool container_is_called(const struct container *container, const char *text);

#endif
