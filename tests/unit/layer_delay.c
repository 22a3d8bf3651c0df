/* Waiting: asleep while there is time, by the clock at the end. */
#include "layer_delay.h"

#include <time.h>

#include "base.h"

#define SPIN_NS 1000000U /* sleeping is less exact than this */

static uint64_t to_ns(const struct layer_delay *delay, uint64_t cycles) {
    return (uint64_t)((double)cycles * 1e9 / (double)delay->clock.frequency_hz);
}

static int wait_a_while(struct fs_layer *layer) {
    struct layer_delay *delay = container_of(layer, struct layer_delay, layer);
    if (delay->delay_cycles == 0)
        return 0;
    uint64_t start_cycles = aggstats_clock_now(delay->clock.kind);
    uint64_t delay_ns = to_ns(delay, delay->delay_cycles);
    if (delay_ns > 2 * SPIN_NS) {
        struct timespec sleep = {.tv_nsec = (long)(delay_ns - SPIN_NS)};
        nanosleep(&sleep, NULL);
    }
    uint64_t now_cycles;
    do {
        now_cycles = aggstats_clock_now(delay->clock.kind);
    } while (now_cycles - start_cycles < delay->delay_cycles);
    delay->elapsed_cycles = now_cycles - start_cycles;
    return 0;
}

/* The parameters are there for the type of the vector only. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define DELAY_OP(NAME, member, params, ...)                                                                            \
    static int delay_##member(struct fs_layer *layer, FS_PARAMETERS(params)) {                                         \
        return wait_a_while(layer);                                                                                    \
    }
FS_OPS(DELAY_OP)
#pragma GCC diagnostic pop

static void forget(struct fs_layer *layer, fs_ino ino, uint64_t count) {
    (void)layer, (void)ino, (void)count;
}

#define DELAY_ROW(NAME, member, params, ...) .member = delay_##member,
static const struct fs_ops delay_ops = {FS_OPS(DELAY_ROW).forget = forget};

void layer_delay_init(struct layer_delay *delay, struct aggstats_clock clock) {
    *delay = (struct layer_delay){.layer.ops = &delay_ops, .clock = clock};
}
