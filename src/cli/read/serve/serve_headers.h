/* What headers of a request decide: Host, whether it is answered, and Accept, in which format. */
#ifndef SERVE_HEADERS_H
#define SERVE_HEADERS_H

#include <stdbool.h>

#include "option_list.h"

/* ---- Host: which names this server answers to --------------------------------------------------- */

/* A page of a web site can make the site's name lead to this machine (DNS rebinding). To the browser our answers are
 * then the site's own, so its scripts may read them. But their requests name the site as the host, and so can be
 * refused. */

/* True if a name may be given as an additional name of the server: letters, digits, dots, hyphens and underscores, no
 * port, no address. */
bool serve_host_name_is_valid(const char *name);

/* True if Host is an address, "localhost", this machine's name from gethostname(2), with or without its domain, another
 * name in the same line of /etc/hosts, or one of names. Case does not matter, nor does a port or a final dot. An empty
 * Host is valid: the client was given no host (RFC 9112, section 3.2). */
bool serve_host_is_ours(const struct option_list *names, const char *host);

/* ---- Accept: which format of metrics a client prefers (RFC 9110, section 12.5.1) ---------------- */

#define SERVE_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define SERVE_PROTOBUF_TYPE                                                                                            \
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"

/* True if the client names protobuf, and prefers it at least as much as text: a client that accepts anything gets text.
 * accept: NULL: the client has sent none */
bool serve_accept_prefers_protobuf(const char *accept);

#endif
