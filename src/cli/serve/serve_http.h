/* GET and HEAD of /metrics, and nothing else. All happens in the thread that calls serve_http_run().
 *
 * Invariants:
 *   - Memory is bounded: so many connections at a time, each with a request of bounded size and one answer.
 *   - A connection is for one request, and is over after some seconds, however slow its client is. */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include <stdint.h>

#include "serve_targets.h"

#define SERVE_CONNECTIONS_MAX 16
#define SERVE_IDLE_SECONDS 5
#define SERVE_CONNECTION_SECONDS 20

struct MHD_Connection;

struct serve_connection {
    struct MHD_Connection *connection; /* NULL: there is none */
    int64_t began_ns;                  /* CLOCK_MONOTONIC */
};

struct serve_http {
    struct serve_source *source;
    struct MHD_Daemon *daemon;
    struct serve_connection connections[SERVE_CONNECTIONS_MAX];
};

/* Serves at a socket that listens until a signal can be read.
 * signal_fd: of signalfd(2)
 * Owner:   listen_fd is closed whatever happens
 * Errors:  what failed, already told to the user */
int serve_http_run(struct serve_http *http, int listen_fd, int signal_fd);

#endif
