/* Memory for replies. */
#ifndef REPLY_BUFFER_H
#define REPLY_BUFFER_H

#include <stddef.h>

/* Memory of this thread for one reply, at least of that size, aligned to a page; NULL without memory.
 * Threads: any; good until the next call in the same thread */
void *reply_buffer_get(size_t size_bytes);

#endif
