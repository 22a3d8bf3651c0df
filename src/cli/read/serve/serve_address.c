/* Listening sockets, and asking the kernel which user a connection belongs to. */
#include "serve_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "command.h"

#define BACKLOG 4096           /* of connections not accepted yet: as many as the kernel allows, up to this */
#define MAPPED_PREFIX_BYTES 12 /* of ::ffff:a.b.c.d */
#define NETWORK_PREFIX_BYTES 8 /* of an IPv6 address */
#define ANSWER_BYTES_MAX 1024  /* of a socket without extensions: about 100 */

/* ---- Addresses as text -------------------------------------------------------------------------- */

/* An address and a port. host: modified */
static bool parse_internet(char *host, const char *port, struct serve_address *address) {
    union serve_socket_address *socket_address = &address->socket_address;
    const size_t length = strlen(port);
    const size_t host_length = strlen(host);
    if (length == 0 || length > 5 || strspn(port, "0123456789") != length || strtol(port, NULL, 10) > UINT16_MAX)
        return false;
    const in_port_t number = htons((uint16_t)strtol(port, NULL, 10));
    if (host[0] != '[') {
        socket_address->ipv4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = number};
        address->size_bytes = sizeof(socket_address->ipv4);
        return inet_pton(AF_INET, host, &socket_address->ipv4.sin_addr) == 1;
    }
    if (host_length < 2 || host[host_length - 1] != ']')
        return false;
    host[host_length - 1] = '\0';
    socket_address->ipv6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = number};
    address->size_bytes = sizeof(socket_address->ipv6);
    return inet_pton(AF_INET6, host + 1, &socket_address->ipv6.sin6_addr) == 1;
}

bool serve_address_parse(const char *text, struct serve_address *ret_address) {
    struct serve_address address = {.text = text};
    struct sockaddr_un *local = &address.socket_address.local;
    char host[INET6_ADDRSTRLEN + 3];
    const char *colon = strrchr(text, ':');
    bool is_valid = false;
    if (strchr(text, '/')) {
        is_valid = strlen(text) < sizeof(local->sun_path);
        local->sun_family = AF_UNIX;
        address.size_bytes = sizeof(*local);
        snprintf(local->sun_path, sizeof(local->sun_path), "%s", text);
    } else if (colon && (size_t)(colon - text) < sizeof(host)) {
        memcpy(host, text, (size_t)(colon - text));
        host[colon - text] = '\0';
        is_valid = parse_internet(host, colon + 1, &address);
    }
    if (is_valid)
        *ret_address = address;
    return is_valid;
}

/* ---- Listening ---------------------------------------------------------------------------------- */

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
    const int on = 1;
    struct serve_listener listener = {.fd = -1};
    const int family = address->socket_address.any.sa_family;
    CLEANUP_FD int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = fd < 0 ? negative_errno() : 0;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (!error)
        error = try_to_bind(fd, address);
    if (error == -EADDRINUSE && is_left_behind(address) && unlink(address->text) == 0)
        error = try_to_bind(fd, address);
    if (!error && listen(fd, BACKLOG) < 0)
        error = negative_errno();
    listener.fd = fd;
    if (!error)
        error = make_url(address, &listener);
    if (error) {
        complain("cannot listen on %s: %s; --listen chooses another address", address->text, strerror(-error));
        return error;
    }
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

/* ---- Clients ------------------------------------------------------------------------------------ */

static struct serve_client client_of_address(const union serve_socket_address *peer) {
    struct serve_client client = {.address.s6_addr = {[10] = 0xff, [11] = 0xff}};
    if (peer->any.sa_family == AF_INET6)
        client.address = peer->ipv6.sin6_addr;
    else
        memcpy(client.address.s6_addr + MAPPED_PREFIX_BYTES, &peer->ipv4.sin_addr, sizeof(peer->ipv4.sin_addr));
    if (IN6_IS_ADDR_V4MAPPED(&client.address)) {
        if (client.address.s6_addr[MAPPED_PREFIX_BYTES] == IN_LOOPBACKNET)
            client.address = in6addr_loopback;
    } else if (!IN6_IS_ADDR_LOOPBACK(&client.address)) {
        memset(client.address.s6_addr + NETWORK_PREFIX_BYTES, 0, sizeof(client.address) - NETWORK_PREFIX_BYTES);
    }
    return client;
}

static void put_address(const union serve_socket_address *address, __be16 *ret_port, __be32 ret_address[4]) {
    *ret_port = address->any.sa_family == AF_INET6 ? address->ipv6.sin6_port : address->ipv4.sin_port;
    if (address->any.sa_family == AF_INET6)
        memcpy(ret_address, &address->ipv6.sin6_addr, sizeof(address->ipv6.sin6_addr));
    else
        memcpy(ret_address, &address->ipv4.sin_addr, sizeof(address->ipv4.sin_addr));
}

/* Asks for the socket at the peer's end: its own address is our peer, its peer is our own. Both are of one family, which
 * connections through ::ffff:a.b.c.d have on both sides.
 * Returns false if no process of this machine, and of this network namespace, has the peer's socket */
static bool find_user(int diag_fd, int fd, const union serve_socket_address *peer, uid_t *ret_uid) {
    union serve_socket_address own = {.any.sa_family = AF_UNSPEC};
    socklen_t own_bytes = sizeof(own);
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } asked = {
        .header = {.nlmsg_len = sizeof(asked), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .request = {.sdiag_family = (__u8)peer->any.sa_family,
                    .sdiag_protocol = IPPROTO_TCP,
                    .idiag_states = UINT32_MAX,
                    .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
    };
    union {
        struct nlmsghdr header;
        char bytes[ANSWER_BYTES_MAX];
    } answer;
    if (getsockname(fd, &own.any, &own_bytes) < 0 || own.any.sa_family != peer->any.sa_family)
        return false;
    struct inet_diag_sockid *id = &asked.request.id;
    put_address(peer, &id->idiag_sport, id->idiag_src);
    put_address(&own, &id->idiag_dport, id->idiag_dst);
    if (send(diag_fd, &asked, sizeof(asked), 0) != (ssize_t)sizeof(asked))
        return false;
    ssize_t size_bytes = recv(diag_fd, &answer, sizeof(answer), MSG_DONTWAIT);
    if (size_bytes < (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg)) ||
        answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return false;
    const struct inet_diag_msg *found = NLMSG_DATA(&answer.header);
    *ret_uid = found->idiag_uid;
    /* If there is no connection, the answer may be a listening socket. A socket that no process has open any more has no
     * inode, and the wrong user. */
    return found->idiag_inode != 0 && found->id.idiag_sport == id->idiag_sport &&
           found->id.idiag_dport == id->idiag_dport;
}

int serve_client_open_diag(void) {
    return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

struct serve_client serve_client_of(int diag_fd, int fd, const union serve_socket_address *peer) {
    struct serve_client client = {.is_user = true};
    struct ucred credentials;
    socklen_t size_bytes = sizeof(credentials);
    const bool is_internet = peer->any.sa_family == AF_INET || peer->any.sa_family == AF_INET6;
    if (is_internet)
        return find_user(diag_fd, fd, peer, &client.uid) ? client : client_of_address(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size_bytes) < 0)
        return (struct serve_client){0};
    client.uid = credentials.uid;
    return client;
}

bool serve_client_is_same(const struct serve_client *a, const struct serve_client *b) {
    return a->is_user == b->is_user && a->uid == b->uid && memcmp(&a->address, &b->address, sizeof(a->address)) == 0;
}
