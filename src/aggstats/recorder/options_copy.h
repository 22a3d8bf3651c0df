/* Private: options whose structure may come from an earlier or a later header. */
#ifndef OPTIONS_COPY_H
#define OPTIONS_COPY_H

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Copies a caller's options into our own, which are zeroed. Errors: -EINVAL the caller sets options that we do not
 * know */
static inline int options_copy(void *own, size_t own_bytes, const void *options, size_t options_bytes) {
    const unsigned char *bytes = options;
    for (size_t i = own_bytes; i < options_bytes; i++)
        if (bytes[i] != 0)
            return -EINVAL;
    memcpy(own, options, options_bytes < own_bytes ? options_bytes : own_bytes);
    return 0;
}

#endif
