/* Private: the peaks of ops, and how much of the calls lies in each. */
#ifndef VERDICT_PEAKS_H
#define VERDICT_PEAKS_H

#include "verdict_runs.h"

/* Finds the peaks of the ops that are judged, and compares them; after figures were compared. Errors: -ENOMEM */
int verdict_compare_peaks(struct verdict_runs *runs);

#endif
