/* What a program is before it is executed: whether the dynamic loader of this C library will load it, and with it what
 * is to be preloaded (LD_PRELOAD). Only the file is looked at. No memory is allocated, so that it may be done between
 * fork and exec. */
#ifndef EXECUTABLE_H
#define EXECUTABLE_H

enum executable {
    EXECUTABLE_DYNAMIC, /* it will; also whatever cannot be told */
    EXECUTABLE_GO,      /* it will, but the program is of Go, and makes most of its system calls by itself */
    EXECUTABLE_STATIC,  /* statically linked: there is no loader. Programs of Go mostly are */
    EXECUTABLE_SET_ID,  /* who executes it gets another user, group or capabilities: the loader preloads nothing */
    EXECUTABLE_FOREIGN, /* another loader: of musl, or of another architecture. It fails, or complains */
};

/* path: as for execve(2). Of a script, what its interpreter is. May change errno */
enum executable executable_look(const char *path);

/* Why nothing is preloaded, or little of use: "it is statically linked". NULL: EXECUTABLE_DYNAMIC */
const char *executable_reason(enum executable kind);

/* The file that execvp(3) takes: path itself, or the first of the name in PATH, in ret_path. Returns one of them, or
 * NULL if there is none */
const char *executable_find(const char *name, char *ret_path, unsigned long size_bytes);

#endif
