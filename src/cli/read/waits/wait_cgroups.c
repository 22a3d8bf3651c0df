/* The tree is walked once; a group that comes later is found by its file handle. */
#include "wait_cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "containers.h"
#include "number_map.h"
#include "path.h"

#define HANDLE_OF_KERNFS 0xfe /* FILEID_KERNFS of the kernel */

struct wait_cgroups {
    const struct attach_cgroup *only;
    char *root; /* NULL: there is none */
    struct container_names *containers;
    char **paths; /* [count] */
    size_t count;
    struct number_map places;  /* of numbers in paths, from 1 */
    struct number_map missing; /* numbers that were looked for, and are not there */
};

static void add(struct wait_cgroups *cgroups, uint64_t number, const char *path) {
    if (number_map_get(&cgroups->places, number) > 0)
        return;
    CLEANUP_FREE char *copy = strdup(path);
    if (copy && grow_array(&cgroups->paths, cgroups->count, sizeof(char *)) == 0 &&
        number_map_set(&cgroups->places, number, cgroups->count + 1) == 0)
        cgroups->paths[cgroups->count++] = steal_pointer(&copy);
}

/* A cgroup_tree_visit_fn. */
static void visit(void *context, const char *directory, const char *path) {
    struct stat st;
    if (stat(directory, &st) == 0)
        add(context, st.st_ino, path);
}

static void read_all(struct wait_cgroups *cgroups) {
    if (!cgroups->root)
        return;
    visit(cgroups, cgroups->root, "/");
    cgroup_tree_walk(cgroups->root, visit, cgroups);
}

struct wait_cgroups *wait_cgroups_create(const struct attach_cgroup *only) {
    struct wait_cgroups *cgroups = calloc(1, sizeof(*cgroups));
    if (!cgroups)
        return NULL;
    cgroups->only = only;
    if (cgroup_tree_find(&cgroups->root) < 0)
        cgroups->root = NULL;
    cgroups->containers = container_names_create("", cgroups->root);
    read_all(cgroups);
    return cgroups;
}

void wait_cgroups_destroy(struct wait_cgroups *cgroups) {
    if (!cgroups)
        return;
    for (size_t i = 0; i < cgroups->count; i++)
        free(cgroups->paths[i]);
    free(cgroups->paths);
    number_map_finish(&cgroups->places);
    number_map_finish(&cgroups->missing);
    container_names_destroy(cgroups->containers);
    free(cgroups->root);
    free(cgroups);
}

/* A group that has come since: the kernel finds it by its number, however many others there are.
 * Errors:  -ESTALE it has gone; -EPERM this takes CAP_DAC_READ_SEARCH; others of open_by_handle_at(2) */
static int add_by_number(struct wait_cgroups *cgroups, uint64_t number) {
    union {
        struct file_handle handle;
        char bytes[sizeof(struct file_handle) + sizeof(number)];
    } of = {.handle = {.handle_bytes = sizeof(number), .handle_type = HANDLE_OF_KERNFS}};
    char path[PATH_MAX];
    memcpy(of.handle.f_handle, &number, sizeof(number));
    CLEANUP_FD int root_fd = cgroups->root ? open(cgroups->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    CLEANUP_FD int fd = root_fd < 0 ? -1 : open_by_handle_at(root_fd, &of.handle, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int error = fd < 0 ? negative_errno() : path_of_open(fd, path);
    const char *below = error == 0 ? path_below(path, cgroups->root) : NULL;
    if (below)
        add(cgroups, number, below[0] ? below : "/");
    return error;
}

/* NULL: it is not known. */
static const char *find(struct wait_cgroups *cgroups, uint64_t number) {
    uint64_t place = number_map_get(&cgroups->places, number);
    if (place == 0 && number != 0 && number_map_get(&cgroups->missing, number) == 0) {
        if (add_by_number(cgroups, number) == -EPERM)
            read_all(cgroups);
        place = number_map_get(&cgroups->places, number);
        if (place == 0)
            number_map_set(&cgroups->missing, number, 1);
    }
    return place > 0 ? cgroups->paths[place - 1] : NULL;
}

bool wait_cgroups_has(struct wait_cgroups *cgroups, uint64_t number) {
    if (!cgroups->only->directory || number == cgroups->only->number)
        return true;
    const char *path = find(cgroups, number);
    return path && path_below(path, cgroups->only->path);
}

void wait_cgroups_name(struct wait_cgroups *cgroups, uint64_t number, char ret_who[WAIT_WHO_SIZE]) {
    const char *path = find(cgroups, number);
    struct container container;
    if (!path)
        snprintf(ret_who, WAIT_WHO_SIZE, number == 0 ? "(of several)" : "(removed)");
    else if (cgroups->containers && container_names_find(cgroups->containers, path, &container))
        container_describe(&container, ret_who, WAIT_WHO_SIZE);
    else
        path_copy_end(path, ret_who, WAIT_WHO_SIZE);
}
