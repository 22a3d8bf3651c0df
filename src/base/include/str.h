/* A text that is put together: the one builder of strings of this project.
 *
 * Invariants:
 *   - A zeroed struct str is an empty text. It owns nothing yet.
 *   - str_text() is never NULL and ends with a NUL; `length` does not count that NUL.
 *   - Without memory the text becomes and stays empty, and `failed` is set: functions that add need no check. str_steal()
 *     returns NULL then.
 *
 * Life cycle: CLEANUP_STR struct str text = {0}; add to it; read str_text(), or take the text over by str_steal(). */
#ifndef STR_H
#define STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct str {
    char *text; /* NULL: empty; read it by str_text() */
    size_t length;
    size_t room; /* of text, in bytes */
    bool failed;
};

void str_finish(struct str *str);

#define CLEANUP_STR __attribute__((cleanup(str_finish)))

static inline const char *str_text(const struct str *str) {
    return str->text ? str->text : "";
}

void str_add(struct str *str, const char *text);
void str_add_bytes(struct str *str, const char *bytes, size_t count);
void str_addf(struct str *str, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a separator unless the text is empty: between the members of a list. */
void str_separate(struct str *str, const char *separator);

/* Cuts the text to its first bytes. length: at most the text's */
void str_cut(struct str *str, size_t length);

/* Takes the text over and leaves an empty one.
 * Owner:   the caller frees it
 * Errors:  NULL: there was no memory at some time */
char *str_steal(struct str *str);

#endif
