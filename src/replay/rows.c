/* The operations that can be repeated, under their names in osproffs (fs_ops.h). IOCTL, BMAP and POLL are not among
 * them, because their arguments are not recorded. */
#include <string.h>

#include "base.h"
#include "replay_private.h"

/* clang-format off */
#define LOCK_ARGUMENTS {"lock_type", "lock_start", "lock_length", "is_flock"}
static const struct replay_row rows[] = {
    {"LOOKUP",          KIND_LOOKUP, TYPE_UNKNOWN,   false, replay_lookup,      {NULL}},
    {"GETATTR",         KIND_OTHER,  TYPE_UNKNOWN,   false, replay_getattr,     {NULL}},
    {"STATX",           KIND_OTHER,  TYPE_UNKNOWN,   false, replay_statx,       {"flags", "mask"}},
    {"SETATTR",         KIND_OTHER,  TYPE_UNKNOWN,   true,  replay_setattr,     {"which"}},
    {"READLINK",        KIND_OTHER,  TYPE_SYMLINK,   false, replay_readlink,    {NULL}},
    {"SYMLINK",         KIND_MAKE,   TYPE_SYMLINK,   true,  replay_symlink,     {NULL}},
    {"MKNOD",           KIND_MAKE,   TYPE_FILE,      true,  replay_mknod,       {"mode", "device"}},
    {"MKDIR",           KIND_MAKE,   TYPE_DIRECTORY, true,  replay_mkdir,       {"mode"}},
    {"UNLINK",          KIND_REMOVE, TYPE_FILE,      true,  replay_remove,      {NULL}},
    {"RMDIR",           KIND_REMOVE, TYPE_DIRECTORY, true,  replay_remove,      {NULL}},
    {"RENAME",          KIND_RENAME, TYPE_UNKNOWN,   true,  replay_rename,      {NULL}},
    {"RENAME2",         KIND_RENAME, TYPE_UNKNOWN,   true,  replay_rename,      {"flags"}},
    {"LINK",            KIND_LINK,   TYPE_UNKNOWN,   true,  replay_link,        {NULL}},
    {"OPEN",            KIND_OPEN,   TYPE_FILE,      false, replay_open,        {"flags"}},
    {"OPENDIR",         KIND_OPEN,   TYPE_DIRECTORY, false, replay_open,        {NULL}},
    {"CREATE",          KIND_OPEN,   TYPE_FILE,      true,  replay_create_file, {"flags", "mode"}},
    {"TMPFILE",         KIND_OPEN,   TYPE_DIRECTORY, false, replay_tmpfile,     {"flags", "mode"}},
    {"RELEASE",         KIND_CLOSE,  TYPE_FILE,      false, replay_release,     {NULL}},
    {"RELEASEDIR",      KIND_CLOSE,  TYPE_DIRECTORY, false, replay_release,     {NULL}},
    {"FLUSH",           KIND_OTHER,  TYPE_FILE,      false, replay_flush,       {NULL}},
    {"READ",            KIND_OTHER,  TYPE_FILE,      false, replay_read,        {NULL}},
    {"WRITE",           KIND_OTHER,  TYPE_FILE,      false, replay_write,       {NULL}},
    {"COPY_FILE_RANGE", KIND_OTHER,  TYPE_FILE,      false, replay_copy,        {"out_offset"}},
    {"FSYNC",           KIND_OTHER,  TYPE_FILE,      false, replay_fsync,       {"data_only"}},
    {"FSYNCDIR",        KIND_OTHER,  TYPE_DIRECTORY, false, replay_fsync,       {"data_only"}},
    {"FALLOCATE",       KIND_OTHER,  TYPE_FILE,      true,  replay_fallocate,   {"mode"}},
    {"LSEEK",           KIND_OTHER,  TYPE_FILE,      false, replay_lseek,       {"whence"}},
    {"READDIR",         KIND_OTHER,  TYPE_DIRECTORY, false, replay_readdir,     {NULL}},
    {"READDIRPLUS",     KIND_OTHER,  TYPE_DIRECTORY, false, replay_readdir,     {NULL}},
    {"GETLK",           KIND_OTHER,  TYPE_FILE,      false, replay_lock,        LOCK_ARGUMENTS},
    {"SETLK",           KIND_OTHER,  TYPE_FILE,      true,  replay_lock,        LOCK_ARGUMENTS},
    {"SETLKW",          KIND_OTHER,  TYPE_FILE,      true,  replay_lock,        LOCK_ARGUMENTS},
    {"ACCESS",          KIND_OTHER,  TYPE_UNKNOWN,   false, replay_access,      {"mask"}},
    {"STATFS",          KIND_OTHER,  TYPE_UNKNOWN,   false, replay_statfs,      {NULL}},
    {"SYNCFS",          KIND_OTHER,  TYPE_UNKNOWN,   false, replay_syncfs,      {NULL}},
    {"SETXATTR",        KIND_OTHER,  TYPE_UNKNOWN,   true,  replay_setxattr,    {"flags"}},
    {"GETXATTR",        KIND_OTHER,  TYPE_UNKNOWN,   false, replay_getxattr,    {NULL}},
    {"LISTXATTR",       KIND_OTHER,  TYPE_UNKNOWN,   false, replay_listxattr,   {NULL}},
    {"REMOVEXATTR",     KIND_OTHER,  TYPE_UNKNOWN,   true,  replay_removexattr, {NULL}},
};
/* clang-format on */

const struct replay_row *replay_row_of(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}
