/* Functions for all measurements. */
#include "measure.h"

#include "base.h"

void samples_add(struct samples *samples, double ns) {
    if (samples->count < SAMPLES_MAX)
        samples->ns[samples->count++] = ns;
}

double measure_ns(const struct aggstats_clock *clock, uint64_t cycles) {
    return (double)cycles / (double)clock->frequency_hz * 1e9;
}

uint64_t measure_deadline(const struct aggstats_clock *clock, double seconds) {
    return aggstats_clock_now(clock->kind) + (uint64_t)(seconds * (double)clock->frequency_hz);
}

/* Samples are taken in bursts, so that a short disturbance of the machine does not affect all of them. */
#define BURSTS 10U
#define BURST_PAUSE_NS 10000000

static void pause_between_bursts(const struct effort *effort, size_t count) {
    const struct timespec pause = {.tv_nsec = BURST_PAUSE_NS};
    if (count % (effort->sample_count / BURSTS + 1) == 0)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

int samples_take(const struct effort *effort, double things, measured_fn function, void *context,
                 struct samples *ret_samples) {
    const struct aggstats_clock *clock = &effort->clock;
    const uint64_t deadline = measure_deadline(clock, effort->seconds_max);
    int error = function(context); /* the first is slower */
    ret_samples->count = 0;
    while (!error && ret_samples->count < effort->sample_count) {
        uint64_t before = aggstats_clock_now(clock->kind);
        error = function(context);
        uint64_t after = aggstats_clock_now(clock->kind);
        samples_add(ret_samples, measure_ns(clock, after - before) / things);
        if (after > deadline)
            break;
        pause_between_bursts(effort, ret_samples->count);
    }
    return error;
}

int pin_take(struct pin *ret_pin) {
    cpu_set_t one;
    int cpu = sched_getcpu();
    if (cpu < 0 || sched_getaffinity(0, sizeof(ret_pin->before), &ret_pin->before) < 0)
        return negative_errno();
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    return sched_setaffinity(0, sizeof(one), &one) < 0 ? negative_errno() : 0;
}

void pin_release(const struct pin *pin) {
    sched_setaffinity(0, sizeof(pin->before), &pin->before);
}
