/* The operations of the layer, as the live file has them. */
#include "counting.h"

static const char *const names[] = {POSIX_OPS(POSIX_OP_NAME)};
const struct preload_ops posix_ops = {.names = names, .count = POSIX_OP_COUNT, .starved_note = POSIX_NOTE_STARVED};
