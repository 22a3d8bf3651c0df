/* Listening sockets. */
#include "serve_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "command.h"

#define BACKLOG 4096 /* of connections not accepted yet: as many as the kernel allows, up to this */

/* ---- Addresses as text -------------------------------------------------------------------------- */

static bool parse_port(const char *text, in_port_t *ret_port) {
    size_t length = strlen(text);
    if (length == 0 || length > 5 || strspn(text, "0123456789") != length)
        return false;
    long port = strtol(text, NULL, 10);
    *ret_port = htons((uint16_t)port);
    return port <= UINT16_MAX;
}

static bool parse_path(const char *text, struct serve_address *address) {
    struct sockaddr_un *local = &address->socket_address.local;
    if (strlen(text) >= sizeof(local->sun_path))
        return false;
    local->sun_family = AF_UNIX;
    memcpy(local->sun_path, text, strlen(text) + 1);
    address->size_bytes = sizeof(*local);
    return true;
}

static bool parse_ipv4(const char *host, in_port_t port, struct serve_address *address) {
    struct sockaddr_in *internet = &address->socket_address.ipv4;
    internet->sin_family = AF_INET;
    internet->sin_port = port;
    address->size_bytes = sizeof(*internet);
    return inet_pton(AF_INET, host, &internet->sin_addr) == 1;
}

/* host: in brackets */
static bool parse_ipv6(char *host, in_port_t port, struct serve_address *address) {
    struct sockaddr_in6 *internet = &address->socket_address.ipv6;
    size_t length = strlen(host);
    if (length < 2 || host[length - 1] != ']')
        return false;
    host[length - 1] = '\0';
    internet->sin6_family = AF_INET6;
    internet->sin6_port = port;
    address->size_bytes = sizeof(*internet);
    return inet_pton(AF_INET6, host + 1, &internet->sin6_addr) == 1;
}

bool serve_address_parse(const char *text, struct serve_address *ret_address) {
    struct serve_address address = {.text = text};
    char host[INET6_ADDRSTRLEN + 3];
    const char *colon = strrchr(text, ':');
    in_port_t port;
    bool is_valid = false;
    if (strchr(text, '/')) {
        is_valid = parse_path(text, &address);
    } else if (colon && (size_t)(colon - text) < sizeof(host) && parse_port(colon + 1, &port)) {
        memcpy(host, text, (size_t)(colon - text));
        host[colon - text] = '\0';
        is_valid = host[0] == '[' ? parse_ipv6(host, port, &address) : parse_ipv4(host, port, &address);
    }
    if (is_valid)
        *ret_address = address;
    return is_valid;
}

/* ---- Listening ---------------------------------------------------------------------------------- */

static int complain_deaf(const struct serve_address *address, int error) {
    complain("cannot listen on %s: %s; --listen chooses another address", address->text, strerror(-error));
    return error;
}

static int try_to_bind(int fd, const struct serve_address *address) {
    mode_t mask = umask(0177); /* of a socket in the file system */
    int error = bind(fd, &address->socket_address.any, address->size_bytes) < 0 ? negative_errno() : 0;
    umask(mask);
    return error;
}

/* True if there is a socket at which nobody listens any more. */
static bool is_left_behind(const struct serve_address *address) {
    struct stat found;
    CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return address->socket_address.any.sa_family == AF_UNIX && fd >= 0 && lstat(address->text, &found) == 0 &&
           S_ISSOCK(found.st_mode) && connect(fd, &address->socket_address.any, address->size_bytes) < 0 &&
           errno == ECONNREFUSED;
}

static int bind_and_listen(int fd, const struct serve_address *address) {
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    int error = try_to_bind(fd, address);
    if (error == -EADDRINUSE && is_left_behind(address) && unlink(address->text) == 0)
        error = try_to_bind(fd, address);
    if (!error && listen(fd, BACKLOG) < 0)
        error = negative_errno();
    return error;
}

/* With the port that the system has chosen, if it was to choose. */
static int make_url(const struct serve_address *address, struct serve_listener *listener) {
    union serve_socket_address bound = {.any.sa_family = AF_UNSPEC};
    socklen_t size_bytes = sizeof(bound);
    char host[INET6_ADDRSTRLEN] = "";
    if (address->socket_address.any.sa_family == AF_UNIX) {
        snprintf(listener->url, sizeof(listener->url), "unix:%s", address->text);
        return 0;
    }
    if (getsockname(listener->fd, &bound.any, &size_bytes) < 0)
        return negative_errno();
    if (bound.any.sa_family == AF_INET) {
        inet_ntop(AF_INET, &bound.ipv4.sin_addr, host, sizeof(host));
        snprintf(listener->url, sizeof(listener->url), "http://%s:%u/metrics", host, ntohs(bound.ipv4.sin_port));
    } else {
        inet_ntop(AF_INET6, &bound.ipv6.sin6_addr, host, sizeof(host));
        snprintf(listener->url, sizeof(listener->url), "http://[%s]:%u/metrics", host, ntohs(bound.ipv6.sin6_port));
    }
    return 0;
}

int serve_listener_open(const struct serve_address *address, struct serve_listener *ret_listener) {
    struct serve_listener listener = {.fd = -1};
    const int family = address->socket_address.any.sa_family;
    CLEANUP_FD int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? negative_errno() : bind_and_listen(fd, address);
    listener.fd = fd;
    if (!error)
        error = make_url(address, &listener);
    if (error)
        return complain_deaf(address, error);
    if (family == AF_UNIX && lstat(address->text, &listener.made) == 0)
        listener.path = address->text;
    steal_fd(&fd);
    *ret_listener = listener;
    return 0;
}

void serve_listener_finish(struct serve_listener *listener) {
    struct stat found;
    close_fd(&listener->fd);
    if (listener->path && lstat(listener->path, &found) == 0 && found.st_dev == listener->made.st_dev &&
        found.st_ino == listener->made.st_ino)
        unlink(listener->path);
    listener->path = NULL;
}
