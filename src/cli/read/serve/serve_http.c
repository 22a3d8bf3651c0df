/* HTTP, by libmicrohttpd. It has no thread of its own here: it is run whenever its epoll descriptor is readable, and so
 * are the functions that it calls. */
#include "serve_http.h"

#include <microhttpd.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base.h"
#include "command.h"
#include "serve_address.h"
#include "serve_headers.h"

#define REQUEST_BYTES_MAX 16384  /* with its headers */
#define TICK_MS 100              /* between checks for connections that take too long */
#define ACCEPTED_AT_ONCE_MAX 256 /* between two answers */
#define RUNS_TO_CLOSE 3
#define DESCRIPTORS_KEPT 32 /* for all but connections */

/* ---- Answers ------------------------------------------------------------------------------------ */

/* Sends the response and frees it. */
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

static enum MHD_Result answer_metrics(const struct serve_http *http, struct MHD_Connection *connection) {
    const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
    const bool is_protobuf = serve_accept_prefers_protobuf(accept) && !part_missing(PART_PROTOBUF);
    struct serve_targets targets = {0};
    CLEANUP_FREE char *text = NULL;
    size_t size_bytes = 0;
    int error = serve_source_read(http->source, &targets);
    if (!error)
        error = serve_targets_format(http->source, &targets, http->why, is_protobuf ? &view_protobuf : &view_metrics,
                                     &text, &size_bytes);
    serve_targets_finish(&targets);
    if (error)
        return answer_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "no memory for the metrics\n");
    struct MHD_Response *response = MHD_create_response_from_buffer(size_bytes, text, MHD_RESPMEM_MUST_FREE);
    if (response)
        steal_pointer(&text);
    return answer(connection, MHD_HTTP_OK, response, is_protobuf ? SERVE_PROTOBUF_TYPE : SERVE_TEXT_TYPE);
}

/* The requested path: clients of a proxy send the server's name too ("http://host/metrics"), and any server must accept
 * that (RFC 9112, 3.2.2). */
static const char *path_of_target(const char *target) {
    static const char scheme[] = "http://";
    if (strncasecmp(target, scheme, sizeof(scheme) - 1) != 0)
        return target;
    const char *path = strchr(target + sizeof(scheme) - 1, '/');
    return path ? path : "/";
}

struct host_check {
    const struct option_list *names;
    bool is_ours;
};

/* True if every header Host names this server. A name in the target replaces them (RFC 9112, 3.2.2). */
static enum MHD_Result check_host(void *context, enum MHD_ValueKind kind, const char *key, const char *value) {
    struct host_check *check = context;
    (void)kind;
    if (strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0)
        check->is_ours &= serve_host_is_ours(check->names, value ? value : "");
    return MHD_YES;
}

static bool is_for_us(const struct serve_http *http, struct MHD_Connection *connection, const char *target) {
    struct host_check check = {.names = http->names, .is_ours = true};
    const char *path = path_of_target(target);
    if (!http->checks_host)
        return true;
    if (path != target) { /* the server's name, with the port, without user information (RFC 3986, 3.2) */
        const char *begin = strstr(target, "//") + 2;
        const char *end = begin + strcspn(begin, "/?#");
        const char *user_end = memchr(begin, '@', (size_t)(end - begin));
        begin = user_end ? user_end + 1 : begin;
        CLEANUP_FREE char *host = strndup(begin, (size_t)(end - begin));
        return host && serve_host_is_ours(http->names, host);
    }
    MHD_get_connection_values(connection, MHD_HEADER_KIND, check_host, &check);
    return check.is_ours;
}

/* Called as soon as the headers have come, and for the metrics once more when it is this connection's turn. */
static enum MHD_Result handle_request(void *context, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *upload_data,
                                      size_t *upload_data_size, void **request) {
    const struct serve_http *http = context;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct serve_place *place = info ? info->socket_context : NULL;
    (void)version;
    (void)upload_data;
    (void)upload_data_size;
    (void)request;
    if (!place || place->stage == SERVE_ENDING)
        return MHD_NO;
    if (place->stage == SERVE_ANSWERING)
        return answer_metrics(http, connection);
    place->stage = SERVE_ANSWERING;
    if (!is_for_us(http, connection, url))
        return answer_error(connection, MHD_HTTP_MISDIRECTED_REQUEST,
                            "Host is no name of this machine: ask by its address, or start osprof serve with --name\n");
    if (strcmp(path_of_target(url), "/metrics") != 0)
        return answer_error(connection, MHD_HTTP_NOT_FOUND, "only /metrics is here\n");
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return answer_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    place->stage = SERVE_WAITING;
    MHD_suspend_connection(connection);
    return MHD_YES;
}

/* ---- Connections -------------------------------------------------------------------------------- */

/* The place is stored with the connection, and is free again when the library has closed it. */
static void note_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode code) {
    struct serve_http *http = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED && http->newcomer) {
        *socket_context = http->newcomer;
        http->newcomer->connection = connection;
    } else if (*socket_context) {
        *(struct serve_place *)*socket_context = (struct serve_place){.stage = SERVE_FREE};
    }
}

/* The library closes a connection that was shut down when it runs, but not a suspended one. */
static void end_place(struct serve_place *place) {
    const bool is_suspended = place->stage == SERVE_WAITING;
    place->stage = SERVE_ENDING;
    shutdown(place->fd, SHUT_RDWR);
    if (is_suspended)
        MHD_resume_connection(place->connection);
}

