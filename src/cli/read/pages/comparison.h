/* The results of comparing two profiles, for people and as JSON. */
#ifndef COMPARISON_H
#define COMPARISON_H

#include "calibration.h"
#include "compare.h"
#include "sheet.h"

struct comparison {
    const struct compare_result *result;
    const char *a_name; /* names of both: files, or "before" and "after" */
    const char *b_name;
    const struct calibration *a_times; /* for naming their peaks; not used for JSON */
    const struct calibration *b_times;
    bool all;                              /* also prints the operations that do not differ; JSON always has them */
    bool verbose;                          /* also prints by which method, score and phase operations differ */
    const struct chart_pictures *pictures; /* in HTML, instead of charts */
};

/* Prints it: a sentence, the two profiles, what changed as a table, what may be noise, what is the same; then for each
 * operation that differs what changed, in words and as two histograms. */
void comparison_print(const struct comparison *comparison, const struct screen *screen);

/* Its parts: all but the operations that differ, and these. */
void comparison_print_parts(const struct comparison *comparison, bool has_summary, bool has_ops,
                            const struct screen *screen);

/* Reports to the user that compare_profiles() has failed. */
void comparison_complain(const char *a_name, const char *b_name, const struct aggstats_profile *a, int error);

/* The same as JSON, after docs/comparison.schema.json, on standard output. */
void comparison_print_json(const struct comparison *comparison);

/* The word for a verdict, as in JSON: "score", "one side". */
const char *comparison_verdict_name(enum compare_verdict verdict);

/* ... and for a list: "may be noise". */
const char *comparison_list_name(enum compare_list list);

#endif
