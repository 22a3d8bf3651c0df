/* Timer interrupts, found among all interruptions of a thread that only reads the clock (thesis §3.3.1). */
#ifndef TICKS_H
#define TICKS_H

#include <stddef.h>

/* A time in which the thread did not run. */
struct gap {
    double start_ns;
    double length_ns;
};

/* Finds the gaps that begin in step with a clock of that period: those in the 1/25 of the period in which most begin;
 * if a period has several, the longest. There must be at least ten, and many more (six standard deviations) than if
 * gaps came at random. Gaps of half a period and more are left out: in these another thread ran.
 * gaps:    by start
 * Shape:   ret_ticks[count]
 * Returns how many; 0: none can be distinguished from the rest */
size_t ticks_find(const struct gap *gaps, size_t count, double period_ns, struct gap *ret_ticks);

/* The time from each to the next, divided by the nearest number of periods.
 * Shape:   ret_periods_ns[count]
 * Returns how many, count - 1 */
size_t ticks_periods(const struct gap *ticks, size_t count, double period_ns, double *ret_periods_ns);

#endif
