/* A page on the screen of a terminal: a heading, a part that scrolls, and a line of hints. What is on the page, and which
 * keys it has, says its kind. */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "sheet.h"

struct top_key {
    int key;
    const char *name;
    const char *hint; /* in the last line; NULL: not shown */
    const char *help;
    int (*act)(void *context); /* Errors: end the screen */
};

/* What comes between two snapshots. */
struct top_input {
    int fd;         /* -1: none */
    int64_t due_ns; /* from now; negative: never */
};

/* Functions that put something on a sheet do not change it. */
struct top_kind {
    const struct top_key *keys; /* [key_count]; a key of all screens gives way to a key of the kind */
    size_t key_count;

    /* For keys that are in no table. NULL: there are none. Returns whether they have chosen another view */
    bool (*choose)(void *context, int key);

    /* Takes a snapshot. Errors: end the screen */
    int (*take_snapshot)(void *context);

    /* Whether there will be no other. NULL: there always will */
    bool (*has_ended)(const void *context);

    /* What to wait for besides keys, also while the screen is paused; and what to do then. collect: returns whether to
     * draw again. Errors: end the screen */
    struct top_input (*input)(const void *context);
    int (*collect)(void *context, bool *ret_is_new);

    void (*put_heading)(struct sheet *sheet, const void *context);

    /* room_lines: that are shown at a time */
    void (*put)(struct sheet *sheet, const void *context, int room_lines);

    /* Keys that are in no table, as lines of help and as hints; and explanations. NULL: there are none */
    void (*put_help_of_choices)(struct sheet *sheet);
    void (*put_hints_of_choices)(struct sheet *sheet);
    void (*put_more_help)(struct sheet *sheet);

    /* Why it cannot go on, for the user. */
    void (*complain)(const void *context, const char *why);
    const char *(*reason)(int error);
};

/* Put a line of help, and a hint behind others, as the screen does. */
void top_screen_put_help_line(struct sheet *sheet, const char *name, const char *text, const char *more);
void top_screen_put_hint(struct sheet *sheet, const char *name, const char *text);

/* Runs until the user quits. Messages are printed after the terminal was restored.
 * delay_ns: between snapshots */
enum status top_screen_run(const struct top_kind *kind, void *context, int64_t delay_ns);

#endif
