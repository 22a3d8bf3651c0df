/* The live files in the places where osproffs puts them (live_dirs.h). Only directories that the caller or root owns,
 * and nobody else can write to, are believed. */
#ifndef LIVE_FILES_H
#define LIVE_FILES_H

#include "aggstats.h"

struct live_file {
    char *path;
    struct aggstats_profile profile; /* empty, as info, if it cannot be read */
    struct aggstats_live_info info;
    struct aggstats_parse_error why; /* it cannot: it is broken, or of another version. No message: it can */
};

void live_file_finish(struct live_file *file);

struct live_files {
    struct live_file *files;
    size_t count;
};

/* Reads every live file found.
 * Owner:   the caller finishes *ret_files
 * Errors:  -ENOMEM */
int live_files_read(struct live_files *ret_files);

void live_files_finish(struct live_files *files);

/* The file of the process that serves a mount now, or NULL; the newest, where one mount hides another.
 * path: normalised; the mount point, or its control file, or the socket that is in place of that
 * Owner:   files */
struct live_file *live_files_serving(const struct live_files *files, const char *path);

/* The newest file that an osproffs left which was killed while it served a mount point, or NULL.
 * path: normalised
 * Owner:   files */
struct live_file *live_files_left(const struct live_files *files, const char *path);

/* Where the process that serves a mount is asked, as its profile says: its control file, or a socket. NULL: nowhere.
 * Owner: the caller frees it */
char *control_path(const struct aggstats_profile *profile);

/* The socket at which the process that serves a mount is asked without a step into the mount. NULL: there is none.
 * Owner: the caller frees it */
char *live_file_socket(const struct live_file *file);

/* Where its process is asked: the socket, or else the control file. NULL: nowhere.
 * Owner: the caller frees it */
char *live_file_control(const struct live_file *file);

/* The same of the process that serves the mount of a profile now. If none is known, the control file.
 * Owner: the caller frees it */
char *live_control(const struct aggstats_profile *profile);

/* Waits for the final profile of a mount that is just ending, a few seconds at most. umount(8) returns before the daemon
 * has written it: whoever looks at that file in the next command must not see the one before, or none. Tells the user if
 * some osproffs whose mount is gone has yet to write its final profile to path even then. */
void live_files_wait_for_profile(const char *path);

#endif
