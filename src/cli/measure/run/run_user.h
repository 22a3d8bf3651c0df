/* The layer "user" of osprof run: the command and what it starts have libosprof_posix.so preloaded, and count their
 * calls on files in one live file. */
#ifndef RUN_USER_H
#define RUN_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "aggstats.h"
#include "aggstats/shared.h"
#include "aggstats/shared_groups.h"
#include "executable.h"
#include "proc.h"
#include "recording.h"
#include "run_identity.h"
#include "run_options.h"
#include "run_unseen.h"

/* Mounts of this system by name, for groups. */
struct run_groups {
    struct aggstats_shared_mount *mounts; /* as of the last look */
    size_t mount_count;
};

/* The kernel's sums of what the command and its children have read and written, as a witness of what the layer has seen.
 * They do not tell files from pipes, so the preloaded library adds up what goes to descriptors that do not count; and they
 * have what the kernel and ld.so read to execute a program, which nobody sees. Of children that have been waited for, and
 * of theirs; or of some of their calls. */
struct run_witness {
    bool is_known; /* the kernel says */
    uint64_t read; /* bytes */
    uint64_t written;
    uint64_t reads; /* calls */
};

/* What the kernel adds up of the processes of a run: where they were when they were in no file call, on a CPU or waiting
 * for one; and what they had read from storage. */
struct run_times {
    struct rusage before;
    struct proc_io before_io; /* programs that have ended are in it */
    bool knows_io;
    uint64_t ran_ns; /* of the commands' first threads, on a CPU; like the next since run_user_reset() */
    uint64_t queued_ns;
    struct run_witness witness; /* as the profile began */
};

struct run_user {
    struct recorded_options options;
    const struct run_identity *as; /* Owner: the caller */
    struct run_groups groups;
    struct session session;              /* without a recorder the command runs without a profile */
    enum executable kind;                /* of the command */
    bool is_executable;                  /* it can be executed */
    const char *name;                    /* of its file. Owner: the caller of run_user_look_at() */
    bool is_narrowed;                    /* only files in some directories count */
    char *library;                       /* to preload */
    char *variable;                      /* of the environment, for the library */
    struct aggstats_shared_facts before; /* as the profile began, like the next two */
    struct run_times times;
    struct run_unseen unseen;
};

/* Makes the live file. ret_user->options and as are set before.
 * directories: as given by the user; none: all files
 * has_everything: besides regular files, directories and links other kinds of files count, and pseudo file systems
 * Owner:   the caller finishes *ret_user, also after an error
 * Errors:  reported to the user: no such directory, no library. If no live file can be made, that is reported and no
 *          error */
int run_user_open(struct run_user *ret_user, const char *const *directories, size_t directory_count,
                  bool has_everything);

/* Removes the live file. */
void run_user_finish(struct run_user *user);

/* Call before anything is mounted: reports if the command is a program into which nothing is preloaded. */
void run_user_look_at(struct run_user *user, const char *command);

/* Call in a child, before it executes the command, which without memory is not profiled. user: NULL: the layer is not
 * wanted */
void run_user_enter(const struct run_user *user);

/* Call before there is a process that executes the command: so the time for which it ran begins no later than the
 * program. Returns what is noted of it, for the next function; -1: nothing */
int run_user_begins(const struct run_user *user);

/* That process; negative: there is none. program: -1 is fine */
void run_user_has_begun(const struct run_user *user, int program, pid_t pid);

/* Call when a command has ended, before it is waited for: afterwards the kernel does not know its times. */
void run_user_note_times(struct run_user *user, pid_t command);

/* Call before the first run, which begins what the profile has, and to forget what has been counted so far.
 * Errors:  reported to the user */
int run_user_reset(struct run_user *user);

/* The profile ends here, and is added to the layers.
 * is_mounted: the directories are mounted: what calls had read from storage, others have read
 * Errors:  reported to the user */
int run_user_stop(struct run_user *user, bool is_mounted, struct recording *layers);

#endif
