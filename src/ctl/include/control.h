/* The semantics of the control file, and of the views of the profile beside it: what a read shows and what a write
 * does. Knows nothing of libfuse.
 *
 * A write is a sequence of commands, one a line (the last newline may be missing). It is parsed whole first; only if
 * every command is well formed are they carried out, in order. */
#ifndef CONTROL_H
#define CONTROL_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#include "aggstats/words.h"
#include "views.h"

#define CONTROL_REASON_SIZE 320
#define CONTROL_WRITE_MAX 8192 /* bytes of one write: room for the longest path and more */

/* The file that a command names. */
struct control_file {
    const char *name; /* NULL: the default place */
    int fd;           /* opened by the client, empty, for writing; the name is then for messages only. -1: this process
                       * opens it by name */
    int (*give_name)(void *context); /* for an open file: has the client name the complete file. NULL: the file has a
                                      * name. Returns 0 or -errno */
    void *context;
};

/* Saves the recorder's profile, or begins to record into a file.
 * Returns 0 or -errno. */
typedef int (*control_file_fn)(void *context, const struct control_file *file);

/* Correlates latencies of an operation with a value ("read size"), or stops that ("read off", "off"). apply: false:
 * only checks the argument.
 * Returns NULL, or what is wrong */
typedef const char *(*control_joint_fn)(void *context, const char *argument, bool apply);

/* Of what calls there are profiles beside the whole. */
struct control_groups {
    unsigned groupings;       /* as bits (1 << AGGSTATS_BY_FILE); 0: of nothing */
    unsigned directory_depth; /* components of a directory's path; 0: any number */
};

/* Switches profiles of groups on or off. Returns 0 or -errno: -EBUSY others are on */
typedef int (*control_groups_fn)(void *context, const struct control_groups *wanted);

/* The path of the object that a call works on, without waiting for any file system; NULL: unknown.
 * Owner:   the caller frees it */
typedef char *(*control_path_fn)(void *context, uint64_t object);

/* The number that people know an object by, such as that of its inode; 0: unknown. Threads: any */
typedef uint64_t (*control_number_fn)(void *context, uint64_t object);

/* From now on calls that take this long are slow; 0: none is. Returns 0 or -errno */
typedef int (*control_slow_fn)(void *context, uint64_t ns);

struct control {
    struct aggstats_recorder *recorder; /* borrowed */
    struct aggstats_clock steady_clock; /* for views that need a steady frequency; zeroed: use the best known by then */
    control_file_fn dump;
    void *dump_context;
    control_file_fn rotate; /* NULL: not possible */
    void *rotate_context;
    bool has_series;        /* profiles are saved as a series: rotate needs no file, and dump does */
    bool is_saved;          /* reads end up in a file */
    bool says_end;          /* a profile that is read has the label "end", as spans have */
    control_joint_fn joint; /* NULL: not possible */
    void *joint_context;
    control_groups_fn groups; /* NULL: not possible */
    void *groups_context;
    control_slow_fn slow; /* NULL: not possible */
    void *slow_context;
    control_file_fn events; /* no file: ends recording; NULL: not possible */
    void *events_context;
    control_path_fn path_of;     /* NULL: none is known */
    control_number_fn number_of; /* translates objects to the numbers that users know; NULL: objects are such numbers */
    void *path_context;          /* of both */
    size_t intervals_max;        /* of sampled profiles; 0: the default */
};

/* The client that gives a command. */
struct control_asker {
    bool has_our_paths;              /* absolute paths mean the same to client and us; else no command names files */
    int fd;                          /* opened by the client for a command that names a file; -1: none */
    int (*give_name)(void *context); /* of struct control_file, as the context */

    /* Carries a command out with the rights of the client. NULL: with the rights of this process. */
    int (*act)(void *context, int (*apply)(void *data), void *data);
    void *context;
};

/* This process itself. */
#define CONTROL_SELF ((struct control_asker){.has_our_paths = true, .fd = -1})

