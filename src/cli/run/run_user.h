/* The layer "user" of osprof run: the command and what it starts have libosprof_posix.so preloaded, and count their
 * calls of files below the directories in one live file. */
#ifndef RUN_USER_H
#define RUN_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "aggstats.h"
#include "executable.h"
#include "recording.h"

struct run_user {
    bool is_wanted;
    struct aggstats_recorder *recorder; /* holds the live file; NULL: the command runs without a profile */
    int live_fd;
    enum executable kind;           /* of the command */
    char *library;                  /* what is preloaded */
    char *variable;                 /* what it is told in the environment */
    struct aggstats_profile before; /* what warm-ups have counted */
    struct aggstats_live_info before_info;
    struct rusage before_usage;
};

/* Makes the live file.
 * directories: as they were given. labels: KEY=VALUE, for the profile's header
 * Owner:   the caller finishes *ret_user, also after an error
 * Errors:  told to the user: no such directory, no library. That no live file can be made is told, and no error */
int run_user_open(struct run_user *ret_user, const char *const *directories, size_t directory_count,
                  const char *const *labels, size_t label_count);

/* Removes the live file. */
void run_user_finish(struct run_user *user);

/* Before anything is mounted: says that the command will not be seen, if it is a program that nothing is preloaded
 * into.
 */
void run_user_look_at(struct run_user *user, const char *command);

/* In a child, before it becomes the command, which without memory for it is not seen. user: NULL: the layer is not
 * wanted */
void run_user_enter(const struct run_user *user);

/* Forgets what has been counted so far. Errors: told to the user */
int run_user_reset(struct run_user *user);

/* The profile ends here, and is added to the layers. Errors: told to the user */
int run_user_stop(struct run_user *user, struct recording *layers);

#endif
