/* Reading Accept: ranges of types with commas between, each with parameters behind semicolons. What cannot be read is
 * passed over: a client that says nonsense gets text. */
#include "serve_accept.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A piece of the header. */
struct piece {
    const char *text;
    size_t length;
};

/* What is accepted of one format, by the range that names it most exactly. */
struct liking {
    int exactness; /* 0: no range names it */
    double quality;
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

/* Takes what stands before the first separator off the rest; false: there is nothing any more. */
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

static struct piece unquote(struct piece value) {
    bool is_quoted = value.length >= 2 && value.text[0] == '"' && value.text[value.length - 1] == '"';
    return is_quoted ? (struct piece){value.text + 1, value.length - 2} : value;
}

/* A range, as far as it matters here. */
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
        struct piece value = unquote(trim(parameter));
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

static void like(struct liking *liking, int exactness, double quality) {
    if (exactness > liking->exactness || (exactness == liking->exactness && quality > liking->quality))
        *liking = (struct liking){exactness, quality};
}

static int text_exactness(const struct range *range) {
    if (is(range->type, "text/plain"))
        return range->version.length == 0 ? 3 : is(range->version, "0.0.4") ? 4 : 0;
    return is(range->type, "text/*") ? 2 : is(range->type, "*/*") ? 1 : 0;
}

static bool is_protobuf(const struct range *range) {
    return is(range->type, "application/vnd.google.protobuf") &&
           is(range->proto, "io.prometheus.client.MetricFamily") && is(range->encoding, "delimited");
}

bool serve_accept_prefers_protobuf(const char *accept) {
    struct piece rest = {accept, accept ? strlen(accept) : 0}, piece = {0};
    struct liking text = {0, 0}, protobuf = {0, 0};
    while (next_piece(&rest, ',', &piece)) {
        const struct range range = read_range(piece);
        if (text_exactness(&range) > 0)
            like(&text, text_exactness(&range), range.quality);
        if (is_protobuf(&range))
            like(&protobuf, 1, range.quality);
    }
    return protobuf.quality > 0 && protobuf.quality >= text.quality;
}
