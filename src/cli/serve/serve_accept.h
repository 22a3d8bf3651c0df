/* Which format of metrics a client prefers, by the header Accept of HTTP (RFC 9110, section 12.5.1). */
#ifndef SERVE_ACCEPT_H
#define SERVE_ACCEPT_H

#include <stdbool.h>

#define SERVE_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define SERVE_PROTOBUF_TYPE                                                                                            \
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"

/* True if protobuf is named, and liked no less than the text: who says that he takes anything gets text.
 * accept: NULL: the client has sent none */
bool serve_accept_prefers_protobuf(const char *accept);

#endif
