/* HTTP, which libmicrohttpd speaks. It has no thread of its own here: it is run whenever its epoll descriptor can be
 * read, and so is what it calls. */
#include "serve_http.h"

#include <microhttpd.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base.h"
#include "command.h"
#include "serve_accept.h"

#define REQUEST_BYTES_MAX 16384 /* with its headers */
#define TICK_MS 1000            /* between looks for connections that take too long */

/* ---- Answers ------------------------------------------------------------------------------------ */

/* Sends and forgets it. */
static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response,
                              const char *type) {
    if (!response)
        return MHD_NO;
    enum MHD_Result result = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (result == MHD_YES)
        result = MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (result == MHD_YES && status == MHD_HTTP_METHOD_NOT_ALLOWED)
        result = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    if (result == MHD_YES)
        result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* text: a constant */
static enum MHD_Result answer_error(struct MHD_Connection *connection, unsigned status, const char *text) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
    return answer(connection, status, response, "text/plain; charset=utf-8");
}

static enum MHD_Result answer_metrics(struct serve_http *http, struct MHD_Connection *connection) {
    const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    const bool is_protobuf = serve_accept_prefers_protobuf(accept);
    struct serve_targets targets = {0};
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = serve_source_read(http->source, &targets);
    if (!error)
        error = serve_targets_format(&targets, is_protobuf ? &view_protobuf : &view_metrics, &text, &size_bytes);
    serve_targets_finish(&targets);
    if (error)
        return answer_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "no memory for the metrics\n");
    struct MHD_Response *response = MHD_create_response_from_buffer(size_bytes, text, MHD_RESPMEM_MUST_FREE);
    if (response)
        steal_pointer(&text);
    return answer(connection, MHD_HTTP_OK, response, is_protobuf ? SERVE_PROTOBUF_TYPE : SERVE_TEXT_TYPE);
}

/* What is asked for: clients of a proxy name the server too ("http://host/metrics"), and any server must take that
 * (RFC 9112, 3.2.2). */
static const char *path_of_target(const char *target) {
    static const char scheme[] = "http://";
    if (strncasecmp(target, scheme, sizeof(scheme) - 1) != 0)
        return target;
    const char *path = strchr(target + sizeof(scheme) - 1, '/');
    return path ? path : "/";
}

static enum MHD_Result handle_request(void *context, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *upload_data,
                                      size_t *upload_data_size, void **request) {
    (void)version;
    (void)upload_data;
    (void)upload_data_size;
    (void)request;
    if (strcmp(path_of_target(url), "/metrics") != 0)
        return answer_error(connection, MHD_HTTP_NOT_FOUND, "only /metrics is here\n");
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return answer_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    return answer_metrics(context, connection);
}

/* ---- Connections -------------------------------------------------------------------------------- */

static void note_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode code) {
    struct serve_http *http = context;
    const bool begins = code == MHD_CONNECTION_NOTIFY_STARTED;
    (void)socket_context;
    for (size_t i = 0; i < ARRAY_SIZE(http->connections); i++) {
        if (http->connections[i].connection != (begins ? NULL : connection))
            continue;
        http->connections[i] = (struct serve_connection){.connection = begins ? connection : NULL,
                                                         .began_ns = read_clock_ns(CLOCK_MONOTONIC)};
        return;
    }
}

/* The library ends those that send and take nothing; these do so a little at a time. */
static void end_slow_connections(const struct serve_http *http) {
    const int64_t latest_ns = read_clock_ns(CLOCK_MONOTONIC) - SERVE_CONNECTION_SECONDS * INT64_C(1000000000);
    for (size_t i = 0; i < ARRAY_SIZE(http->connections); i++) {
        const struct serve_connection *slow = &http->connections[i];
        const union MHD_ConnectionInfo *info = NULL;
        if (slow->connection && slow->began_ns < latest_ns)
            info = MHD_get_connection_info(slow->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (info)
            shutdown(info->connect_fd, SHUT_RDWR);
    }
}

/* ---- Running ------------------------------------------------------------------------------------ */

static struct MHD_Daemon *start(struct serve_http *http, int listen_fd) {
    return MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle_request, http, MHD_OPTION_LISTEN_SOCKET, listen_fd,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVE_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
                            (unsigned)SERVE_IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES_MAX,
                            MHD_OPTION_NOTIFY_CONNECTION, note_connection, http, MHD_OPTION_END);
}

static int poll_timeout_ms(struct MHD_Daemon *daemon) {
    MHD_UNSIGNED_LONG_LONG timeout_ms;
    return MHD_get_timeout(daemon, &timeout_ms) == MHD_YES && timeout_ms < TICK_MS ? (int)timeout_ms : TICK_MS;
}

static int run(const struct serve_http *http, int epoll_fd, int signal_fd) {
    struct pollfd polled[] = {{.fd = epoll_fd, .events = POLLIN}, {.fd = signal_fd, .events = POLLIN}};
    while (!(polled[1].revents & POLLIN)) {
        if (poll(polled, ARRAY_SIZE(polled), poll_timeout_ms(http->daemon)) < 0 && errno != EINTR)
            return negative_errno();
        MHD_run(http->daemon);
        end_slow_connections(http);
    }
    return 0;
}

int serve_http_run(struct serve_http *http, int listen_fd, int signal_fd) {
    http->daemon = start(http, listen_fd);
    const union MHD_DaemonInfo *info =
        http->daemon ? MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    int error = info ? run(http, info->epoll_fd, signal_fd) : -ENOMEM;
    if (error)
        complain("cannot serve: %s", strerror(-error));
    if (http->daemon)
        MHD_stop_daemon(http->daemon); /* closes the socket */
    else
        close(listen_fd);
    return error;
}
