/* libaggstats, inside this project: tables of the words that users type and that profiles contain. Options, completion,
 * the relations of layers and the reader of profiles use them; tests/cli/word_lists.sh checks that the manual pages and
 * the JSON schema agree.
 *
 * A table has a macro parameter for each kind of row, so that a list can leave a kind out. */
#ifndef AGGSTATS_WORDS_H
#define AGGSTATS_WORDS_H

/* clang-format off */

/* Layers, the outermost first: those for which osprof run has an option (whole), and those that come with another layer
 * (part). Fields: constant, word */
#define LAYER_ROWS(whole, part) \
    whole(USER, "user")         \
    whole(FUSE, "fuse")         \
    part(QUEUE, "queue")        \
    whole(DAEMON, "daemon")     \
    whole(FS, "fs")             \
    whole(BLOCK, "block")

/* Groupings of profiles, in the order in which they are listed.
 * caller:      a property of the caller that events files record, so recordings can be grouped by it too
 * surrounding: the caller's environment, known only from /proc while the caller lives
 * object:      a file or directory on which calls work
 * whole:       the file system of the objects; a mount has exactly one
 * Fields: constant AGGSTATS_BY_..., word, word for several groups, heading of the calls of one group, what its groups
 * are known by */
#define GROUPING_ROWS(caller, surrounding, object, whole)                              \
    caller(PROCESS, "process", "processes", "calls of", GROUPED_BY_NUMBER)             \
    caller(PROGRAM, "program", "programs", "calls of program", GROUPED_BY_NAME)        \
    surrounding(CGROUP, "cgroup", "cgroups", "calls of cgroup", GROUPED_BY_PATH)       \
    caller(UID, "uid", "users", "calls of user", GROUPED_BY_NUMBER)                    \
    object(FILE, "file", "files", "calls on file", GROUPED_BY_PATH)                    \
    object(DIRECTORY, "directory", "directories", "calls on directory", GROUPED_BY_PATH) \
    whole(FILESYSTEM, "filesystem", "file systems", "calls on file system", GROUPED_BY_PATH)

/* clang-format on */

enum grouped_by {
    GROUPED_BY_NUMBER,
    GROUPED_BY_NAME,
    GROUPED_BY_PATH, /* which may be private */
};

#define WORD_OF_LAYER(constant, word) word,
#define WORD_OF_ROW(constant, word, ...) word,
#define BIT_OF_GROUPING(constant, ...) | 1U << AGGSTATS_BY_##constant
#define ONE_OF_ROW(...) +1
#define NOTHING_OF_ROW(...)

/* Lists of words for initializers, each followed by a comma. */
#define LAYER_WORDS LAYER_ROWS(WORD_OF_LAYER, WORD_OF_LAYER)
#define LAYER_WORDS_OF_RUN LAYER_ROWS(WORD_OF_LAYER, NOTHING_OF_ROW)
#define GROUPING_WORDS GROUPING_ROWS(WORD_OF_ROW, WORD_OF_ROW, WORD_OF_ROW, WORD_OF_ROW)
#define GROUPING_WORDS_OF_MOUNTS GROUPING_ROWS(WORD_OF_ROW, WORD_OF_ROW, WORD_OF_ROW, NOTHING_OF_ROW)
#define GROUPING_WORDS_OF_CALLERS GROUPING_ROWS(WORD_OF_ROW, NOTHING_OF_ROW, NOTHING_OF_ROW, NOTHING_OF_ROW)
#define GROUPING_WORDS_OF_EVENTS GROUPING_ROWS(WORD_OF_ROW, NOTHING_OF_ROW, WORD_OF_ROW, NOTHING_OF_ROW)

/* The groupings that mounts know, as bits (1 << AGGSTATS_BY_PROCESS). */
#define GROUPINGS_OF_MOUNTS (0U GROUPING_ROWS(BIT_OF_GROUPING, BIT_OF_GROUPING, BIT_OF_GROUPING, NOTHING_OF_ROW))

/* The groupings that events know, as bits (1 << AGGSTATS_BY_PROCESS). */
#define GROUPINGS_OF_EVENTS (0U GROUPING_ROWS(BIT_OF_GROUPING, NOTHING_OF_ROW, BIT_OF_GROUPING, NOTHING_OF_ROW))

/* What the length of an interval must be: AGGSTATS_INTERVAL_MIN_NS to _MAX_NS. */
#define AGGSTATS_INTERVAL_RULE "must be a time from 10ms to 24h, such as 100ms or 0.5s"

#define LAYER_COUNT (0 LAYER_ROWS(ONE_OF_ROW, ONE_OF_ROW))
#define GROUPING_COUNT (0 GROUPING_ROWS(ONE_OF_ROW, ONE_OF_ROW, ONE_OF_ROW, ONE_OF_ROW))

#endif
