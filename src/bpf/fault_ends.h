/* The end of page faults for which something was read: a software event of each CPU, at which a program runs. */
#ifndef FAULT_ENDS_H
#define FAULT_ENDS_H

struct bpf_program;
struct bpf_link;

struct fault_ends {
    struct bpf_link **links; /* [count]; NULL: not attached */
    unsigned count;
};

/* Owner:   the caller detaches *ret_ends
 * Errors:  -errno; *ret_ends has nothing then */
int fault_ends_attach(struct fault_ends *ret_ends, const struct bpf_program *program);

void fault_ends_detach(struct fault_ends *ends);

#endif
