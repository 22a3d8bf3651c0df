/* Asking the kernel which user a connection belongs to. */
#include "serve_client.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "base.h"

#define MAPPED_PREFIX_BYTES 12 /* of ::ffff:a.b.c.d */
#define NETWORK_PREFIX_BYTES 8 /* of an IPv6 address */
#define ANSWER_BYTES_MAX 1024  /* of a socket without extensions: about 100 */

/* ---- Addresses ---------------------------------------------------------------------------------- */

static struct in6_addr as_ipv6(const union serve_socket_address *address) {
    struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    if (address->any.sa_family == AF_INET6)
        return address->ipv6.sin6_addr;
    memcpy(mapped.s6_addr + MAPPED_PREFIX_BYTES, &address->ipv4.sin_addr, sizeof(address->ipv4.sin_addr));
    return mapped;
}

static struct serve_client client_of_address(const union serve_socket_address *peer) {
    struct serve_client client = {.address = as_ipv6(peer)};
    if (IN6_IS_ADDR_V4MAPPED(&client.address)) {
        if (client.address.s6_addr[MAPPED_PREFIX_BYTES] == IN_LOOPBACKNET)
            client.address = in6addr_loopback;
    } else if (!IN6_IS_ADDR_LOOPBACK(&client.address)) {
        memset(client.address.s6_addr + NETWORK_PREFIX_BYTES, 0, sizeof(client.address) - NETWORK_PREFIX_BYTES);
    }
    return client;
}

/* ---- Users -------------------------------------------------------------------------------------- */

struct diag_request {
    struct nlmsghdr header;
    struct inet_diag_req_v2 request;
};

static in_port_t port_of(const union serve_socket_address *address) {
    return address->any.sa_family == AF_INET6 ? address->ipv6.sin6_port : address->ipv4.sin_port;
}

/* Both are of one family, which connections through ::ffff:a.b.c.d have on both sides. */
static void put_address(const union serve_socket_address *address, __be32 ret_address[4]) {
    if (address->any.sa_family == AF_INET6)
        memcpy(ret_address, &address->ipv6.sin6_addr, sizeof(address->ipv6.sin6_addr));
    else
        memcpy(ret_address, &address->ipv4.sin_addr, sizeof(address->ipv4.sin_addr));
}

/* Asks for the socket at the peer's end: its own address is our peer, its peer is our own. */
static struct diag_request make_request(const union serve_socket_address *own, const union serve_socket_address *peer) {
    struct diag_request asked = {
        .header = {.nlmsg_len = sizeof(asked), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .request = {.sdiag_family = (__u8)peer->any.sa_family,
                    .sdiag_protocol = IPPROTO_TCP,
                    .idiag_states = UINT32_MAX,
                    .id = {.idiag_sport = port_of(peer),
                           .idiag_dport = port_of(own),
                           .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };
    put_address(peer, asked.request.id.idiag_src);
    put_address(own, asked.request.id.idiag_dst);
    return asked;
}

/* If there is no connection, the answer may be a listening socket. A socket that no process has open any more has no
 * inode, and the wrong user. */
static bool is_answer(const struct inet_diag_msg *answer, const struct diag_request *asked) {
    return answer->idiag_inode != 0 && answer->id.idiag_sport == asked->request.id.idiag_sport &&
           answer->id.idiag_dport == asked->request.id.idiag_dport;
}

/* Returns false if no process of this machine, and of this network namespace, has the peer's socket */
static bool ask_kernel(int diag_fd, const struct diag_request *asked, uid_t *ret_uid) {
    union {
        struct nlmsghdr header;
        char bytes[ANSWER_BYTES_MAX];
    } answer;
    if (send(diag_fd, asked, sizeof(*asked), 0) != (ssize_t)sizeof(*asked))
        return false;
    ssize_t size_bytes = recv(diag_fd, &answer, sizeof(answer), MSG_DONTWAIT);
    if (size_bytes < (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg)) ||
        answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return false;
    const struct inet_diag_msg *found = NLMSG_DATA(&answer.header);
    *ret_uid = found->idiag_uid;
    return is_answer(found, asked);
}

int serve_client_open_diag(void) {
    return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

static bool find_user(int diag_fd, int fd, const union serve_socket_address *peer, uid_t *ret_uid) {
    union serve_socket_address own = {.any.sa_family = AF_UNSPEC};
    socklen_t size_bytes = sizeof(own);
    if (getsockname(fd, &own.any, &size_bytes) < 0 || own.any.sa_family != peer->any.sa_family)
        return false;
    const struct diag_request asked = make_request(&own, peer);
    return ask_kernel(diag_fd, &asked, ret_uid);
}

static bool find_user_of_unix_socket(int fd, uid_t *ret_uid) {
    struct ucred credentials;
    socklen_t size_bytes = sizeof(credentials);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size_bytes) < 0)
        return false;
    *ret_uid = credentials.uid;
    return true;
}

/* ---- Clients ------------------------------------------------------------------------------------ */

struct serve_client serve_client_of(int diag_fd, int fd, const union serve_socket_address *peer) {
    struct serve_client client = {.is_user = true};
    const bool is_internet = peer->any.sa_family == AF_INET || peer->any.sa_family == AF_INET6;
    if (is_internet ? find_user(diag_fd, fd, peer, &client.uid) : find_user_of_unix_socket(fd, &client.uid))
        return client;
    return is_internet ? client_of_address(peer) : (struct serve_client){0};
}

bool serve_client_is_same(const struct serve_client *a, const struct serve_client *b) {
    return a->is_user == b->is_user && a->uid == b->uid && memcmp(&a->address, &b->address, sizeof(a->address)) == 0;
}
