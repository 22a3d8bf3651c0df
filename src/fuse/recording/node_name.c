/* A node's name is its lower path without that of the root. */
#include "node_name.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "path.h"

#define END_WAITS_MAX 100
#define END_WAIT_NS 10000000

static bool has_ended(const struct node_names *names) {
    return __atomic_load_n(&names->is_ended, __ATOMIC_SEQ_CST);
}

/* ret_is_known: false if it is the name last looked up. */
static char *find_path(struct node_names *names, uint64_t node, bool asks, bool *ret_is_known) {
    char *path = asks ? pass_ask_path_of(names->pass, node) : pass_path_of(names->pass, node);
    *ret_is_known = path;
    return path ? path : pass_last_path_of(names->pass, node, asks);
}

static char *path_of(struct node_names *names, uint64_t node, bool may_wait, bool *ret_is_known) {
    if (!may_wait)
        return find_path(names, node, false, ret_is_known);
    __atomic_fetch_add(&names->asking, 1, __ATOMIC_SEQ_CST);
    char *path = find_path(names, node, !has_ended(names), ret_is_known);
    __atomic_fetch_sub(&names->asking, 1, __ATOMIC_SEQ_CST);
    return path;
}

/* If the kernel has no name for a node, it gives the root's path: only the root itself is "/". */
static const char *name_below(const char *path, const char *root, uint64_t node) {
    const char *below = path_below(path, root);
    bool is_itself = below && (below[0] == '\0' || strcmp(below, "/") == 0);
    return is_itself ? (node == FS_ROOT_INO ? "/" : NULL) : below;
}

bool node_name(void *context, uint64_t node, bool may_wait, char ret_name[AGGSTATS_GROUP_NAME_SIZE]) {
    struct node_names *names = context;
    bool is_known = false;
    CLEANUP_FREE char *root = pass_path_of(names->pass, FS_ROOT_INO);
    CLEANUP_FREE char *path = root ? path_of(names, node, may_wait, &is_known) : NULL;
    const char *name = path ? name_below(path, root, node) : NULL;
    if (name)
        path_copy_end(name, ret_name, AGGSTATS_GROUP_NAME_SIZE);
    else
        snprintf(ret_name, AGGSTATS_GROUP_NAME_SIZE, may_wait ? "(name forgotten)" : "(name not asked for yet)");
    return name && is_known;
}

uint64_t node_directory(void *context, uint64_t node) {
    const struct node_names *names = context;
    return pass_directory_of(names->pass, node, names->depth_max);
}

bool node_names_end(struct node_names *names) {
    const struct timespec wait = {.tv_nsec = END_WAIT_NS};
    __atomic_store_n(&names->is_ended, true, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < END_WAITS_MAX && __atomic_load_n(&names->asking, __ATOMIC_SEQ_CST) > 0; i++)
        nanosleep(&wait, NULL);
    return __atomic_load_n(&names->asking, __ATOMIC_SEQ_CST) == 0;
}
