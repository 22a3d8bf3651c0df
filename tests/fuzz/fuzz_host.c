/* The reader of Host, which any client sends: a name is ours whatever the case of its letters, a port behind changes
 * nothing, and what ends in another site's domain is never ours. */
#include <ctype.h>
#include <string.h>

#include "base.h"
#include "fuzz.h"
#include "serve_headers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    const struct option_list names = {.count = 0};
    CLEANUP_FREE char *host = malloc(size_bytes + sizeof(".rebound.example"));
    FUZZ_PROMISE(host);
    memcpy(host, data, size_bytes);
    host[size_bytes] = '\0';
    const size_t length = strlen(host);
    const bool is_ours = serve_host_is_ours(&names, host);
    for (size_t i = 0; i < length; i++)
        host[i] = (char)toupper((unsigned char)host[i]);
    FUZZ_PROMISE(serve_host_is_ours(&names, host) == is_ours);
    if (length > 0 && !strchr(host, ':')) {
        stpcpy(host + length, ":80");
        FUZZ_PROMISE(serve_host_is_ours(&names, host) == is_ours);
    }
    stpcpy(host + length, ".rebound.example");
    FUZZ_PROMISE(!serve_host_is_ours(&names, host));
    return 0;
}
