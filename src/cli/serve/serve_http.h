/* GET and HEAD of /metrics, and nothing else. All happens in the thread that calls serve_http_run().
 *
 * Invariants:
 *   - Memory is bounded: so many connections at a time, each with a request of bounded size, and fewer answers.
 *   - A connection is for one request, and is over after some seconds, however slow its client is.
 *   - No client's connections keep another client from being answered (serve_places.h).
 *   - Over the network, an answer is for who names this machine as the host (serve_headers.h). */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include <stdbool.h>

#include "option_list.h"
#include "serve_places.h"
#include "serve_targets.h"

#define SERVE_IDLE_SECONDS 5

struct serve_http {
    struct serve_source *source;
    const struct option_list *names; /* of this machine, besides its own */
    bool checks_host;                /* else any Host will do: no browser connects to a Unix socket */
    int listen_fd;                   /* that does not block; borrowed */
    int diag_fd;                     /* of serve_client_open_diag() */
    struct MHD_Daemon *daemon;
    struct serve_places places;
    struct serve_place *newcomer; /* whose connection is being added */
};

/* Serves at a socket that listens until a signal can be read.
 * signal_fd: of signalfd(2)
 * Errors:  what failed, already told to the user */
int serve_http_run(struct serve_http *http, int signal_fd);

#endif
