/* Places for connections: some hundred at most, so linear searches suffice. */
#include "serve_places.h"

#include "base.h"

/* Which places a choice considers. */
typedef bool (*place_filter)(const struct serve_place *place);

static bool is_open(const struct serve_place *place) {
    return place->stage != SERVE_FREE && place->stage != SERVE_ENDING;
}

static bool is_reading(const struct serve_place *place) {
    return place->stage == SERVE_READING;
}

static bool is_answering(const struct serve_place *place) {
    return place->stage == SERVE_ANSWERING;
}

static size_t count_of_client(const struct serve_places *places, const struct serve_client *client,
                              place_filter filter) {
    size_t count = 0;
    for (size_t i = 0; i < places->count; i++)
        count += filter(&places->places[i]) && serve_client_is_same(&places->places[i].client, client);
    return count;
}

/* The number of places that a client has, or would have with a new connection. */
static size_t share_of(const struct serve_places *places, const struct serve_client *client,
                       const struct serve_client *newcomer, place_filter filter) {
    return count_of_client(places, client, filter) + serve_client_is_same(client, newcomer);
}

/* The oldest place considered, of a client whose share is this large. */
static struct serve_place *oldest_of_share(struct serve_places *places, const struct serve_client *newcomer,
                                           place_filter counted, size_t share, place_filter filter) {
    struct serve_place *oldest = NULL;
    for (size_t i = 0; i < places->count; i++) {
        struct serve_place *place = &places->places[i];
        if (filter(place) && (!oldest || place->began_ns < oldest->began_ns) &&
            share_of(places, &place->client, newcomer, counted) == share)
            oldest = place;
    }
    return oldest;
}

/* The largest number of considered places of a client. */
static size_t largest_share(const struct serve_places *places, const struct serve_client *newcomer,
                            place_filter filter) {
    size_t largest = 0;
    for (size_t i = 0; i < places->count; i++) {
        const struct serve_place *place = &places->places[i];
        size_t share = filter(place) ? share_of(places, &place->client, newcomer, filter) : 0;
        largest = share > largest ? share : largest;
    }
    return largest;
}

struct serve_place *serve_places_take(struct serve_places *places, int fd, const struct serve_client *client,
                                      int64_t now_ns) {
    for (size_t i = 0; i < places->count; i++) {
        struct serve_place *place = &places->places[i];
        if (place->stage != SERVE_FREE)
            continue;
        *place = (struct serve_place){.stage = SERVE_READING, .fd = fd, .client = *client, .began_ns = now_ns};
        return place;
    }
    return NULL;
}

size_t serve_places_count(const struct serve_places *places, enum serve_stage stage) {
    size_t count = 0;
    for (size_t i = 0; i < places->count; i++)
        count += places->places[i].stage == stage;
    return count;
}

struct serve_place *serve_places_yielding(struct serve_places *places, const struct serve_client *client) {
    const size_t share = largest_share(places, client, is_open);
    struct serve_place *unfinished = oldest_of_share(places, client, is_open, share, is_reading);
    return unfinished ? unfinished : oldest_of_share(places, client, is_open, share, is_open);
}

struct serve_place *serve_places_yielding_answer(struct serve_places *places, const struct serve_client *client) {
    if (serve_places_count(places, SERVE_ANSWERING) < SERVE_ANSWERS_MAX)
        return NULL;
    return oldest_of_share(places, client, is_answering, largest_share(places, client, is_answering), is_answering);
}

struct serve_place *serve_places_next(struct serve_places *places) {
    struct serve_place *next = NULL;
    size_t smallest = SIZE_MAX;
    for (size_t i = 0; i < places->count; i++) {
        struct serve_place *place = &places->places[i];
        size_t share = place->stage == SERVE_WAITING ? count_of_client(places, &place->client, is_open) : SIZE_MAX;
        if (share < smallest || (share == smallest && next && place->began_ns < next->began_ns)) {
            smallest = share;
            next = place;
        }
    }
    return next;
}

bool serve_places_is_late(const struct serve_places *places, const struct serve_place *place, int64_t now_ns) {
    const size_t taken = places->count - serve_places_count(places, SERVE_FREE);
    const bool is_hurried = place->stage == SERVE_READING && taken >= places->count / 2;
    const int64_t seconds = is_hurried ? SERVE_HEADER_SECONDS : SERVE_CONNECTION_SECONDS;
    return is_open(place) && now_ns - place->began_ns > seconds * NS_PER_S;
}
