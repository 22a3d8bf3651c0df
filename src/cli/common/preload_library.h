/* Libraries of ours that are preloaded into programs. */
#ifndef PRELOAD_LIBRARY_H
#define PRELOAD_LIBRARY_H

/* The path to preload one by: in the directory that OSPROF_LIBRARIES names, else where it is installed, else beside this
 * program.
 * Owner:   the caller frees *ret_path
 * Errors:  reported to the user */
int preload_library_find(const char *name, char **ret_path);

/* Whether the library is that of this program: it contains the mark.
 * Errors:  reported to the user */
int preload_library_check(const char *library, const char *mark);

/* Call in a child: the program that it executes, and all that this starts, get the library, before other preloaded
 * ones.
 * Errors:  -errno */
int preload_library_set(const char *library);

#endif
