/* Memory for replies, one buffer for each thread. */
#include "reply_buffer.h"

#include <pthread.h>
#include <stdlib.h>

#define PAGE_BYTES 4096U

struct reply_buffer {
    void *data;
    size_t size_bytes;
};

static pthread_key_t buffer_key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void free_buffer(void *pointer) {
    struct reply_buffer *buffer = pointer;
    free(buffer->data);
    free(buffer);
}

static void make_key(void) {
    pthread_key_create(&buffer_key, free_buffer);
}

void *reply_buffer_get(size_t size_bytes) {
    pthread_once(&key_once, make_key);
    struct reply_buffer *buffer = pthread_getspecific(buffer_key);
    if (!buffer) {
        buffer = calloc(1, sizeof(*buffer));
        if (!buffer || pthread_setspecific(buffer_key, buffer) != 0) {
            free(buffer);
            return NULL;
        }
    }
    if (buffer->size_bytes < size_bytes) {
        void *grown;
        if (posix_memalign(&grown, PAGE_BYTES, size_bytes) != 0)
            return NULL;
        free(buffer->data);
        *buffer = (struct reply_buffer){.data = grown, .size_bytes = size_bytes};
    }
    return buffer->data;
}
