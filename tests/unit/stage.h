/* A pass layer over a private directory, for tests that call its vector without a mount. One stage at a time. */
#ifndef STAGE_H
#define STAGE_H

#include <limits.h>

#include "fs_ops.h"
#include "pass.h"
#include "pass_private.h"
#include "testing.h"

struct stage {
    int fd;            /* the lower directory */
    char path[128];    /* of it */
    struct pass *pass; /* over it */
    struct fs_layer *layer;
    struct fs_caller self; /* this process */
};

extern struct stage stage;

/* Begins a case whose tests get a new stage each. What they leave behind is removed when all have run. */
#define STAGE_CASE()                                                                                                   \
    TEST_CASE(.begin = stage_make_base, .end = stage_remove_base, .set_up = stage_set_up,                              \
              .tear_down = stage_tear_down, .seconds = 120)
void stage_make_base(void);
void stage_remove_base(void);
void stage_set_up(void);
void stage_tear_down(void);

/* Opens the lower directory anew, with a pass layer of other options. */
void stage_restart(bool check_as_caller, size_t forgotten_inodes_max);

/* True if inodes of the lower directory are held by file handle, which needs root and a file system with handles. */
bool stage_has_handles(void);

/* True for root; for other users prints what is skipped. */
bool stage_is_root(const char *skipped);

/* Calls an op of the pass layer as this process: STAGE(lookup, FS_ROOT_INO, "name", &entry). */
#define STAGE(member, ...) STAGE_AS(&stage.self, member, __VA_ARGS__)
#define STAGE_AS(caller, member, ...) stage.layer->ops->member(stage.layer, caller, __VA_ARGS__)

/* ---- Steps that must succeed ---- */

/* Makes a regular file below, with that text. */
void stage_write(const char *name, const char *text);

/* The text of a file below, as one static string. */
const char *stage_text(const char *name);

/* Attributes below, of the name itself. */
struct stat stage_stat(const char *name);

/* Looks up a name in a directory of the layer. */
struct fs_entry stage_look_up_in(fs_ino parent, const char *name);
struct fs_entry stage_look_up(const char *name);

/* Opens a name in the root through the layer. */
struct stage_file {
    fs_ino ino;
    fs_file file;
};
struct stage_file stage_open(const char *name, int flags);
void stage_close(struct stage_file open);

/* The lookup count of an inode in the layer, and the number of inodes that it knows. */
uint64_t stage_lookup_count(fs_ino ino);
size_t stage_inodes_known(void);

#endif
