/* libaggstats: profiles as text, osprof(5). */
#ifndef AGGSTATS_TEXT_H
#define AGGSTATS_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "profile.h"

AGGSTATS_BEGIN_DECLARATIONS

/* Writes the profile as text and flushes the stream.
 * Errors:  the stream's -errno, -EINVAL a name or label that could not be read back */
int aggstats_profile_write(const struct aggstats_profile *profile, FILE *stream);

/* The same into memory, NUL-terminated. Owner: the caller frees *ret_text. */
int aggstats_profile_format(const struct aggstats_profile *profile, char **ret_text, size_t *ret_size_bytes);

/* Where and why a text is not a profile. */
struct aggstats_parse_error {
    size_t line;       /* from 1; 0: not about one line */
    char message[160]; /* the expected and the found text, without newline */
};

/* Reads one profile up to the end of the stream; a recording of several is an error.
 * Owner:   the caller finishes *ret_profile
 * Errors:  -EBADMSG with *ret_error filled, -ENOMEM, the stream's -errno; *ret_profile untouched */
int aggstats_profile_parse(FILE *stream, struct aggstats_profile *ret_profile, struct aggstats_parse_error *ret_error);

/* How far a recording has been read. Zeroed: its beginning. */
struct aggstats_text_position {
    size_t line_count;  /* lines read so far */
    bool is_at_profile; /* the last of them was "# osprof 1": a profile follows */
};

/* Reads the next profile of a recording: profiles one after the other, each from its line "# osprof 1" to the next
 * such line, or to the end of the stream.
 * Returns 1; 0 if there are no more, *ret_profile untouched. That there is none at all is an error
 * Owner, Errors: as above; lines are counted from the beginning of the recording. After an error *position is of no
 *          use */
int aggstats_profile_parse_next(FILE *stream, struct aggstats_text_position *position,
                                struct aggstats_profile *ret_profile, struct aggstats_parse_error *ret_error);

AGGSTATS_END_DECLARATIONS

#endif
