/* Private: what is asked of a process that reads programs, and its answers. Messages of a socket of SOCK_SEQPACKET. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include "unreadable.h"
#include "user_stacks.h"

struct question {
    uint64_t number;
    uint64_t start_stack;
    uint32_t process;
    bool has_stack; /* else the process is only noted, and what follows is not sent */
    char op[AGGSTATS_NAME_SIZE];
    struct collected_user_stack from;
};

struct answer {
    uint64_t number;                 /* of the question */
    int64_t spent_ns;                /* CPU time for it */
    struct user_functions functions; /* only if it has a stack */
};

/* Starts readers, each when its number, a byte below READERS, comes over that socket, and a socket for it. The reader of that
 * number before is ended, and the file that it was at is noted as unreadable. First sends an int: 0, or why it cannot. Returns when the socket is closed. */
void starter_run(int control);

/* Answers until the socket is closed. */
void reader_run(int socket, unsigned number, struct unreadable *unreadable);

#endif
