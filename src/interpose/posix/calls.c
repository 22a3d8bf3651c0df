/* The wrappers of all rows. */
#include <assert.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "counting.h"
#include "rows.h"

static_assert(sizeof(off_t) == 8 && sizeof(time_t) == 8, "on 32-bit systems there are other aliases");

static inline struct aggstats_outcome call_error(int error) {
    return (struct aggstats_outcome){.error = error};
}

/* The mapping replaces what was there. */
static inline bool mapped_fd_counts(int flags, int fd) {
    if (flags & MAP_FIXED)
        names_memory_changed();
    return !(flags & MAP_ANONYMOUS) && fd_counts(fd);
}

DATA_ROWS(WRAP)
ATTRIBUTE_ROWS(WRAP)
NAME_ROWS(WRAP)
STREAM_ROWS(WRAP)
