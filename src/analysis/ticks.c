/* A histogram of where in the period gaps begin; the fullest two adjacent parts are the tick. */
#include "ticks.h"

#include <math.h>
#include <stdbool.h>

#define PARTS 50U
#define WINDOW 2U /* parts; two, so that a tick on a border is complete */
#define TICKS_MIN 10U
#define DEVIATIONS 6

static unsigned part_of(const struct gap *gap, double period_ns) {
    unsigned part = (unsigned)(fmod(gap->start_ns, period_ns) / period_ns * PARTS);
    return part < PARTS ? part : PARTS - 1;
}

static bool is_short(const struct gap *gap, double period_ns) {
    return gap->length_ns < period_ns / 2;
}

static size_t gaps_in_window(const size_t *parts, unsigned first) {
    size_t count = 0;
    for (unsigned i = 0; i < WINDOW; i++)
        count += parts[(first + i) % PARTS];
    return count;
}

size_t ticks_find(const struct gap *gaps, size_t count, double period_ns, struct gap *ret_ticks) {
    size_t parts[PARTS] = {0};
    size_t short_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_short(&gaps[i], period_ns))
            continue;
        parts[part_of(&gaps[i], period_ns)]++;
        short_count++;
    }
    unsigned first = 0; /* of the fullest window */
    for (unsigned i = 1; i < PARTS; i++)
        if (gaps_in_window(parts, i) > gaps_in_window(parts, first))
            first = i;
    size_t in_window = gaps_in_window(parts, first);
    /* The other parts show how many would be there by chance. */
    double chance = (double)(short_count - in_window) * WINDOW / (PARTS - WINDOW);
    if (in_window < TICKS_MIN || (double)in_window <= chance + DEVIATIONS * sqrt(chance))
        return 0;
    size_t tick_count = 0;
    for (size_t i = 0; i < count; i++) {
        bool in_step = (part_of(&gaps[i], period_ns) + PARTS - first) % PARTS < WINDOW;
        if (!in_step || !is_short(&gaps[i], period_ns))
            continue;
        struct gap *last = tick_count > 0 ? &ret_ticks[tick_count - 1] : NULL;
        if (!last || gaps[i].start_ns - last->start_ns > period_ns / 2)
            ret_ticks[tick_count++] = gaps[i];
        else if (gaps[i].length_ns > last->length_ns)
            *last = gaps[i];
    }
    return tick_count;
}

size_t ticks_periods(const struct gap *ticks, size_t count, double period_ns, double *ret_periods_ns) {
    for (size_t i = 0; i + 1 < count; i++) {
        double apart_ns = ticks[i + 1].start_ns - ticks[i].start_ns;
        ret_periods_ns[i] = apart_ns / fmax(round(apart_ns / period_ns), 1);
    }
    return count > 0 ? count - 1 : 0;
}
