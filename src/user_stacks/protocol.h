/* Private: what is asked of the process that reads programs, and its answers. Messages of a socket of SOCK_SEQPACKET. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

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
    uint64_t number; /* of the question */
    struct user_functions functions;
};

/* Answers until the socket is closed. */
void reader_run(int socket);

#endif
