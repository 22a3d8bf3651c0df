/* Private: the system calls and requests of io_uring that are counted, and their operations. */
#ifndef CALL_TABLE_H
#define CALL_TABLE_H

#include <stdbool.h>

#include "collected.h"
#include "collector_private.h"

/* Operations of the layer "user" have the names that they have there. */
struct call_table {
    const char *ops[COLLECTED_CALL_OPS];
    unsigned op_count;
    bool ops_move[COLLECTED_CALL_OPS]; /* bytes */
    struct collector_slot slots[2 * COLLECTED_CALL_OPS];
    struct collected_call calls[COLLECTED_SYSCALLS]; /* with numbers of ops */
    struct collected_request requests[COLLECTED_OPCODES_OF_RINGS];
    unsigned page_fault_slot;
    unsigned untimed_slot;
};

/* Owner: static. Threads: any */
const struct call_table *call_table(void);

/* By the numbers that 32-bit programs use: the number of the same call of 64 bits, and one more; 0: not counted. */
extern const unsigned short numbers_of_32_bits[COLLECTED_SYSCALLS];

#endif
