/* What waits are for, by the functions of the kernel that threads stand in. */
#ifndef WAIT_CAUSES_H
#define WAIT_CAUSES_H

#include <stdbool.h>
#include <stdint.h>

#include "thread_cause.h"
#include "waits.h"

/* The rule is in docs/now.md, and in the table of causes. */
enum wait_class {
    WAIT_COUNTS,  /* somebody is slowed down */
    WAIT_FOR_CPU, /* so too */
    WAIT_IS_WORK, /* there is nothing to do */
};

/* "held up", "cpu", "work", for other programs. */
const char *wait_class_name(enum wait_class class);

struct wait_cause {
    struct aggstats_why why;
    enum wait_class class;
    bool is_named; /* by the table, or by the kernel; else words have the function */
};

struct wait_causes; /* opaque */

/* Owner:   the caller destroys it; waits and table must outlive it. Returns NULL without memory */
struct wait_causes *wait_causes_create(struct waits *waits, const struct thread_causes *table);
void wait_causes_destroy(struct wait_causes *causes);

/* Each cause once: so causes are the same if their addresses are. Keeps as many stacks as the kernel does.
 * Owner:   causes. Returns NULL without memory */
const struct wait_cause *wait_causes_find(struct wait_causes *causes, const struct waited_cell *cell);

/* "ext4_file_write_iter < vfs_write < ..."; NULL: it is not known. Owner: causes, until the next one is asked for */
const char *wait_causes_stack(struct wait_causes *causes, uint64_t stack);

/* Its functions. Returns false if it is not known; then there are none */
bool wait_causes_functions(struct wait_causes *causes, uint64_t stack, struct kernel_stack *ret_functions);

#endif
