/* Tests that register themselves. A file of tests has no main(): it is in testing.c.
 *
 *     TEST_CASE(.set_up = make_directory, .tear_down = remove_directory);
 *     TEST(name_of_the_behaviour) { ck_assert(…); }
 *     TEST(every_size_is_exact, .to = ARRAY_SIZE(sizes)) { ck_assert(… sizes[_i] …); }
 *
 * Tests run in the order of the file, each in a process of its own. */
#ifndef TESTING_H
#define TESTING_H

#include <assert.h>
#include <check.h>
#include <stdbool.h>

struct testing_row {
    const TTest *test; /* NULL: a case, for the tests below it */
    int from;
    int to; /* the test runs with _i = from … to - 1; 0: once */
    void (*set_up)(void);
    void (*tear_down)(void);
    void (*begin)(void); /* before all tests of the case */
    void (*end)(void);
    unsigned seconds;  /* time limit of each test of the case; 0: 60 */
    bool not_memcheck; /* the test takes what valgrind needs, or measures it, too */
    int line;
    struct testing_row *next;
};

/* Adds a row, which must stay. */
void testing_add(struct testing_row *row);

/* What a file of tests may define: checks what all of its tests need. Returns false, after it has said why on stderr, if they cannot
 * run here. */
bool testing_possible(void);

/* The comma behind the arguments is for tests without any but a name. */
#define TEST(...) TESTING_TEST(__VA_ARGS__, )
#define TESTING_TEST(name, ...)                                                                                        \
    static void name##_fn(int _i);                                                                                     \
    __attribute__((constructor)) static void name##_add(void) {                                                        \
        static const TTest test = {#name, name##_fn, __FILE__, __LINE__};                                              \
        static struct testing_row row = {.test = &test, .line = __LINE__, __VA_ARGS__};                                \
        testing_add(&row);                                                                                             \
    }                                                                                                                  \
    static void name##_fn(int _i __attribute__((unused)))

#define TESTING_JOIN(a, b) a##b
#define TESTING_UNIQUE(prefix, line) TESTING_JOIN(prefix, line)
/* Begins a case: its functions run around each test below, up to the next case. */
#define TEST_CASE(...)                                                                                                 \
    __attribute__((constructor)) static void TESTING_UNIQUE(testing_case_, __LINE__)(void) {                           \
        static struct testing_row row = {.line = __LINE__, __VA_ARGS__};                                               \
        testing_add(&row);                                                                                             \
    }                                                                                                                  \
    static_assert(true, "takes the semicolon")

#endif
