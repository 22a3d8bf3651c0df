/* GET and HEAD of /metrics, and nothing else. All happens in the thread that calls serve_http_run().
 *
 * Invariants:
 *   - Memory is bounded: the number of connections, the size of each request, and the smaller number of answers.
 *   - A connection is for one request, and is ended after some seconds, however slow its client is.
 *   - No client's connections keep another client from being answered (serve_places.h).
 *   - Over the network, only requests that name this machine as the host are answered (serve_headers.h). */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include <stdbool.h>

#include "option_list.h"
#include "serve_places.h"
#include "serve_targets.h"

#define SERVE_IDLE_SECONDS 5

struct serve_http {
    struct serve_source *source;
    struct serve_why *why;           /* NULL: profiles only */
    const struct option_list *names; /* of this machine, besides its own */
    bool checks_host;                /* if false, any Host is accepted: no browser connects to a Unix socket */
    int listen_fd;                   /* non-blocking; borrowed */
    int diag_fd;                     /* of serve_client_open_diag() */
    struct MHD_Daemon *daemon;
    struct serve_places places;
    struct serve_place *newcomer; /* the place of the connection being added */
};

/* Serves at a listening socket until a signal can be read.
 * signal_fd: of signalfd(2)
 * Errors:  the failed call's, already reported to the user */
int serve_http_run(struct serve_http *http, int signal_fd);

#endif
