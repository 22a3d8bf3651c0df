/* Which clock to time with, and its frequency.
 *
 * The cycle counter is used only where it is constant and nonstop: the CPU must say so, and the kernel, which watches
 * it against other clocks, must not have rejected it. */
#include "clock_pair.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* The frequency is measured until its error is at most so many parts per million, or for so long if the readings are
 * too slow; a recorder improves it as time passes. */
#define MEASURE_PPM 50U
#define MEASURE_STEP_NS 500000
#define MEASURE_MOST_NS 4000000U

const char *aggstats_clock_name(uint32_t kind) {
    static const char *const names[] = {
        [AGGSTATS_CLOCK_TSC] = "tsc", [AGGSTATS_CLOCK_CNTVCT] = "cntvct", [AGGSTATS_CLOCK_MONOTONIC] = "monotonic"};
    return kind < ARRAY_SIZE(names) ? names[kind] : NULL;
}

uint64_t clock_realtime_ns(void) {
    return (uint64_t)read_clock_ns(CLOCK_REALTIME);
}

#if defined(__x86_64__)
/* The kernel drops "tsc" from this list if it has seen it drift. No list: nothing known against it. */
static bool kernel_trusts_tsc(void) {
    const char *path = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    char names[256];
    char *rest = NULL;
    if (!read_beginning(AT_FDCWD, path, names, sizeof(names)))
        return true;
    for (char *name = strtok_r(names, " \n", &rest); name; name = strtok_r(NULL, " \n", &rest))
        if (strcmp(name, "tsc") == 0)
            return true;
    return false;
}

static uint32_t cycle_counter_kind(void) {
    unsigned eax;
    unsigned ebx;
    unsigned ecx;
    unsigned edx;
    const unsigned invariant_tsc = 1U << 8;
    if (!__get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) || !(edx & invariant_tsc))
        return AGGSTATS_CLOCK_MONOTONIC;
    return kernel_trusts_tsc() ? AGGSTATS_CLOCK_TSC : AGGSTATS_CLOCK_MONOTONIC;
}
#elif defined(__aarch64__)
static uint32_t cycle_counter_kind(void) {
    return AGGSTATS_CLOCK_CNTVCT; /* the architecture promises a constant, nonstop counter */
}
#else
static uint32_t cycle_counter_kind(void) {
    return AGGSTATS_CLOCK_MONOTONIC;
}
#endif

bool clock_readable(uint32_t kind) {
#if defined(__x86_64__)
    return kind == AGGSTATS_CLOCK_TSC || kind == AGGSTATS_CLOCK_MONOTONIC;
#elif defined(__aarch64__)
    return kind == AGGSTATS_CLOCK_CNTVCT || kind == AGGSTATS_CLOCK_MONOTONIC;
#else
    return kind == AGGSTATS_CLOCK_MONOTONIC;
#endif
}

/* The factor by which the kernel turns the counter into ns, as it shows it to users of perf events: ns = cycles * mult
 * / 2^shift. Returns 0 if there is none: the kernel's own clock is another one, or the event is not allowed. Every user
 * may open an event of one thread, but then the kernel waits for all CPUs: 7 to 25 ms, more than measuring takes. */
static uint64_t frequency_from_kernel(void) {
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attr),
        .config = PERF_COUNT_SW_DUMMY,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    CLEANUP_FD int fd = (int)syscall(SYS_perf_event_open, &attr, -1, sched_getcpu(), -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return 0;
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *mapping = mmap(NULL, page_bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (mapping == MAP_FAILED)
        return 0;
    const struct perf_event_mmap_page *page = mapping;
    uint64_t frequency_hz = 0;
    if (page->cap_user_time && page->time_mult > 0 && page->time_shift < 64) {
        long double cycles_per_ns = (long double)(UINT64_C(1) << page->time_shift) / page->time_mult;
        frequency_hz = (uint64_t)(cycles_per_ns * NS_PER_S + 0.5L);
    }
    munmap(mapping, page_bytes);
    return frequency_hz;
}

#if defined(__aarch64__)
static uint64_t frequency_from_cpu(void) {
    uint64_t frequency_hz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency_hz));
    return frequency_hz;
}
#else
static uint64_t frequency_from_cpu(void) {
    return 0;
}
#endif

/* Reads both clocks several times and keeps the pair with the smallest gap: an interruption spoils it only if it
 * happens every time. */
struct clock_pair clock_pair_now(uint32_t kind) {
    struct clock_pair best = {0};
    uint64_t gap_min_cycles = UINT64_MAX;
    for (int i = 0; i < 8; i++) {
        uint64_t before_cycles = aggstats_clock_now(kind);
        uint64_t raw_ns = (uint64_t)read_clock_ns(CLOCK_MONOTONIC_RAW);
        uint64_t gap_cycles = aggstats_clock_now(kind) - before_cycles;
        if (gap_cycles >= gap_min_cycles)
            continue;
        gap_min_cycles = gap_cycles;
        best =
            (struct clock_pair){.cycles = before_cycles + gap_cycles / 2, .raw_ns = raw_ns, .gap_cycles = gap_cycles};
    }
    return best;
}

uint64_t clock_pair_frequency(const struct clock_pair *from, const struct clock_pair *to) {
    if (to->raw_ns <= from->raw_ns || to->cycles <= from->cycles)
        return 0;
    long double seconds = (long double)(to->raw_ns - from->raw_ns) / NS_PER_S;
    return (uint64_t)((long double)(to->cycles - from->cycles) / seconds + 0.5L);
}

static uint64_t frequency_measured(uint32_t kind) {
    struct clock_pair from = clock_pair_now(kind);
    struct clock_pair to;
    uint64_t error_cycles;
    do {
        struct timespec pause = {.tv_nsec = MEASURE_STEP_NS};
        while (clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, &pause) == EINTR)
            continue;
        to = clock_pair_now(kind);
        error_cycles = (from.gap_cycles + to.gap_cycles) / 2; /* each moment may be off by half of its gap */
    } while (error_cycles * 1000000U > MEASURE_PPM * (to.cycles - from.cycles) &&
             to.raw_ns - from.raw_ns < MEASURE_MOST_NS);
    return clock_pair_frequency(&from, &to);
}

void clock_detect(struct aggstats_clock *ret_clock, bool *ret_measured) {
    struct aggstats_clock clock = {.kind = cycle_counter_kind()};
    bool measured = false;
    if (clock.kind == AGGSTATS_CLOCK_TSC)
        clock.frequency_hz = frequency_from_kernel();
    if (clock.kind == AGGSTATS_CLOCK_CNTVCT)
        clock.frequency_hz = frequency_from_cpu();
    if (clock.kind != AGGSTATS_CLOCK_MONOTONIC && clock.frequency_hz == 0) {
        clock.frequency_hz = frequency_measured(clock.kind);
        measured = true;
    }
    if (clock.frequency_hz == 0) /* also for a counter that stands still */
        clock = (struct aggstats_clock){.kind = AGGSTATS_CLOCK_MONOTONIC, .frequency_hz = NS_PER_S};
    *ret_clock = clock;
    *ret_measured = measured;
}

void aggstats_clock_detect(struct aggstats_clock *ret_clock) {
    bool measured;
    clock_detect(ret_clock, &measured);
}
