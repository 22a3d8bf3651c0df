/* The names of the operations of the layer user, and the numbers of its notes, as a recorder takes them. */
#include "joining.h"

#include "posix_ops.h"

static const char *const names[] = {POSIX_OPS(POSIX_OP_NAME)};
const struct preload_ops posix_ops = {.names = names,
                                      .count = POSIX_OP_COUNT,
                                      .mark = POSIX_MARK,
                                      .starved_note = POSIX_NOTE_STARVED,
                                      .awaited_note = POSIX_NOTE_AWAITED};
