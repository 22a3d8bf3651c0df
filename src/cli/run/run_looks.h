/* After which rounds of osprof run --repeat auto the runs are compared.
 *
 * After 3, 5, 8, 12 rounds and so on, each time half as many more. A look may find a change that is none, and the more
 * looks the likelier: what that may come to in all is divided among the looks that there can be (Bonferroni). */
#ifndef RUN_LOOKS_H
#define RUN_LOOKS_H

#define RUN_LOOKS_FIRST 3U         /* rounds; --max-repeat takes no fewer */
#define RUN_LOOKS_MOST_DEFAULT 30U /* the same */

/* The look that comes next, after `rounds`, of which at most `most` are made. */
unsigned run_looks_next(unsigned rounds, unsigned most);

/* How many looks there are at most. */
unsigned run_looks_count(unsigned most);

#endif
