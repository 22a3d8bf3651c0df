/* The prof layer: one wrapper per row of FS_OPS, in the three variants of thesis §6.2. */
#include "prof.h"

#include <assert.h>

#include "base.h"

const char *const fs_op_names[FS_OP_COUNT] = {
#define NAME_ROW(NAME, member, params, args) [FS_OP_##NAME] = #NAME,
    FS_OPS(NAME_ROW)
#undef NAME_ROW
};

static_assert(FS_OP_COUNT <= AGGSTATS_OPS_MAX, "the recorder has room for every op");

static struct prof *to_prof(struct fs_layer *layer) {
    return container_of(layer, struct prof, layer);
}

#define FULL_WRAPPER(NAME, member, params, args)                                                                       \
    static int full_##member(struct fs_layer *layer, FS_UNPACK params) {                                               \
        struct aggstats_recorder *recorder = to_prof(layer)->recorder;                                                 \
        struct fs_layer *next = layer->next;                                                                           \
        struct aggstats_span span = aggstats_begin(recorder, FS_OP_##NAME, ino, (uint64_t)caller->pid);                \
        int result = next->ops->member(next, FS_UNPACK args);                                                          \
        aggstats_end(recorder, &span);                                                                                 \
        return result;                                                                                                 \
    }

#define TSC_WRAPPER(NAME, member, params, args)                                                                        \
    static int tsc_##member(struct fs_layer *layer, FS_UNPACK params) {                                                \
        uint32_t clock_kind = to_prof(layer)->clock_kind;                                                              \
        struct fs_layer *next = layer->next;                                                                           \
        uint64_t start_cycles = aggstats_clock_now(clock_kind);                                                        \
        int result = next->ops->member(next, FS_UNPACK args);                                                          \
        uint64_t latency_cycles = aggstats_clock_now(clock_kind) - start_cycles;                                       \
        __asm__ volatile("" : : "r"(latency_cycles)); /* computed, though nobody keeps it */                           \
        return result;                                                                                                 \
    }

#define CALL_WRAPPER(NAME, member, params, args)                                                                       \
    static int call_##member(struct fs_layer *layer, FS_UNPACK params) {                                               \
        struct fs_layer *next = layer->next;                                                                           \
        int result = next->ops->member(next, FS_UNPACK args);                                                          \
        __asm__ volatile("" : "+r"(result)); /* keeps the call from becoming a jump */                                 \
        return result;                                                                                                 \
    }

FS_OPS(FULL_WRAPPER)
FS_OPS(TSC_WRAPPER)
FS_OPS(CALL_WRAPPER)

static void forget(struct fs_layer *layer, fs_ino ino, uint64_t count) {
    layer->next->ops->forget(layer->next, ino, count);
}

#define FULL_ROW(NAME, member, params, args) .member = full_##member,
#define TSC_ROW(NAME, member, params, args) .member = tsc_##member,
#define CALL_ROW(NAME, member, params, args) .member = call_##member,

static const struct fs_ops full_ops = {FS_OPS(FULL_ROW).forget = forget};
static const struct fs_ops tsc_ops = {FS_OPS(TSC_ROW).forget = forget};
static const struct fs_ops call_ops = {FS_OPS(CALL_ROW).forget = forget};

void prof_init(struct prof *prof, enum prof_timing timing, struct aggstats_recorder *recorder, struct fs_layer *next) {
    *prof = (struct prof){
        .layer.ops = timing == PROF_TIMING_FULL  ? &full_ops
                     : timing == PROF_TIMING_TSC ? &tsc_ops
                                                 : &call_ops,
        .layer.next = next,
        .recorder = recorder,
        .clock_kind = aggstats_recorder_clock(recorder).kind,
    };
}
