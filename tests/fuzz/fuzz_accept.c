/* The reader of Accept, which any client sends: it prefers protobuf only if that is named, and the same one twice says
 * the same as once. */
#include <string.h>

#include "base.h"
#include "fuzz.h"
#include "serve_headers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    CLEANUP_FREE char *accept = malloc(size_bytes + 1);
    CLEANUP_FREE char *twice = malloc(2 * size_bytes + 2);
    FUZZ_PROMISE(accept && twice);
    memcpy(accept, data, size_bytes);
    accept[size_bytes] = '\0';
    stpcpy(stpcpy(stpcpy(twice, accept), ","), accept);
    const bool is_protobuf = serve_accept_prefers_protobuf(accept);
    FUZZ_PROMISE(!is_protobuf || strcasestr(accept, "application/vnd.google.protobuf"));
    FUZZ_PROMISE(serve_accept_prefers_protobuf(twice) == is_protobuf);
    return 0;
}