/* Gives a connection to the library, which closes it whatever happens, and reads what it has sent already: so a client
 * that sends its headers at once does not count as unfinished when the next one connects. */
static void add_connection(struct serve_http *http, int fd, const union serve_socket_address *peer, socklen_t size) {
    const struct serve_client client = serve_client_of(http->diag_fd, fd, peer);
    const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
    struct serve_place *place = serve_places_take(&http->places, fd, &client, now_ns);
    struct serve_place *yielding = place ? NULL : serve_places_yielding(&http->places, &client);
    if (yielding)
        end_place(yielding);
    for (int i = 0; i < RUNS_TO_CLOSE && !place; i++) { /* the library may take more than one to close a connection */
        MHD_run(http->daemon);
        place = serve_places_take(&http->places, fd, &client, now_ns);
    }
    if (!place) {
        close(fd);
        return;
    }
    http->newcomer = place;
    if (MHD_add_connection(http->daemon, fd, &peer->any, size) != MHD_YES) {
        *place = (struct serve_place){.stage = SERVE_FREE};
        http->newcomer = NULL;
    }
    MHD_run(http->daemon); /* libmicrohttpd 1.0 begins the connection in it */
    http->newcomer = NULL;
}

/* Accepts all waiting connections at once: nobody waits behind another client's connections. Returns false without
 * descriptors or memory */
static bool accept_connections(struct serve_http *http) {
    for (int i = 0; i < ACCEPTED_AT_ONCE_MAX; i++) {
        union serve_socket_address peer = {.any.sa_family = AF_UNSPEC};
        socklen_t size = sizeof(peer);
        int fd = accept4(http->listen_fd, &peer.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            add_connection(http, fd, &peer, size);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            /* descriptors are used up: ends a connection as if its place were needed */
            struct serve_place *yielding =
                serve_places_yielding(&http->places, &(struct serve_client){.is_user = false});
            if (yielding)
                end_place(yielding);
            MHD_run(http->daemon);
            return false;
        } else if (errno != ECONNABORTED && errno != EINTR) {
            break;
        }
    }
    return true;
}

/* ---- Running ------------------------------------------------------------------------------------ */

/* Answers a single request: between two answers clients can connect. */
static void answer_next(struct serve_http *http) {
    struct serve_place *next = serve_places_next(&http->places);
    if (!next)
        return;
    struct serve_place *yielding = serve_places_yielding_answer(&http->places, &next->client);
    if (yielding)
        end_place(yielding);
    next->stage = SERVE_ANSWERING;
    MHD_resume_connection(next->connection);
    MHD_run(http->daemon);
}

static int run(struct serve_http *http, int epoll_fd, int signal_fd) {
    struct pollfd polled[] = {{.fd = signal_fd, .events = POLLIN},
                              {.fd = epoll_fd, .events = POLLIN},
                              {.fd = http->listen_fd, .events = POLLIN}};
    bool can_accept = true;
    while (!(polled[0].revents & POLLIN)) {
        polled[2].fd = can_accept ? http->listen_fd : -1;
        MHD_UNSIGNED_LONG_LONG asked_ms;
        int timeout_ms =
            MHD_get_timeout(http->daemon, &asked_ms) == MHD_YES && asked_ms < TICK_MS ? (int)asked_ms : TICK_MS;
        if (serve_places_count(&http->places, SERVE_WAITING) > 0)
            timeout_ms = 0;
        if (poll(polled, ARRAY_SIZE(polled), timeout_ms) < 0 && errno != EINTR)
            return negative_errno();
        MHD_run(http->daemon);
        /* The library ends idle connections itself; these make progress, but too slowly. */
        const int64_t now_ns = read_clock_ns(CLOCK_MONOTONIC);
        for (size_t i = 0; i < http->places.count; i++)
            if (serve_places_is_late(&http->places, &http->places.places[i], now_ns))
                end_place(&http->places.places[i]);
        if (http->why)
            serve_why_read(http->why);
        can_accept = accept_connections(http);
        answer_next(http);
    }
    return 0;
}

int serve_http_run(struct serve_http *http, int signal_fd) {
    const rlim_t wanted = SERVE_CONNECTIONS_MAX + DESCRIPTORS_KEPT;
    struct rlimit limit = {.rlim_cur = 0};
    int error = -ENOMEM;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    /* So many connections leave enough descriptors for reading profiles. */
    http->places.count = limit.rlim_cur >= wanted            ? SERVE_CONNECTIONS_MAX
                         : limit.rlim_cur > DESCRIPTORS_KEPT ? limit.rlim_cur - DESCRIPTORS_KEPT
                                                             : 1;
    http->diag_fd = serve_client_open_diag();
    http->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
                                    handle_request, http, MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVE_CONNECTIONS_MAX,
                                    MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SERVE_IDLE_SECONDS,
                                    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES_MAX,
                                    MHD_OPTION_NOTIFY_CONNECTION, note_connection, http, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        http->daemon ? MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (info)
        error = run(http, info->epoll_fd, signal_fd);
    if (error)
        complain("cannot serve: %s", strerror(-error));
    /* The library must not be stopped while connections are suspended. */
    for (size_t i = 0; http->daemon && i < http->places.count; i++)
        if (http->places.places[i].stage == SERVE_WAITING)
            end_place(&http->places.places[i]);
    if (http->daemon) {
        MHD_run(http->daemon);
        MHD_stop_daemon(http->daemon);
    }
    close_fd(&http->diag_fd);
    return error;
}
