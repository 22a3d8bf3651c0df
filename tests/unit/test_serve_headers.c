/* Which format is sent to whom: Prometheus of several releases, browsers, curl, and those that send nonsense. */

#include "base.h"
#include "serve_headers.h"
#include "testing.h"

#define PROTOBUF "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

static const struct {
    const char *accept;
    bool is_protobuf;
} clients[] = {
    {NULL, false},
    {"", false},
    {"*/*", false},
    {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false},
    {"text/plain", false},
    /* Prometheus 2.42, without and with native histograms */
    {"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
     "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
     false},
    {PROTOBUF ",application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,"
              "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
     true},
    /* Prometheus 3, with native histograms and without */
    {PROTOBUF ";q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
              "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
     true},
    {"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.3," PROTOBUF
     ";q=0.2,*/*;q=0.1",
     false},
    {PROTOBUF, true},
    {"text/plain;q=1," PROTOBUF ";q=1", true},
    {"*/*;q=1," PROTOBUF ";q=0.9", false},
    {"*/*;q=0.9,text/plain;q=0.2," PROTOBUF ";q=0.5", true}, /* the more exact range counts */
    {"text/*;q=0.9," PROTOBUF ";q=0.5", false},
    {"text/plain;version=1.0.0," PROTOBUF ";q=0.5", true}, /* another text than ours */
    {PROTOBUF ";q=0", false},
    {PROTOBUF ";q=0.0,text/plain;q=0", false},
    {PROTOBUF ";q=x", false},
    {PROTOBUF ";q=nan", false},
    {PROTOBUF ";q=-1", false},
    {PROTOBUF ";q=", false},
    {PROTOBUF ";q=7,text/plain;q=1", true},
    {" Application/VND.google.protobuf ; Encoding = Delimited ; proto=\"io.prometheus.client.MetricFamily\" ", true},
    {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text", false},
    {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily", false},
    {"application/vnd.google.protobuf;proto=io.prometheus.write.v2.Request;encoding=delimited", false},
    {"application/vnd.google.protobuf", false},
    {",;,=;q,;q=;;,,", false},
    {";q=1," PROTOBUF ",,", true},
};

TEST(each_client_gets_what_it_prefers, .to = (int)ARRAY_SIZE(clients)) {
    ck_assert_msg(serve_accept_prefers_protobuf(clients[_i].accept) == clients[_i].is_protobuf, "%s",
                  clients[_i].accept ? clients[_i].accept : "none");
}
