/* What headers of a request decide: Host, whether it is answered, and Accept, in which format. */
#ifndef SERVE_HEADERS_H
#define SERVE_HEADERS_H

#include <stdbool.h>

#include "option_list.h"

/* ---- Host: which names this server answers to --------------------------------------------------- */

/* A page of a web site can have the site's name lead to this machine (DNS rebinding). To the browser our answers then
 * are the site's own, so its scripts may read them. Their requests name the site as the host, and that gives them away.
 */

/* Whether a name may be given as one more of the server's: letters, digits, dots, hyphens and underscores, no port, no
 * address. */
bool serve_host_name_is_valid(const char *name);

/* Whether Host is an address, "localhost", this machine's name as gethostname(2) tells it, with and without its domain,
 * another name of the same line of /etc/hosts, or one of names; in letters of either case, with a port or without, with
 * a dot at the end or without. An empty Host names nobody, which is right where the client was given no host (RFC 9112,
 * section 3.2). */
bool serve_host_is_ours(const struct option_list *names, const char *host);

/* ---- Accept: which format of metrics a client prefers (RFC 9110, section 12.5.1) ---------------- */

#define SERVE_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define SERVE_PROTOBUF_TYPE                                                                                            \
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"

/* True if protobuf is named, and liked no less than the text: who says that he takes anything gets text.
 * accept: NULL: the client has sent none */
bool serve_accept_prefers_protobuf(const char *accept);

#endif
