/* The part of a counted call that runs only with groups: call.h has the rest, inline. */
#include "call.h"

#include "subjects.h"

void call_add_to_groups(unsigned op, call_of of, uint64_t latency_cycles) {
    const aggstats_subject subject = subjects_with_mount(call_of_subject(of));
    aggstats_shared_group_add(preload.recorder, preload_caller(), subject, op, latency_cycles);
}
