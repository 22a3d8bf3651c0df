/* Which client is dropped when places or answers are short, and which client is next. */

#include "base.h"
#include "serve_places.h"
#include "testing.h"

#define SECOND INT64_C(1000000000)

static const struct serve_client root = {.is_user = true, .uid = 0};
static const struct serve_client user = {.is_user = true, .uid = 1000};
static const struct serve_client other = {.is_user = true, .uid = 1001};
static struct serve_places places;

static void set_up(void) {
    places = (struct serve_places){.count = SERVE_CONNECTIONS_MAX};
}

static struct serve_place *add(const struct serve_client *client, enum serve_stage stage, int64_t began_ns) {
    struct serve_place *place = serve_places_take(&places, 7, client, began_ns);
    ck_assert_ptr_nonnull(place);
    place->stage = stage;
    return place;
}

static void add_many(size_t count, const struct serve_client *client, enum serve_stage stage, int64_t began_ns) {
    for (size_t i = 0; i < count; i++)
        add(client, stage, began_ns);
}

/* ---- Places ------------------------------------------------------------------------------------- */

TEST_CASE(.set_up = set_up);

TEST(whoever_has_most_gives_way_though_others_are_older) {
    add(&root, SERVE_READING, 1);
    add_many(SERVE_CONNECTIONS_MAX - 2, &user, SERVE_READING, 3);
    struct serve_place *oldest = add(&user, SERVE_READING, 2);
    ck_assert_ptr_null(serve_places_take(&places, 7, &root, 4));
    ck_assert_ptr_eq(serve_places_yielding(&places, &root), oldest);
    ck_assert_ptr_eq(serve_places_yielding(&places, &user), oldest);
    ck_assert_ptr_eq(serve_places_yielding(&places, &other), oldest);
}

TEST(a_newcomer_counts_among_its_own) {
    add_many(SERVE_CONNECTIONS_MAX / 2, &user, SERVE_READING, 1);
    add_many(SERVE_CONNECTIONS_MAX / 2, &other, SERVE_READING, 2);
    ck_assert(serve_client_is_same(&serve_places_yielding(&places, &other)->client, &other));
    ck_assert(serve_client_is_same(&serve_places_yielding(&places, &user)->client, &user));
    ck_assert_int_eq(serve_places_yielding(&places, &root)->began_ns, 1); /* of equals the oldest */
}

TEST(what_is_unfinished_gives_way_before_what_is_older) {
    add_many(SERVE_CONNECTIONS_MAX - 3, &user, SERVE_WAITING, 2);
    add(&user, SERVE_ANSWERING, 1);
    struct serve_place *unfinished = add(&user, SERVE_READING, 3);
    ck_assert_ptr_eq(serve_places_yielding(&places, &root), unfinished);
    unfinished->stage = SERVE_WAITING;
    ck_assert_int_eq(serve_places_yielding(&places, &root)->began_ns, 1);
}

TEST(what_is_ending_gives_way_to_nobody) {
    add_many(SERVE_CONNECTIONS_MAX, &user, SERVE_ENDING, 1);
    ck_assert_ptr_null(serve_places_yielding(&places, &root));
}

/* ---- Answers ------------------------------------------------------------------------------------ */

TEST(answers_give_way_when_they_are_many) {
    add_many(SERVE_ANSWERS_MAX - 2, &user, SERVE_ANSWERING, 2);
    add(&root, SERVE_ANSWERING, 1);
    add_many(50, &user, SERVE_READING, 1);
    ck_assert_ptr_null(serve_places_yielding_answer(&places, &root));
    struct serve_place *oldest = add(&user, SERVE_ANSWERING, 1);
    ck_assert_ptr_eq(serve_places_yielding_answer(&places, &root), oldest);
    ck_assert_ptr_eq(serve_places_yielding_answer(&places, &user), oldest);
}

TEST(the_next_is_of_who_has_fewest) {
    ck_assert_ptr_null(serve_places_next(&places));
    add_many(3, &user, SERVE_WAITING, 2);
    struct serve_place *oldest = add(&user, SERVE_WAITING, 1);
    add(&root, SERVE_READING, 1);
    ck_assert_ptr_eq(serve_places_next(&places), oldest);
    struct serve_place *late = add(&root, SERVE_WAITING, 5);
    ck_assert_ptr_eq(serve_places_next(&places), late);
}

/* ---- Time --------------------------------------------------------------------------------------- */

TEST(headers_have_a_second_while_places_are_short) {
    add_many(SERVE_CONNECTIONS_MAX / 2 - 2, &user, SERVE_READING, 0);
    struct serve_place *reading = add(&root, SERVE_READING, 0);
    ck_assert(!serve_places_is_late(&places, reading, 2 * SECOND));
    ck_assert(serve_places_is_late(&places, reading, (SERVE_CONNECTION_SECONDS + 1) * SECOND));
    struct serve_place *answering = add(&user, SERVE_ANSWERING, 0);
    ck_assert(serve_places_is_late(&places, reading, 2 * SECOND));
    ck_assert(!serve_places_is_late(&places, reading, SECOND));
    ck_assert(!serve_places_is_late(&places, answering, 2 * SECOND));
    ck_assert(serve_places_is_late(&places, answering, (SERVE_CONNECTION_SECONDS + 1) * SECOND));
    ck_assert(!serve_places_is_late(&places, &places.places[SERVE_CONNECTIONS_MAX - 1], INT64_MAX)); /* free */
}

TEST(fewer_places_are_short_sooner) {
    places.count = 4;
    struct serve_place *reading = add(&user, SERVE_READING, 0);
    ck_assert(!serve_places_is_late(&places, reading, 2 * SECOND));
    add_many(3, &user, SERVE_WAITING, 0);
    ck_assert(serve_places_is_late(&places, reading, 2 * SECOND));
    ck_assert_ptr_null(serve_places_take(&places, 7, &root, 0));
}
