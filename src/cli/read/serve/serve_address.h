/* The address to listen at: ADDRESS:PORT, [ADDRESS]:PORT, or the path of a socket. The client of a connection, for
 * sharing places: a user of this machine, or an address. */
#ifndef SERVE_ADDRESS_H
#define SERVE_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define SERVE_URL_SIZE (sizeof(((struct sockaddr_un *)NULL)->sun_path) + 32)

/* Prometheus' list of ports for exporters has 9100 to 9999, nearly all taken, and goes on at 10000. */
#define SERVE_DEFAULT_ADDRESS "127.0.0.1:19435"

union serve_socket_address {
    struct sockaddr any;
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
    struct sockaddr_un local;
};

struct serve_address {
    const char *text; /* as given by the user; borrowed */
    union serve_socket_address socket_address;
    socklen_t size_bytes;
};

/* Returns false if the text is no such address. Names of hosts are not looked up. */
bool serve_address_parse(const char *text, struct serve_address *ret_address);

/* A listening socket. */
struct serve_listener {
    int fd;
    char url[SERVE_URL_SIZE]; /* of the metrics, with the port that was chosen */
    const char *path;         /* of a socket in the file system, removed at the end; borrowed; NULL: there is none */
    struct stat made;         /* the socket as it was made: another one in its place is left alone */
};

/* Listens. A socket in the file system is for its owner alone (mode 0600); one left behind by a process that has ended
 * is replaced.
 * Owner:   the caller finishes *ret_listener
 * Errors:  the failed call's, already reported to the user */
int serve_listener_open(const struct serve_address *address, struct serve_listener *ret_listener);

void serve_listener_finish(struct serve_listener *listener);

/* ---- Clients ---- */

struct serve_client {
    bool is_user;            /* if false, an address */
    uid_t uid;               /* 0 for an address */
    struct in6_addr address; /* IPv4 as ::ffff:a.b.c.d; zeroed for a user */
};

/* A socket for asking the kernel for users, to be kept: descriptors may be used up when a client connects. Returns -1
 * if it cannot be opened; then all clients are addresses */
int serve_client_open_diag(void);

/* Finds the client of a connection. On this machine it is the user who made the peer's socket, according to the kernel:
 * sock_diag(7) for TCP, SO_PEERCRED for Unix sockets. Otherwise, and if the process has closed its socket, it is the
 * address: for IPv6 the first 64 bits, since a machine may have any number of addresses below them; 127.0.0.0/8 and ::1
 *   are one client.
 * diag_fd: of serve_client_open_diag()
 * fd:      a connection
 * peer:    its peer, from accept(2) */
struct serve_client serve_client_of(int diag_fd, int fd, const union serve_socket_address *peer);

bool serve_client_is_same(const struct serve_client *a, const struct serve_client *b);

#endif
