/* Who has connected: the user who made the socket at the other end, else the address. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base.h"
#include "serve_address.h"
#include "testing.h"

#define NOBODY 65534

static int diag_fd;
static union serve_socket_address server;
static socklen_t server_size;

static void set_up(void) {
    diag_fd = serve_client_open_diag();
}

static void tear_down(void) {
    close_fd(&diag_fd);
}

static int listen_at(const char *where) {
    struct serve_address address;
    ck_assert(serve_address_parse(where, &address));
    int fd = socket(address.socket_address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    server_size = sizeof(server);
    ck_assert(fd >= 0 && bind(fd, &address.socket_address.any, address.size_bytes) == 0 && listen(fd, 4) == 0);
    ck_assert(getsockname(fd, &server.any, &server_size) == 0);
    return fd;
}

/* Connects to 127.0.0.1 of a server, whatever it listens at. */
static int connect_to(const char *host, uid_t uid) {
    union serve_socket_address to = server;
    int fd = -1;
    if (to.any.sa_family == AF_INET6) {
        to = (union serve_socket_address){
            .ipv4 = {.sin_family = AF_INET, .sin_port = server.ipv6.sin6_port, .sin_addr = {htonl(INADDR_LOOPBACK)}}};
    }
    inet_pton(AF_INET, host, &to.ipv4.sin_addr);
    ck_assert(uid == geteuid() || seteuid(uid) == 0);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert(uid == 0 || geteuid() != uid || seteuid(getuid()) == 0);
    ck_assert(connect(fd, &to.any, sizeof(to.ipv4)) == 0);
    return fd;
}

static struct serve_client client_of_next(int listener, int asked_fd) {
    union serve_socket_address peer = {.any.sa_family = AF_UNSPEC};
    socklen_t size = sizeof(peer);
    CLEANUP_FD int fd = accept(listener, &peer.any, &size);
    ck_assert_int_ge(fd, 0);
    return serve_client_of(asked_fd, fd, &peer);
}

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(a_socket_of_this_machine_is_its_user) {
    const char *servers[] = {"127.0.0.1:0", "0.0.0.0:0", "[::]:0"};
    const uid_t uid = getuid() == 0 ? NOBODY : getuid();
    for (size_t i = 0; i < ARRAY_SIZE(servers); i++) {
        CLEANUP_FD int listener = listen_at(servers[i]);
        CLEANUP_FD int own = connect_to("127.0.0.1", getuid());
        ck_assert_int_ge(own, 0);
        struct serve_client client = client_of_next(listener, diag_fd);
        ck_assert(client.is_user);
        ck_assert_uint_eq(client.uid, getuid());
        CLEANUP_FD int other = connect_to("127.0.0.1", uid);
        ck_assert_int_ge(other, 0);
        client = client_of_next(listener, diag_fd);
        ck_assert(client.is_user);
        ck_assert_uint_eq(client.uid, uid);
    }
}

TEST(a_socket_that_was_closed_is_an_address) {
    CLEANUP_FD int listener = listen_at("0.0.0.0:0");
    int own = connect_to("127.0.0.1", getuid());
    close(own);
    struct serve_client gone = client_of_next(listener, diag_fd);
    ck_assert(!gone.is_user);
    ck_assert(IN6_IS_ADDR_LOOPBACK(&gone.address));
}

TEST(without_the_kernel_all_of_loopback_is_one) {
    CLEANUP_FD int listener = listen_at("0.0.0.0:0");
    CLEANUP_FD int a = connect_to("127.0.0.1", getuid());
    CLEANUP_FD int b = connect_to("127.200.3.4", getuid());
    ck_assert(a >= 0 && b >= 0);
    struct serve_client first = client_of_next(listener, -1), second = client_of_next(listener, -1);
    ck_assert(!first.is_user);
    ck_assert(serve_client_is_same(&first, &second));
}

static struct serve_client client_at(const char *ipv6) {
    union serve_socket_address peer = {.ipv6 = {.sin6_family = AF_INET6}};
    ck_assert_int_eq(inet_pton(AF_INET6, ipv6, &peer.ipv6.sin6_addr), 1);
    return serve_client_of(-1, -1, &peer);
}

static const struct {
    const char *a;
    const char *b;
    bool is_same;
} pairs[] = {
    {"::1", "::ffff:127.0.0.1", true},
    {"::ffff:127.0.0.1", "::ffff:127.255.255.254", true},
    {"::ffff:127.0.0.1", "::ffff:128.0.0.1", false},
    {"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
    {"::ffff:192.0.2.1", "::ffff:192.0.2.1", true},
    {"2001:db8::1", "2001:db8::ffff:1:2:3", true},
    {"2001:db8::1", "2001:db8:0:1::1", false},
    {"::1", "::2", false},
};

TEST(addresses_are_told_apart, .to = (int)ARRAY_SIZE(pairs)) {
    struct serve_client a = client_at(pairs[_i].a), b = client_at(pairs[_i].b);
    ck_assert(serve_client_is_same(&a, &b) == pairs[_i].is_same);
}

TEST(a_unix_socket_is_its_user) {
    int ends[2];
    union serve_socket_address peer = {.any.sa_family = AF_UNIX};
    ck_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    struct serve_client client = serve_client_of(diag_fd, ends[0], &peer);
    ck_assert(client.is_user);
    ck_assert_uint_eq(client.uid, getuid());
    close(ends[0]);
    close(ends[1]);
}
