/* The live files in the default directories of osproffs (live_dirs.h). Only directories that this user or root owns,
 * and nobody else can write to, are trusted; files in them that others can write to are found, and not read. */
#ifndef LIVE_FILES_H
#define LIVE_FILES_H

#include "aggstats.h"

/* If others may write to the file, only is known whether there is a recorder. */
struct live_file {
    char *path;
    struct aggstats_profile profile; /* without counts until live_file_load(); empty, like info, if it cannot be read */
    struct aggstats_live_info info;
    struct aggstats_parse_error why; /* the reason: it is broken, or of another version. No message: it can be read */
};

struct live_files {
    struct live_file *files;
    size_t count;
};

/* Finds all live files. Of each only the head is read: labels, the beginning, the state of its process.
 * Owner:   the caller finishes *ret_files
 * Errors:  -ENOMEM */
int live_files_find(struct live_files *ret_files);

void live_files_finish(struct live_files *files);

#define CLEANUP_LIVE_FILES __attribute__((cleanup(live_files_finish)))

/* Reads the whole profile of one.
 * Errors:  -EBADMSG (file->why filled), -EACCES others may write to it, those of aggstats_live_read() and open(2); the
 *          profile is then as before */
int live_file_load(struct live_file *file);

/* The live file of the process that serves a mount now, or NULL; the newest, if one mount hides another.
 * path: normalised; the mount point, or its control file, or the socket that replaces it
 * Owner:   files */
struct live_file *live_files_serving(const struct live_files *files, const char *path);

/* The newest file of an osproffs that was killed while it served a mount point, or NULL.
 * path: normalised
 * Owner:   files */
struct live_file *live_files_left(const struct live_files *files, const char *path);

/* The place for commands to the process that serves a mount, according to its profile: its control file, or a socket.
 * NULL: none.
 * Owner:   the caller frees it */
char *control_path(const struct aggstats_profile *profile);

/* The socket for commands to the process that serves a mount, without accessing the mount. NULL: there is none.
 * Owner:   the caller frees it */
char *live_file_socket(const struct live_file *file);

/* The place for commands to its process: the socket, or else the control file. NULL: none.
 * Owner:   the caller frees it */
char *live_file_control(const struct live_file *file);

/* The same for the process that now serves the mount of a profile. If none is known, the control file.
 * Owner:   the caller frees it */
char *live_control(const struct aggstats_profile *profile);

/* Waits for the final profile of a mount that is just ending, a few seconds at most. umount(8) returns before the
 * daemon has written it, and the user's next command must not find the previous file, or none. Warns the user if some
 * osproffs whose mount is gone has not written its final profile to path even then.
 * files: as found just before; found again while it waits */
void live_files_wait_for_profile(struct live_files *files, const char *path);

#endif
