/* Finding the holder of one thing each. What is found is filled into a link, which else stays as it is. */
#ifndef FINDERS_H
#define FINDERS_H

#include "holders.h"
#include "lock_table.h"
#include "place.h"

/* A thread that waits. */
struct waiting {
    uint64_t process;
    uint64_t thread;
    struct thread_reading reading; /* with its place */
    const char *path;              /* of the call's file; NULL: that of the reading. Owner: the caller */
    bool is_elsewhere;             /* the call is on another file system than its descriptor */
    enum aggstats_cause_class thing;
};

/* What is read once for a whole chain. */
struct search {
    const struct holders_options *options;
    struct lock_table locks;
    bool has_locks;
};

/* Fills in number and name of a process. */
void party_set(struct aggstats_party *party, uint64_t process, uint64_t thread);

/* A lock of a file: link->thing says which one. Returns false if the table of locks does not have the request, as where
 * the file system itself keeps its locks. */
bool find_lock_holder(struct search *search, const struct waiting *waiting, struct aggstats_link *link);

/* The kind of lock for which a process without other threads waits, by the table of locks alone: that is readable where
 * stacks are hidden. AGGSTATS_CAUSE_OTHER: none */
enum aggstats_cause_class find_lock_request(struct search *search, uint64_t process);

/* The daemon of a FUSE file system. If the place is unknown: the daemon whose requests wait, if there is only one. */
void find_daemon(const struct search *search, const struct waiting *waiting, struct aggstats_link *link);

/* The other end of the pipe that the thread reads from or writes to. */
void find_pipe_end(const struct search *search, const struct waiting *waiting, struct aggstats_link *link);

#endif
