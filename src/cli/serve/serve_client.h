/* Who is at the other end of a connection, as far as shares are concerned: a user of this machine, or an address. */
#ifndef SERVE_CLIENT_H
#define SERVE_CLIENT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/types.h>

#include "serve_address.h"

struct serve_client {
    bool is_user;            /* else an address */
    uid_t uid;               /* 0 of an address */
    struct in6_addr address; /* IPv4 as ::ffff:a.b.c.d; zeroed of a user */
};

/* A socket for asking the kernel for users, to be kept: descriptors may be short when somebody connects. Returns -1 if
 * it cannot be asked; then all clients are addresses */
int serve_client_open_diag(void);

/* Finds who has connected. A peer on this machine is the user who made its socket, as the kernel says of TCP sockets
 * (sock_diag(7)) and of Unix sockets (SO_PEERCRED). Any other peer, and one whose process has closed its socket, is its
 * address: of IPv6 the first 64 bits, since one machine has as many addresses as it likes below them; 127.0.0.0/8 and
 * ::1 are one.
 * diag_fd: of serve_client_open_diag()
 * fd:      a connection
 * peer:    its peer, as accept(2) tells it */
struct serve_client serve_client_of(int diag_fd, int fd, const union serve_socket_address *peer);

bool serve_client_is_same(const struct serve_client *a, const struct serve_client *b);

#endif
