/* Libraries of ours that are preloaded into programs. */
#ifndef RUN_PRELOAD_H
#define RUN_PRELOAD_H

/* The path of one: in the directory that OSPROF_LIBRARIES names, else where it is installed, else beside this program.
 * Owner:   the caller frees *ret_path
 * Errors:  told to the user */
int run_preload_find(const char *name, char **ret_path);

/* In a child: the program that it becomes, and all that these start, get the library, before others that are preloaded.
 * Errors: -errno */
int run_preload_set(const char *library);

#endif
