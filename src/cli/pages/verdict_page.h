/* The results of comparing two sets of runs: for people, in one line an operation, for a code review, and as JSON. */
#ifndef VERDICT_PAGE_H
#define VERDICT_PAGE_H

#include "chart.h"
#include "screen.h"
#include "verdict.h"

struct verdict_page {
    const struct verdict_result *result;
    const char *a_name; /* of the set, in a word or two */
    const char *b_name;
    bool is_job; /* each run was one command: so the elapsed time is of interest */
    bool no_charts;
    const struct chart_pictures *pictures; /* in HTML, instead of charts */
};

/* A sentence that answers the question, the operations that changed, the most expensive first, each with its charts, A
 * over B, and the names of the others. */
void verdict_page_print(const struct verdict_page *page, const struct screen *screen);

/* Its parts, for pages that are put together otherwise: all but the operations that changed, and these. */
void verdict_page_print_summary(const struct verdict_page *page, const struct screen *screen);
void verdict_page_print_ops(const struct verdict_page *page, const struct screen *screen);

/* A line for each operation: name, word, ratio of mean latency with its interval, ratio of calls. */
void verdict_page_print_brief(const struct verdict_page *page, const struct screen *screen);

/* The sentence and the table in the Markdown of GitHub and GitLab. */
void verdict_page_print_markdown(const struct verdict_page *page, const struct screen *screen);

/* All of it, after docs/verdict.schema.json, on standard output. */
void verdict_page_print_json(const struct verdict_page *page);

#endif
