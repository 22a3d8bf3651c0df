/* What BPF programs and the collector both know of the set of watched processes. */
#ifndef PROCESS_SET_SHARED_H
#define PROCESS_SET_SHARED_H

#define PROCESS_SET_MAX 65536 /* at a time */
#define PROCESS_BEGAN_UNKNOWN 0ULL

/* By the number of the process, in the first of all PID namespaces. */
struct process_of_set {
    unsigned long long begin_ns; /* start time of the process, as the kernel has it */
    unsigned has_ended;          /* all threads have ended; the kernel frees the process later */
    unsigned unused;
};

#endif
