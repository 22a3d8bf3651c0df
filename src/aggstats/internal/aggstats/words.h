/* libaggstats, inside this project: tables of the words that users type and that profiles contain. Options, completion,
 * import, the relations of layers and the reader of profiles use them; tests/cli/word_lists.sh checks that the manual
 * pages and the JSON schema agree. */
#ifndef AGGSTATS_WORDS_H
#define AGGSTATS_WORDS_H

/* clang-format off */

/* Layers, the outermost first. The kind says whether osprof run has an option for it: a PART comes with another
 * layer. */
#define LAYER_ROWS(row)          \
    row(USER, "user", WHOLE)     \
    row(FUSE, "fuse", WHOLE)     \
    row(QUEUE, "queue", PART)    \
    row(DAEMON, "daemon", WHOLE) \
    row(FS, "fs", WHOLE)         \
    row(BLOCK, "block", WHOLE)

/* Groupings of profiles, in the order in which they are listed: the constant AGGSTATS_BY_..., words, and the kind.
 * Groups are of callers; of what callers belong to, which events do not record; or of objects of calls. */
#define GROUPING_ROWS(row)                               \
    row(PROCESS, "process", "processes", CALLER)         \
    row(PROGRAM, "program", "programs", CALLER)          \
    row(CGROUP, "cgroup", "cgroups", SURROUNDING)        \
    row(UID, "uid", "users", CALLER)                     \
    row(FILE, "file", "files", OBJECT)                   \
    row(DIRECTORY, "directory", "directories", OBJECT)

/* clang-format on */

/* Lists of words for initializers, each followed by a comma. */
#define LAYER_WORDS LAYER_ROWS(LAYER_WORD)
#define LAYER_WORDS_OF_RUN LAYER_ROWS(LAYER_WORD_OF_RUN)
#define GROUPING_WORDS GROUPING_ROWS(GROUPING_WORD)
#define GROUPING_WORDS_OF_CALLERS GROUPING_ROWS(GROUPING_WORD_OF_CALLERS)
#define GROUPING_WORDS_OF_EVENTS GROUPING_ROWS(GROUPING_WORD_OF_EVENTS)

/* The groupings that events know, as bits (1 << AGGSTATS_BY_PROCESS). */
#define GROUPINGS_OF_EVENTS (0U GROUPING_ROWS(GROUPING_BIT_OF_EVENTS))

#define LAYER_WORD(constant, word, kind) word,
#define LAYER_WORD_OF_RUN(constant, word, kind) ONLY_IF_##kind##_IS_WHOLE(word, )
#define GROUPING_WORD(constant, word, plural, kind) word,
#define GROUPING_WORD_OF_CALLERS(constant, word, plural, kind) ONLY_IF_##kind##_IS_CALLER(word, )
#define GROUPING_WORD_OF_EVENTS(constant, word, plural, kind) ONLY_IF_##kind##_IS_IN_EVENTS(word, )
#define GROUPING_BIT_OF_EVENTS(constant, word, plural, kind)                                                           \
    ONLY_IF_##kind##_IS_IN_EVENTS(| 1U << AGGSTATS_BY_##constant)

#define ONLY_IF_WHOLE_IS_WHOLE(...) __VA_ARGS__
#define ONLY_IF_PART_IS_WHOLE(...)
#define ONLY_IF_CALLER_IS_CALLER(...) __VA_ARGS__
#define ONLY_IF_SURROUNDING_IS_CALLER(...)
#define ONLY_IF_OBJECT_IS_CALLER(...)
#define ONLY_IF_CALLER_IS_IN_EVENTS(...) __VA_ARGS__
#define ONLY_IF_SURROUNDING_IS_IN_EVENTS(...)
#define ONLY_IF_OBJECT_IS_IN_EVENTS(...) __VA_ARGS__

#endif
