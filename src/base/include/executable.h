/* What a program is before it is executed: whether the dynamic loader of this C library will load it, and so whether
 * objects can be preloaded into it (LD_PRELOAD). Only the file is read. No memory is allocated, and 4 KB of the stack
 * suffice, so this may be called between fork and exec. */
#ifndef EXECUTABLE_H
#define EXECUTABLE_H

#include <stdbool.h>
#include <sys/types.h>

enum executable {
    EXECUTABLE_DYNAMIC, /* the loader will load it; also if that is unknown */
    EXECUTABLE_GO,      /* the loader will load it, but it is written in Go and makes most system calls without libc */
    EXECUTABLE_STATIC,  /* statically linked, as most Go programs: there is no loader */
    EXECUTABLE_SET_ID,  /* set-id, or with file capabilities: the loader preloads nothing */
    EXECUTABLE_LOADER,  /* the loader itself, which loads the program that it is given, or says something about it */
    EXECUTABLE_FOREIGN, /* another loader: of musl, or of another architecture. Preloading fails, or the loader
                         * complains */
};

/* path: as for execve(2). A script is what its interpreter is. May change errno */
enum executable executable_look(const char *path);

/* The same where that user executes it. */
enum executable executable_look_as(const char *path, uid_t uid, gid_t gid);

/* Whether the loader preloads objects into such a program. */
bool executable_preloads(enum executable kind);

/* Why preloading does nothing, or little: "it is statically linked". NULL: it does */
const char *executable_reason(enum executable kind);

/* The file that execvp(3) would execute: name itself, or the first match in PATH, written to ret_path. Returns NULL if
 * there is none */
const char *executable_find(const char *name, char *ret_path, unsigned long size_bytes);

#endif
