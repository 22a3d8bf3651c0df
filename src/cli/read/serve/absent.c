/* Where osprof is built without libmicrohttpd. Not called. */
#include <errno.h>

#include "serve_http.h"

int serve_http_run(struct serve_http *http, int signal_fd) {
    (void)http, (void)signal_fd;
    return -ENOTSUP;
}
