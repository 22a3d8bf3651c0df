/* Which tracepoints this kernel has: what it lacks is not attached. */
#ifndef TRACEPOINTS_H
#define TRACEPOINTS_H

struct btf;

/* How many arguments programs get from it.
 * kernel:  its types; NULL: unknown
 * Returns: negative if there is none */
int tracepoint_arguments(const struct btf *kernel, const char *name);

#endif
