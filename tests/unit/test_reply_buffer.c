/* Memory for replies: aligned, kept, and of each thread its own. */
#include "reply_memory.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

TEST(reply_memory_is_aligned_kept_and_grows) {
    char *small = reply_buffer_get(1);
    ck_assert_ptr_nonnull(small);
    ck_assert_ptr_eq(reply_buffer_get(1), small);
    for (size_t size_bytes = 1; size_bytes <= (1U << 20); size_bytes *= 2) {
        char *buffer = reply_buffer_get(size_bytes);
        ck_assert_ptr_nonnull(buffer);
        ck_assert_uint_eq((uintptr_t)buffer % 4096, 0);
        memset(buffer, 0xff, size_bytes);
    }
    char *large = reply_buffer_get(1U << 20);
    ck_assert_ptr_eq(reply_buffer_get(1), large);
}

static void *take_buffer(void *argument) {
    *(void **)argument = reply_buffer_get(65536);
    memset(*(void **)argument, 'y', 65536);
    return NULL;
}

TEST(every_thread_has_reply_memory_of_its_own) {
    pthread_t thread;
    void *others = NULL;
    char *own = reply_buffer_get(65536);
    memset(own, 'x', 65536);
    ck_assert_int_eq(pthread_create(&thread, NULL, take_buffer, &others), 0);
    pthread_join(thread, NULL);
    ck_assert_ptr_nonnull(others);
    ck_assert_ptr_ne(others, own);
    ck_assert_int_eq(own[0], 'x');
    ck_assert_int_eq(own[65535], 'x');
}
