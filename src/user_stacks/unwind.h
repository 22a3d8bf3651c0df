/* Private: steps from a function to its caller. */
#ifndef UNWIND_H
#define UNWIND_H

#include "collected.h"
#include "mapped.h"

/* A function that is being executed. */
struct frame {
    uint64_t instruction;
    uint64_t stack;
    uint64_t frame; /* the register of that name */
    uint64_t link;
    bool has_stack; /* stack is known */
    bool has_frame;
    bool has_link;
    unsigned kernel_place; /* among the addresses that the kernel has found: those before are not its callers */
    bool is_beyond;        /* the tables lead to memory that was not copied */
    bool is_interrupted;   /* the instruction itself was executed; else the one before it was a call */
};

enum unwound {
    UNWOUND_CALLER,
    UNWOUND_BY_FRAME,  /* a caller, by frame pointers: functions without one may be missing before it */
    UNWOUND_OUTERMOST, /* there is no caller */
    UNWOUND_LOST,      /* it cannot be found */
};

struct frame unwind_begin(const struct collected_user_stack *from);

enum unwound unwind(const struct collected_user_stack *from, const struct process *process, struct frame *frame);

/* Where in the file of its mapping a frame is. Returns false if that is not known */
bool unwind_address(const struct mapping *mapping, const struct frame *frame, uint64_t *ret_address);

#endif
