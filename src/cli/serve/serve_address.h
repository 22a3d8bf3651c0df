/* The address to listen at: ADDRESS:PORT, [ADDRESS]:PORT, or the path of a socket. */
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

#endif
