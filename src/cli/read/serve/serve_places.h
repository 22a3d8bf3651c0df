/* The places for connections, and which connection is ended when there are too few.
 *
 * Invariants:
 *   - A new connection always gets a place. If all are taken, a connection of the client with most of them is ended, so
 *     that no client, however many connections it has, takes places from one that has few.
 *   - The same is true of answers that are being sent, of which there are fewer places, since answers are large. */
#ifndef SERVE_PLACES_H
#define SERVE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve_address.h"

#define SERVE_CONNECTIONS_MAX 128
#define SERVE_ANSWERS_MAX 16
#define SERVE_HEADER_SECONDS 1 /* if at least half of the places are taken */
#define SERVE_CONNECTION_SECONDS 20

struct MHD_Connection;

/* The progress of a connection. */
enum serve_stage {
    SERVE_FREE,      /* there is none here */
    SERVE_READING,   /* it has not sent all its headers */
    SERVE_WAITING,   /* for its turn to be answered */
    SERVE_ANSWERING, /* an answer is being sent */
    SERVE_ENDING,    /* it has been shut down, and is about to be closed */
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
    size_t count; /* of usable places: fewer if the process may open few files */
};

/* Gives a free place to a connection. Returns NULL if there is none */
struct serve_place *serve_places_take(struct serve_places *places, int fd, const struct serve_client *client,
                                      int64_t now_ns);

size_t serve_places_count(const struct serve_places *places, enum serve_stage stage);

/* Which connection to end for a new one of this client: of the client with most places, including the new one, the
 * oldest that has not sent all its headers; if there is none, the oldest of that client. Clients with equally many
 * count as one.
 * Returns NULL if all places are free or ending */
struct serve_place *serve_places_yielding(struct serve_places *places, const struct serve_client *client);

/* Which answer to end for another one to this client: the oldest of the client with most answers, including the new
 * one.
 * Returns NULL if there are fewer than SERVE_ANSWERS_MAX */
struct serve_place *serve_places_yielding_answer(struct serve_places *places, const struct serve_client *client);

/* The next connection to answer: the oldest of the client with fewest places, so that many requests of one client do
 * not delay those of another. Returns NULL if none waits */
struct serve_place *serve_places_next(struct serve_places *places);

/* True if a connection's time is over. */
bool serve_places_is_late(const struct serve_places *places, const struct serve_place *place, int64_t now_ns);

#endif
