/* The table of file locks (proc_locks(5)), as text. Opens nothing; the caller frees what lock_table_read() returns. */
#ifndef LOCK_TABLE_H
#define LOCK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define LOCK_LINES_MAX 65536

enum lock_kind { LOCK_FLOCK, LOCK_FCNTL, LOCK_LEASE };

/* A lock that is held, or that somebody waits for. */
struct lock {
    unsigned depth; /* 0: held; else the lock waits for the last line before it with a smaller depth */
    enum lock_kind kind;
    bool is_description; /* of an open file description (OFD), without a process */
    bool is_write;
    int64_t pid;   /* of the process that asked for it; -1: none, 0: it cannot be seen from this pid namespace */
    bool has_file; /* requests that break a lease have none */
    dev_t device;
    uint64_t inode;
    uint64_t begin; /* the first byte */
    uint64_t end;   /* the last byte; UINT64_MAX: no end */
};

/* Parses a line of the table, or of fdinfo behind "lock:". Returns false if it is none */
bool lock_parse(const char *line, struct lock *ret_lock);

/* True if it is the same lock, whether of the table or of fdinfo. */
bool lock_is_same(const struct lock *a, const struct lock *b);

/* True if one of the lines of fdinfo with "lock:" is that lock. */
bool lock_is_among(const char *fdinfo, const struct lock *lock);

struct lock_table {
    struct lock *locks;
    size_t count;
};

/* Reads up to LOCK_LINES_MAX lines; those that are no locks are left out. Owner: the caller finishes it. Errors: -ENOMEM */
int lock_table_read(FILE *stream, struct lock_table *ret_table);
void lock_table_finish(struct lock_table *table);

/* What is known of a request for a lock. */
struct lock_request {
    enum lock_kind kind;
    uint64_t process;
    bool has_file;
    dev_t device;
    uint64_t inode;
    bool knows_owner; /* is_description is known */
    bool is_description;
};

/* What such a request waits for. */
struct lock_blocker {
    const struct lock *lock; /* Owner: the table */
    bool is_held;            /* false: it waits itself, and is served first */
    size_t others;           /* other locks that are held and conflict with the request */
};

/* Returns false if there is no such request, or if several requests that fit wait for different locks. */
bool lock_table_find(const struct lock_table *table, const struct lock_request *request,
                     struct lock_blocker *ret_blocker);

#endif
