/* Parts of the profiler, as ops that take the place of those of the prof layer (thesis §6.2): an extra function call, and
 * with it two reads of the clock, of which nothing is kept. */
#ifndef PARTIAL_OPS_H
#define PARTIAL_OPS_H

#include "prof.h"

/* The call must not become a jump. reads_clock: a constant */
#define PARTIAL_OP(kind, reads_clock, member, params)                                                                  \
    static int kind##_##member(struct fs_layer *layer, FS_PARAMETERS(params)) {                                        \
        const uint32_t clock_kind = aggstats_hot(((struct prof *)layer)->recorder)->clock_kind;                        \
        struct fs_layer *next = layer->next;                                                                           \
        uint64_t start_cycles = (reads_clock) ? aggstats_clock_now(clock_kind) : 0;                                    \
        int result = next->ops->member(next, FS_ARGUMENTS(params));                                                    \
        uint64_t latency_cycles = (reads_clock) ? aggstats_clock_now(clock_kind) - start_cycles : 0;                   \
        __asm__ volatile("" : "+r"(result) : "g"(latency_cycles));                                                     \
        return result;                                                                                                 \
    }
#define CALL_OP(NAME, member, params, ...) PARTIAL_OP(partial_call, false, member, params)
#define TSC_OP(NAME, member, params, ...) PARTIAL_OP(partial_tsc, true, member, params)
FS_OPS(CALL_OP)
FS_OPS(TSC_OP)

static void partial_forget(struct fs_layer *layer, fs_ino ino, uint64_t count) {
    layer->next->ops->forget(layer->next, ino, count);
}

#define CALL_ROW(NAME, member, ...) .member = partial_call_##member,
#define TSC_ROW(NAME, member, ...) .member = partial_tsc_##member,
static const struct fs_ops partial_call_ops = {FS_OPS(CALL_ROW).forget = partial_forget};
static const struct fs_ops partial_tsc_ops = {FS_OPS(TSC_ROW).forget = partial_forget};

#endif
