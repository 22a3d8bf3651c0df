/* Attaches a program to an event for each CPU. A CPU that is offline is left out; any other failure detaches all. */
#include "fault_ends.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base.h"

static int open_event(unsigned cpu) {
    struct perf_event_attr event = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof(event), .config = PERF_COUNT_SW_PAGE_FAULTS_MAJ, .sample_period = 1};
    const long fd = syscall(SYS_perf_event_open, &event, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? negative_errno() : (int)fd;
}

/* The CPU may be offline. */
static int attach_to(struct fault_ends *ends, const struct bpf_program *program, unsigned cpu) {
    const int fd = open_event(cpu);
    if (fd < 0)
        return fd == -ENODEV ? 0 : fd;
    struct bpf_link *link = bpf_program__attach_perf_event(program, fd); /* takes the descriptor over */
    if (!link) {
        int error = negative_errno();
        close(fd);
        return error;
    }
    ends->links[ends->count++] = link;
    return 0;
}

int fault_ends_attach(struct fault_ends *ret_ends, const struct bpf_program *program) {
    const int cpus = libbpf_num_possible_cpus();
    *ret_ends = (struct fault_ends){.links = cpus > 0 ? calloc((unsigned)cpus, sizeof(struct bpf_link *)) : NULL};
    int error = ret_ends->links ? 0 : -ENOMEM;
    for (unsigned cpu = 0; error == 0 && cpu < (unsigned)cpus; cpu++)
        error = attach_to(ret_ends, program, cpu);
    if (error)
        fault_ends_detach(ret_ends);
    return error;
}

void fault_ends_detach(struct fault_ends *ends) {
    for (unsigned i = 0; i < ends->count; i++)
        bpf_link__destroy(ends->links[i]);
    free(ends->links);
    *ends = (struct fault_ends){.links = NULL};
}
