/* The client of a connection, for sharing places: a user of this machine, or an address. */
#ifndef SERVE_CLIENT_H
#define SERVE_CLIENT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/types.h>

#include "serve_address.h"

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
