/* Memory for replies. */
#ifndef REPLY_BUFFER_H
#define REPLY_BUFFER_H

#include <stddef.h>

/* This thread's memory for one reply, of at least that size, aligned to a page; NULL without memory.
 * Threads: any; valid until the next call in the same thread */
void *reply_buffer_get(size_t size_bytes);

#endif
