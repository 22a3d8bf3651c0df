/* The paths of a file system's nodes, learnt from its answers to look-ups. */
#ifndef NODES_H
#define NODES_H

#include <pthread.h>
#include <stdint.h>

#define NODES_ROOT 1U /* the kernel's number of the root */
#define NODES_MAX 65536U

struct node;

struct nodes {
    pthread_mutex_t lock;
    struct node *nodes;  /* [NODES_MAX]; the oldest makes room for the next */
    uint32_t *by_number; /* [NODES_MAX], like the next: the first node of each chain, + 1 */
    uint32_t *by_name;
    uint32_t count;
    uint32_t next;
};

/* Errors: -ENOMEM */
int nodes_init(struct nodes *nodes);
void nodes_finish(struct nodes *nodes);

/* A name in a directory leads to that node. Threads: any, for all that follow */
void nodes_add(struct nodes *nodes, uint64_t parent, const char *name, uint64_t number);

/* A name was removed; a name was replaced by another. */
void nodes_remove(struct nodes *nodes, uint64_t parent, const char *name);
void nodes_move(struct nodes *nodes, uint64_t parent, const char *name, uint64_t new_parent, const char *new_name);

/* The directory that a node was last looked up in; 0: unknown */
uint64_t nodes_directory(struct nodes *nodes, uint64_t number);

/* From the root of the mount, as "/a/b". NULL: unknown. Owner: the caller frees it */
char *nodes_path(struct nodes *nodes, uint64_t number);

#endif
