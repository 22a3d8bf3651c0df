/* Calls made by many identities on objects of every kind, each result as a line of text: run below and above a mount,
 * the outputs must be equal, and so must what they leave below.
 *
 * A directory is prepared by root from the tables of objects and calls; the same tables then say what is tried in it.
 * A call that changes something has an object of its own, so that no call depends on how another one ended. A line is
 *
 *     IDENTITY | OBJECT | CALL -> RESULT [NOTES] [| MODE OWNER SIZE afterwards]
 *
 * and what stands before the arrow is unique. */
#ifndef PERMISSIONS_H
#define PERMISSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Files and ACLs name the user "me", and do not name the user "stranger". */
enum { ID_ROOT = 0, ID_OTHER = 10001, ID_GROUP = 10002, ID_STRANGER = 20001, ID_ME = 65534 };

enum owner { ROOT, OTHER, OTHER_GROUP, ME, ME_GROUP, OWNERS };

enum acl { ACL_NONE, ACL_ME_RW, ACL_ME_NOTHING, ACL_GROUP_RW, ACL_MASKED, ACL_ME_RWX, ACL_DEFAULT, ACLS };

enum extra {
    EXTRA_CAPABILITY = 1, /* security.capability */
    EXTRA_XATTRS = 2,     /* user.old and trusted.old */
    EXTRA_APPEND = 4,     /* chattr +a */
    EXTRA_IMMUTABLE = 8,  /* chattr +i */
    EXTRA_SECOND_NAME = 16,
};

/* Kinds: f file, x program, # script, d directory, p FIFO, s socket, c character device, l symbolic link. */
struct object {
    char kind;
    mode_t mode;
    enum owner owner;
    const char *suffix; /* of its name, if the rest is not unique */
    enum acl acl;
    unsigned extras;
    const char *target; /* of a link */
    unsigned device;    /* minor number, of major 1 */
    bool brief;         /* also in brief runs */
};

struct call {
    const char *name;
    const char *kinds; /* the kinds of objects on which it is tried */
    int (*make)(const char *path, const struct call *call);
    long a;
    long b;
    bool changes;
    const char *text;
};

/* ---- Identities ---- */

/* Takes on the identity of that name, in a child process if necessary; then only the child returns. Returns -1 if there
 * is no such name; ends the program if the identity is not available. */
int identity_become(const char *name);

/* Its index in the table; 0 if there is no such name. */
unsigned identity_index(const char *name);

/* Prints all names; brief: those for brief runs. */
void identity_list(bool brief);

/* Prints real and effective ids and the effective capabilities of this process, in one line. */
void identity_print_own(void);

/* ---- Objects ---- */

extern const struct object objects[];
extern const size_t object_count;

void object_name(const struct object *object, char *ret_name, size_t size);

/* Makes the object at this path, without what the file system does not support (ACLs, attributes, flags). */
void object_make(const struct object *object, const char *path);

/* Sets its flags; it cannot be changed afterwards. */
void object_seal(const struct object *object, const char *path);

/* A file ('f') or directory ('d') of this owner with mode 0644 or 0755. */
void object_make_plain(const char *path, char kind, enum owner owner);

/* The ACL as system.posix_acl_* holds it; returns its size. */
size_t acl_encode(enum acl acl, void *ret_bytes);
enum { ACL_ROOM_BYTES = 4 + 8 * 8 };

/* The value of security.capability. */
extern const unsigned char capability_value[20];

/* ---- Calls ---- */

extern const struct call calls[];
extern const size_t call_count;

/* The calls in directories, and the objects for them. */
void names_prepare(const char *directory, unsigned object_index);
void names_run(const char *directory, unsigned object_index);

/* There are many pairs of objects and calls: each identity tries only some of them, different ones each. Execution is
 * always tried, and in brief runs everything on objects other than files and directories. */
bool is_selected(char kind, unsigned object_index, unsigned call_index);

/* Adds to the line of the current call. */

/* Adds to the line of the call that is being made. */
__attribute__((format(printf, 1, 2))) void note(const char *format, ...);

/* The name of an error, or OK. */
const char *outcome(long result);

/* Prints the line, with the current attributes of path unless it is NULL. */
void print_line(const char *object, const char *call, long result, const char *path);

/* Prints everything that the tree holds below, sorted by name. */
int manifest_print(const char *directory, const char *identity);

/* Ends the program with a message unless ok. */
void must(bool ok, const char *what, const char *path);

#endif
