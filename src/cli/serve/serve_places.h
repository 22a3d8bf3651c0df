/* The places for connections, and who gives way when they are short.
 *
 * Invariants:
 *   - A newcomer always gets a place. When all are taken, a connection of the client that has most of them gives way,
 *     so that no client, with however many connections, takes places from one that has few.
 *   - The same holds for answers that are being sent, of which there are fewer, since they are large. */
#ifndef SERVE_PLACES_H
#define SERVE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve_client.h"

#define SERVE_CONNECTIONS_MAX 128
#define SERVE_ANSWERS_MAX 16
#define SERVE_HEADER_SECONDS 1 /* while places are short: half of them are taken */
#define SERVE_CONNECTION_SECONDS 20

struct MHD_Connection;

/* How far a connection has come. */
enum serve_stage {
    SERVE_FREE,      /* there is none here */
    SERVE_READING,   /* its headers have not all come */
    SERVE_WAITING,   /* for its turn to be answered */
    SERVE_ANSWERING, /* an answer is being sent */
    SERVE_ENDING,    /* it has been shut down, and is being forgotten */
};

struct serve_place {
    enum serve_stage stage;
    int fd; /* borrowed */
    struct serve_client client;
    int64_t began_ns; /* CLOCK_MONOTONIC */
    struct MHD_Connection *connection;
};

struct serve_places {
    struct serve_place places[SERVE_CONNECTIONS_MAX];
    size_t count; /* of those that may be taken: fewer where the process may open few files */
};

/* Gives a free place to a connection. Returns NULL if there is none */
struct serve_place *serve_places_take(struct serve_places *places, int fd, const struct serve_client *client,
                                      int64_t now_ns);

size_t serve_places_count(const struct serve_places *places, enum serve_stage stage);

/* Which connection gives way to a newcomer of this client: among those of the client that has most places, the newcomer
 * counted, the oldest whose headers have not all come; if there is none, the oldest of that client. Clients that have
 * equally many count as one. Returns NULL if all places are free or ending */
struct serve_place *serve_places_yielding(struct serve_places *places, const struct serve_client *client);

/* Which answer gives way to another one for this client: the oldest of the client for which most are being sent, the
 * new one counted. Returns NULL if there are fewer than SERVE_ANSWERS_MAX */
struct serve_place *serve_places_yielding_answer(struct serve_places *places, const struct serve_client *client);

/* The next connection to be answered: the oldest of the client that has fewest places, so that many requests of one
 * client do not delay those of another. Returns NULL if none waits */
struct serve_place *serve_places_next(struct serve_places *places);

/* Whether a connection has had its time. */
bool serve_places_is_late(const struct serve_places *places, const struct serve_place *place, int64_t now_ns);

#endif
