/* Names are looked up on this machine alone: a name server is who makes them lie. */
#include "serve_host.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base.h"

#define HOSTS_FILE "/etc/hosts"
#define NAME_BYTES_MAX 255 /* of a name of DNS */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

/* A host's name, without the dot that ends a full one. */
struct host_name {
    char text[NAME_BYTES_MAX + 1];
};

static bool is_port(const char *text) {
    return *text == '\0' || (*text == ':' && text[1 + strspn(text + 1, "0123456789")] == '\0');
}

static bool make_name(const char *text, size_t length, struct host_name *ret_name) {
    if (length > 0 && text[length - 1] == '.')
        length--;
    if (length == 0 || length > NAME_BYTES_MAX)
        return false;
    memcpy(ret_name->text, text, length);
    ret_name->text[length] = '\0';
    return strspn(ret_name->text, NAME_CHARACTERS) == length;
}

static bool is_ipv4(const char *text) {
    struct in_addr address;
    return inet_pton(AF_INET, text, &address) == 1;
}

/* text: in brackets, perhaps with a port behind; an address of one link names the link, behind a percent sign */
static bool is_ipv6_host(const char *text) {
    char literal[INET6_ADDRSTRLEN];
    struct in6_addr address;
    const char *end = strchr(text, ']');
    size_t length = strcspn(text + 1, "%]");
    if (!end || !is_port(end + 1) || length >= sizeof(literal))
        return false;
    memcpy(literal, text + 1, length);
    literal[length] = '\0';
    return inet_pton(AF_INET6, literal, &address) == 1;
}

static bool is_same_name(const char *a, const char *b) {
    return strcasecmp(a, b) == 0;
}

/* ---- This machine's names ----------------------------------------------------------------------- */

/* With or without its domain. */
static bool is_host_name(const char *name, const char *own) {
    const size_t short_length = strcspn(own, ".");
    return is_same_name(name, own) || (strlen(name) == short_length && strncasecmp(name, own, short_length) == 0);
}

/* Whether a line of /etc/hosts has both names. line: is taken apart */
static bool line_has_both(char *line, const char *name, const char *own) {
    bool has_name = false, has_own = false;
    char *rest = NULL;
    line[strcspn(line, "#\n")] = '\0';
    strtok_r(line, " \t", &rest); /* the address */
    for (char *word = strtok_r(NULL, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        has_name |= is_same_name(word, name);
        has_own |= is_host_name(word, own);
    }
    return has_name && has_own;
}

static bool is_listed_with(const char *name, const char *own) {
    CLEANUP_STREAM FILE *hosts = fopen(HOSTS_FILE, "re");
    CLEANUP_FREE char *line = NULL;
    size_t size_bytes = 0;
    bool is_listed = false;
    while (hosts && !is_listed && getline(&line, &size_bytes, hosts) >= 0)
        is_listed = line_has_both(line, name, own);
    return is_listed;
}

static bool is_this_machine(const char *name) {
    char own[HOST_NAME_MAX + 1] = "";
    if (gethostname(own, sizeof(own) - 1) < 0 || own[0] == '\0')
        return false;
    return is_host_name(name, own) || is_listed_with(name, own);
}

/* ---- All names ---------------------------------------------------------------------------------- */

static bool is_given(const struct option_list *names, const char *name) {
    struct host_name given;
    for (size_t i = 0; i < names->count; i++)
        if (make_name(names->texts[i], strlen(names->texts[i]), &given) && is_same_name(given.text, name))
            return true;
    return false;
}

bool serve_host_name_is_valid(const char *name) {
    struct host_name made;
    return make_name(name, strlen(name), &made) && !is_ipv4(made.text);
}

bool serve_host_is_ours(const struct option_list *names, const char *host) {
    struct host_name name;
    const size_t length = strcspn(host, ":");
    if (*host == '\0')
        return true;
    if (*host == '[')
        return is_ipv6_host(host);
    if (!is_port(host + length) || !make_name(host, length, &name))
        return false;
    return is_ipv4(name.text) || is_same_name(name.text, "localhost") || is_given(names, name.text) ||
           is_this_machine(name.text);
}
