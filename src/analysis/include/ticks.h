/* Timer interrupts, found among all that interrupts a thread which only reads the clock (thesis §3.3.1). */
#ifndef TICKS_H
#define TICKS_H

#include <stddef.h>

/* A time in which the thread did not run. */
struct gap {
    double start_ns;
    double length_ns;
};

/* Finds the gaps that begin in step with a clock of that period: those in the 1/25 of the period in which most begin,
 * and of each period the longest. It must be ten at least, and by far (six standard deviations) more than if gaps came
 * at random. Gaps of half a period and more are left out: there another thread had its turn. gaps:    by start Shape:
 * ret_ticks[count] Returns how many; 0: none can be told from the rest */
size_t ticks_find(const struct gap *gaps, size_t count, double period_ns, struct gap *ret_ticks);

/* From each to the next, divided by the periods that are nearest to it.
 * Shape:   ret_periods_ns[count]
 * Returns how many, count - 1 */
size_t ticks_periods(const struct gap *ticks, size_t count, double period_ns, double *ret_periods_ns);

#endif
