/* Live files of runs whose osprof was killed. They are kept for 'osprof recover', but must not pile up. */
#ifndef RUN_KILLED_H
#define RUN_KILLED_H

/* Reports each such file beside that of this run once. Removes those that were reported more than a week ago, except the
 * ten newest, and reports that. */
void run_killed_tidy(const char *live_path);

#endif
