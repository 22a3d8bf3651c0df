/* Private: what the writer and the parser of profiles agree on; the grammar is in osprof(5).
 *
 *     # osprof 1
 *     # layer: fs                      labels named layer, host, lower, mount: what was profiled; one layer
 *     # clock: tsc 2500000000 Hz
 *     # resolution: 1
 *     # cache: auto                    all other labels
 *     # start: 2026-11-21T02:30:00.123456789Z
 *     # elapsed: 30737418240
 *     # interval: 2500000000           sampled profiles only
 *     # borders: 2500012345 5000001234  where each interval ends
 *     # clamped: 3                     only if there are any
 *     # incomplete: yes                only if so
 *     # failed: LOOKUP ENOENT 12 EACCES 3     a line per op that has any; of the kinds that came up
 *     # bytes: READ asked 4096 moved 100      a line per op that has any
 *     # longest: READ 30737418 object 12     a line per op whose longest call is known, and on what;
 *                                      " path ..." behind it if that is known
 *     # slow: 26000000               calls that took so long are slow; only if anybody looked for them
 *     # cause: READ calls 3 total 98000000 longest 61000000 cause_id disk_read cause_class disk_read cause reading\040from\040the\040disk
 *                                      a line per op and cause; this and the next ones have the fields of fields.c
 *     # cause_buckets: 1 24:1 25:2     its calls by bucket, as far as that is known; the number of its line
 *     # stack: io_schedule < filemap_read     where threads wait in the kernel, each once
 *     # call: READ age 30737418240 pid 4711 inode 12 path /a stack 1       a line per call in flight
 *     # call: READ latency 61000000 end_ns 1764038400123456789 pid 4711 uid 0 error 0 asked_bytes 4096 ...
 *                                      a line per slow call that has ended
 *     # slow_caller: READ calls 3 program db function commit_row
 *     OP_LOOKUP 13640 3069650000
 *      0 0 0 120 4711 8809            sampled: a row per interval
 *     JOINT_LOOKUP_ERROR               behind all operations, if there are any
 *     0: 0 0 0 120 4711 8800           a row for each value; here errno values
 *     2: 0 0 0 0 0 9
 *     # process: 4711 grep             behind those: a line per group; "kernel", "other"
 *     OP_LOOKUP 13000 3000000000       and its operations
 *      0 0 0 100 4500 8400
 *     # program: grep                  behind those: the groups of another grouping; these have no numbers
 *     # file: 1200 /src/a.c            here the latency that may be missing, at most
 *     # osprof 1                       of a recording: the profile of the next layer
 *
 * In a text, such as a label's value or a name, these are written as \ooo (octal) byte by byte, as /proc/self/mounts does:
 * a backslash, a blank at the beginning, characters that terminals obey or nobody sees (is_invisible()), and bytes that are
 * not UTF-8. So what
 * others have named can neither forge a line nor control the terminal of a user who prints the file. */
#ifndef TEXT_FORMAT_H
#define TEXT_FORMAT_H

#include <string.h>

#include "aggstats.h"

#define TEXT_VERSION 1

/* An operation's name: letters, digits, '_', '-' and '.'; fits AGGSTATS_NAME_SIZE. */
bool text_name_valid(const char *name);

/* Copies a valid name. */
static inline void text_name_copy(char to[AGGSTATS_NAME_SIZE], const char *name) {
    memcpy(to, name, strlen(name) + 1);
}

/* True for UTF-8 of which a terminal shows each character. */
bool text_is_plain(const char *text);

/* A label's key: plain, no colon, no blank at its ends, and not a key of the format itself. */
bool text_label_valid(const struct aggstats_label *label);

/* True for keys whose values the format defines. */
bool text_key_reserved(const char *key);

/* Writes a text, with forbidden characters escaped. */
void text_write_value(FILE *stream, const char *value);

/* Ends a line, with the path before the end if it is known. */
void text_write_path(const char *path, FILE *stream);

/* A word, with blanks escaped. */
void text_write_word(const char *word, FILE *stream);

/* Causes of slow calls, calls, and functions that made slow ones. Errors: -ENOMEM */
int text_write_calls(const struct aggstats_profile *profile, FILE *stream);

/* Lines of facts (text_facts.c, text_outcome.c). */
void text_write_clock(const struct aggstats_profile *profile, FILE *stream);
void text_write_start(const struct aggstats_profile *profile, FILE *stream);
void text_write_lists(const struct aggstats_profile *profile, FILE *stream);
void text_write_borders(const struct aggstats_profile *profile, FILE *stream);
void text_write_failed(const struct aggstats_profile *profile, FILE *stream);
void text_write_bytes(const struct aggstats_profile *profile, FILE *stream);
void text_write_longest(const struct aggstats_profile *profile, FILE *stream);
void text_write_busy_ops(const struct aggstats_profile *profile, FILE *stream);
void text_write_left(const struct aggstats_profile *profile, FILE *stream);

/* Programs that were not seen (profile_unseen.c). */
void text_write_unseen(const struct aggstats_profile *profile, FILE *stream);

#endif
