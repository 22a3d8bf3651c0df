/* Round trips to another machine, as unprivileged programs can measure them. */
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base.h"
#include "measure.h"

#define TIMEOUT_SECONDS 2
#define CONNECTIONS_MAX 50U /* a server may take more for an attack */
#define PAUSE_NS 5000000

struct peer {
    struct addrinfo *addresses;
};

/* Splits "[ADDRESS]:PORT" or "HOST:PORT". */
static int split(char *name, char **ret_host, char **ret_port) {
    char *colon = strrchr(name, ':');
    if (!colon || colon == name || colon[1] == '\0')
        return EAI_NONAME;
    *colon = '\0';
    *ret_port = colon + 1;
    *ret_host = name;
    if (name[0] == '[' && colon[-1] == ']') {
        colon[-1] = '\0';
        *ret_host = name + 1;
    } else if (strchr(name, ':')) {
        return EAI_NONAME; /* ambiguous: it has several colons */
    }
    return 0;
}

/* A service's name, or a number; getaddrinfo() accepts numbers of any size. */
static bool is_port(const char *port) {
    if (port[strspn(port, "0123456789")] != '\0')
        return true;
    unsigned long number = strtoul(port, NULL, 10);
    return number > 0 && number <= UINT16_MAX;
}

int peer_find(const char *name, struct peer **ret_peer) {
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
    CLEANUP_FREE char *copy = strdup(name);
    CLEANUP_FREE struct peer *peer = calloc(1, sizeof(*peer));
    char *host;
    char *port;
    if (!copy || !peer)
        return EAI_MEMORY;
    int error = split(copy, &host, &port);
    if (!error && !is_port(port))
        error = EAI_SERVICE;
    if (!error)
        error = getaddrinfo(host, port, &wanted, &peer->addresses);
    if (error)
        return error;
    *ret_peer = steal_pointer(&peer);
    return 0;
}

void peer_destroy(struct peer *peer) {
    if (!peer)
        return;
    freeaddrinfo(peer->addresses);
    free(peer);
}

/* ---- Connecting --------------------------------------------------------------------------------- */

/* A socket that does not wait for ever for an answer, and leaves nothing behind when it is closed. */
static int open_socket(const struct addrinfo *address) {
    const struct timeval timeout = {.tv_sec = TIMEOUT_SECONDS};
    const struct linger reset = {.l_onoff = 1};
    CLEANUP_FD int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) < 0)
        return negative_errno();
    return steal_fd(&fd);
}

static int connect_once(const struct effort *effort, const struct addrinfo *address, struct samples *samples) {
    const struct aggstats_clock *clock = &effort->clock;
    CLEANUP_FD int fd = open_socket(address);
    if (fd < 0)
        return fd;
    uint64_t before = aggstats_clock_now(clock->kind);
    int error = connect(fd, address->ai_addr, address->ai_addrlen) < 0 ? negative_errno() : 0;
    uint64_t after = aggstats_clock_now(clock->kind);
    if (error == -EINPROGRESS || error == -EAGAIN)
        return -ETIMEDOUT;
    if (error && error != -ECONNREFUSED) /* a refusal is an answer */
        return error;
    samples_add(samples, measure_ns(clock, after - before));
    return 0;
}

static int connect_often(const struct effort *effort, const struct addrinfo *address, struct samples *ret_samples) {
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const uint64_t deadline = measure_deadline(&effort->clock, effort->seconds_max);
    int error = 0;
    ret_samples->count = 0;
    do {
        error = connect_once(effort, address, ret_samples);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    } while (!error && ret_samples->count < effort->sample_count && ret_samples->count < CONNECTIONS_MAX &&
             aggstats_clock_now(effort->clock.kind) < deadline);
    return error;
}

int measure_round_trip(const struct effort *effort, const struct peer *peer, struct samples *ret_samples) {
    int error = -ENODATA;
    for (const struct addrinfo *address = peer->addresses; address && error; address = address->ai_next)
        error = connect_often(effort, address, ret_samples);
    return error;
}
