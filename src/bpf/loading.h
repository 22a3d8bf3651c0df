/* Private: programs get into the kernel, and what to tell the user if they do not. */
#ifndef LOADING_H
#define LOADING_H

#include "collector.h"

struct bpf_object_skeleton;
struct btf;

/* A tracepoint that an older kernel lacks, and the Linux version that has it, for the message. */
struct loading_needs {
    const char *tracepoint;
    const char *since;
};

/* Load, and attach to the kernel's tracepoints.
 * Errors:  those of bpf(2), with *ret_why filled: a clause, for the user */
int loading_load(struct bpf_object_skeleton *skeleton, const struct loading_needs *needs,
                 char ret_why[COLLECTOR_WHY_SIZE]);
int loading_attach(struct bpf_object_skeleton *skeleton, const struct loading_needs *needs,
                   char ret_why[COLLECTOR_WHY_SIZE]);

/* Fills ret_why with the words for an error, and returns the error. */
int loading_fail(int error, char ret_why[COLLECTOR_WHY_SIZE]);

/* The kernel's types (BTF); NULL: they cannot be read. Owner: the caller frees them */
struct btf *loading_types(void);

/* How often the kernel did not run one of the programs, because the CPU was in it already. Threads: any */
uint64_t loading_count_skipped(const struct bpf_object_skeleton *skeleton);

#endif