struct control_text {
    char *text;
    size_t size_bytes;
    bool has_paths;    /* as aggstats_profile_has_paths() */
    bool exceeds_live; /* has intervals, joint profiles or groups, which a live file lacks */
};

/* Makes the text of a file that is opened: the current profile, in a view.
 * shows_paths: whether the reader may see the names of files that others use
 * Owner:   the caller frees ret_text->text
 * Errors:  -ENOMEM
 * Threads: any */
int control_read(const struct control *control, const struct view *view, bool shows_paths,
                 struct control_text *ret_text);

/* Carries out the commands of one write:
 *     reset (also: 0, 1, an empty line, an empty write)   pause   resume   dump [FILE]   rotate [FILE]
 *     interval TIME|off   joint OP VALUE|off   slow TIME|off   events FILE|off   groups KIND[+KIND...]|off
 * Words are separated by blanks; FILE is the rest of the line without blanks at its ends; CRLF is fine.
 * Errors:  -EINVAL unknown or malformed command: nothing was done; -EACCES a command names a file, and the asker may
 *          name none: nothing was done; the error of a command that failed: those before it were done. ret_reason gets
 *          one line for people (untouched on success).
 * Threads: any */
int control_write(const struct control *control, const struct control_asker *asker, const char *data, size_t size_bytes,
                  char ret_reason[CONTROL_REASON_SIZE]);

/* Reads the length of an interval: "100ms", "0.5s"; without a unit, seconds.
 * Returns NULL, or what is wrong with it, to be printed behind it and a colon. */
const char *control_parse_interval(const char *text, uint64_t *ret_ns);

/* The same for the time from which on calls are slow: "10ms", "0.5s"; "off" is 0. */
const char *control_parse_slow(const char *text, uint64_t *ret_ns);

/* What groups must be; nothing: the word for none. For control_parse_groups() */
#define CONTROL_WORD_AND_COMMA(constant, word, ...) word ", "
#define CONTROL_NO_WORD(...)
#define CONTROL_GROUPS_RULE(nothing)                                                                                   \
    "must be " nothing ", " GROUPING_ROWS(CONTROL_WORD_AND_COMMA, CONTROL_WORD_AND_COMMA, CONTROL_WORD_AND_COMMA,      \
                                          CONTROL_NO_WORD) "or several of them, such as process+uid"

/* Reads "program+file", "directory:2". rule: the message about other words. Returns NULL, or what is wrong */
const char *control_parse_groups(const char *text, const char *rule, struct control_groups *ret_groups);

/* The parsed argument of "joint". */
struct control_joint {
    bool ends_all; /* "off" */
    bool ends;     /* "OP off" */
    char op[AGGSTATS_NAME_SIZE];
    char value[AGGSTATS_NAME_SIZE]; /* of "OP off": "error", which every operation has */
};

/* Reads "OP VALUE", "OP off" or "off"; names are not looked up. Returns NULL, or what is wrong */
const char *control_parse_joint(const char *argument, struct control_joint *ret_joint);

/* ---- Files that a client has opened for us ----
 *
 * Everything is asked of the descriptor, never of a name; and the checks come again before the writing, as the client
 * may have changed the file in between. */

/* Whether it is an open file that may be written to: empty, regular, and outside the mount with the device number
 * own_device, since a write there would wait for ourselves.
 * Errors:  -EBADF it is not open, or not for writing, -ENOTSUP no regular file, -EEXIST it is not empty, -ELOOP */
int control_file_check(const struct control_file *file, dev_t own_device);

/* Writes the text to it, and syncs it to disk. Errors: the same, and those of writing */
int control_file_write(const struct control_file *file, dev_t own_device, const char *text, size_t size_bytes);

/* To see later whether a file has got a name since. */
struct control_file_name {
    uint32_t link_count;
    char path[PATH_MAX];
};

void control_file_note_name(int fd, struct control_file_name *ret_name);

/* True if it has more links than then, or another name; its directories may have been renamed. */
bool control_file_is_renamed(int fd, const struct control_file_name *before);

#endif
