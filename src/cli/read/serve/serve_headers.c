/* Parsing Host and Accept. Names of hosts are looked up on this machine alone: an attacker controls his own name
 * server. Accept has ranges of types separated by commas, each with parameters behind semicolons; unreadable ones are
 * ignored: a client that sends nonsense gets text. */
#include "serve_headers.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base.h"

/* ---- Host --------------------------------------------------------------------------------------- */

#define HOSTS_FILE "/etc/hosts"
#define NAME_BYTES_MAX 255 /* of a name of DNS */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

/* A host's name, without the final dot. */
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

/* text: in brackets, perhaps with a port behind; a link-local address names the link, behind a percent sign */
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

/* ---- This machine's names ----------------------------------------------------------------------- */

/* With or without its domain. */
static bool is_host_name(const char *name, const char *own) {
    const size_t short_length = strcspn(own, ".");
    return strcasecmp(name, own) == 0 || (strlen(name) == short_length && strncasecmp(name, own, short_length) == 0);
}

/* True if a line of /etc/hosts has both names. line: is modified */
static bool line_has_both(char *line, const char *name, const char *own) {
    bool has_name = false, has_own = false;
    char *rest = NULL;
    line[strcspn(line, "#\n")] = '\0';
    strtok_r(line, " \t", &rest); /* the address */
    for (char *word = strtok_r(NULL, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        has_name |= strcasecmp(word, name) == 0;
        has_own |= is_host_name(word, own);
    }
    return has_name && has_own;
}

/* ---- All names ---------------------------------------------------------------------------------- */

bool serve_host_name_is_valid(const char *name) {
    struct host_name made;
    return make_name(name, strlen(name), &made) && !is_ipv4(made.text);
}

bool serve_host_is_ours(const struct option_list *names, const char *host) {
    struct host_name name, given;
    char own[HOST_NAME_MAX + 1] = "";
    const size_t length = strcspn(host, ":");
    if (*host == '\0')
        return true;
    if (*host == '[')
        return is_ipv6_host(host);
    if (!is_port(host + length) || !make_name(host, length, &name))
        return false;
    if (is_ipv4(name.text) || strcasecmp(name.text, "localhost") == 0)
        return true;
    for (size_t i = 0; i < names->count; i++)
        if (make_name(names->texts[i], strlen(names->texts[i]), &given) && strcasecmp(given.text, name.text) == 0)
            return true;
    if (gethostname(own, sizeof(own) - 1) < 0 || own[0] == '\0')
        return false;
    bool is_ours = is_host_name(name.text, own);
    CLEANUP_STREAM FILE *hosts = is_ours ? NULL : fopen(HOSTS_FILE, "re");
    CLEANUP_FREE char *line = NULL;
    size_t size_bytes = 0;
    while (hosts && !is_ours && getline(&line, &size_bytes, hosts) >= 0)
        is_ours = line_has_both(line, name.text, own);
    return is_ours;
}

/* ---- Accept ------------------------------------------------------------------------------------- */

/* A piece of the header. */
struct piece {
    const char *text;
    size_t length;
};

static struct piece trim(struct piece piece) {
    while (piece.length > 0 && strchr(" \t", piece.text[0])) {
        piece.text++;
        piece.length--;
    }
    while (piece.length > 0 && strchr(" \t", piece.text[piece.length - 1]))
        piece.length--;
    return piece;
}

/* Takes the text before the first separator off the rest; returns false at the end. */
static bool next_piece(struct piece *rest, char separator, struct piece *ret_piece) {
    if (!rest->text)
        return false;
    const char *end = memchr(rest->text, separator, rest->length);
    size_t length = end ? (size_t)(end - rest->text) : rest->length;
    *ret_piece = trim((struct piece){rest->text, length});
    *rest = end ? (struct piece){end + 1, rest->length - length - 1} : (struct piece){NULL, 0};
    return true;
}

static bool is(struct piece piece, const char *text) {
    return piece.length == strlen(text) && strncasecmp(piece.text, text, piece.length) == 0;
}

static double quality_of(struct piece value) {
    char text[16] = "";
    if (value.length == 0 || value.length >= sizeof(text))
        return 0;
    memcpy(text, value.text, value.length);
    char *end;
    double quality = strtod(text, &end);
    return *end || !(quality >= 0) ? 0 : quality > 1 ? 1 : quality;
}

/* A range, without what does not matter here. */
struct range {
    struct piece type;
    struct piece version;
    struct piece proto;
    struct piece encoding;
    double quality;
};

static struct range read_range(struct piece rest) {
    struct range range = {.quality = 1};
    struct piece parameter = {0}, name = {0};
    next_piece(&rest, ';', &range.type);
    while (next_piece(&rest, ';', &parameter)) {
        next_piece(&parameter, '=', &name);
        struct piece value = trim(parameter);
        if (value.length >= 2 && value.text[0] == '"' && value.text[value.length - 1] == '"')
            value = (struct piece){value.text + 1, value.length - 2};
        if (is(name, "q"))
            range.quality = quality_of(value);
        else if (is(name, "version"))
            range.version = value;
        else if (is(name, "proto"))
            range.proto = value;
        else if (is(name, "encoding"))
            range.encoding = value;
    }
    return range;
}

/* How specific a range is that includes text; 0: it does not. */
static int text_exactness(const struct range *range) {
    if (is(range->type, "text/plain"))
        return range->version.length == 0 ? 3 : is(range->version, "0.0.4") ? 4 : 0;
    return is(range->type, "text/*") ? 2 : is(range->type, "*/*") ? 1 : 0;
}

bool serve_accept_prefers_protobuf(const char *accept) {
    struct piece rest = {accept, accept ? strlen(accept) : 0}, piece = {0};
    int text_exactness_most = 0;
    double text_quality = 0; /* from the most specific range that includes text */
    double protobuf_quality = 0;
    while (next_piece(&rest, ',', &piece)) {
        const struct range range = read_range(piece);
        const int exactness = text_exactness(&range);
        if (exactness > text_exactness_most ||
            (exactness > 0 && exactness == text_exactness_most && range.quality > text_quality)) {
            text_exactness_most = exactness;
            text_quality = range.quality;
        }
        if (is(range.type, "application/vnd.google.protobuf") && is(range.proto, "io.prometheus.client.MetricFamily") &&
            is(range.encoding, "delimited") && range.quality > protobuf_quality)
            protobuf_quality = range.quality;
    }
    return protobuf_quality > 0 && protobuf_quality >= text_quality;
}
