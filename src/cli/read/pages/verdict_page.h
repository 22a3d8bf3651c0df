/* The results of comparing two sets of runs: for people, in one line an operation, for a code review, and as JSON. */
#ifndef VERDICT_PAGE_H
#define VERDICT_PAGE_H

#include "sheet.h"
#include "verdict.h"

struct verdict_page {
    const struct verdict_result *result;
    const char *a_name; /* of the set, in a word or two */
    const char *b_name;
    bool is_job; /* each run was one command: so the elapsed time is of interest */
    bool no_charts;
    bool is_headed_by_time;                /* the first line is how long the job took, if it is one */
    const struct chart_pictures *pictures; /* in HTML, instead of charts */
};

/* A sentence that answers the question, the operations that changed, the most expensive first, each with its charts, A
 * over B, and the names of the others. */
void verdict_page_print(const struct verdict_page *page, const struct screen *screen);

/* Its parts: all but the operations that changed, and these. */
void verdict_page_print_parts(const struct verdict_page *page, bool has_summary, bool has_ops,
                              const struct screen *screen);

/* A line for each operation: name, word, ratio of mean latency with its interval, ratio of calls. */
void verdict_page_print_brief(const struct verdict_page *page, const struct screen *screen);

/* The sentence and the table in the Markdown of GitHub and GitLab. */
void verdict_page_print_markdown(const struct verdict_page *page, const struct screen *screen);

/* All of it, after docs/verdict.schema.json, on standard output. */
void verdict_page_print_json(const struct verdict_page *page);

#endif
