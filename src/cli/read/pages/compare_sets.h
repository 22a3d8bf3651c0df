/* Two sets of runs, read and compared: A... -- B..., or those of a directory. */
#ifndef COMPARE_SETS_H
#define COMPARE_SETS_H

#include <stddef.h>

#include "input.h"
#include "option_table.h"
#include "verdict.h"
#include "verdict_page.h"

struct compare_sets {
    struct verdict_options options;
    const char *layer;     /* of recordings; NULL: fs if there is one */
    const char *directory; /* with the runs that osprof run has kept; NULL: runs are named */
    char *const *a;        /* profiles; "@FILE": the names in a file */
    size_t a_count;
    char *const *b;
    size_t b_count;
    input_load_fn load; /* of those that are named */

    /* Is given each of B's runs as it was read, with all layers. NULL: nobody wants them. Errors: reported to the user */
    int (*take)(void *context, const char *name, const struct input *input);
    void *context;
};

/* Points into itself: not to be moved. */
struct compared_sets {
    struct verdict_result result;
    struct verdict_page page; /* of the result, for all ways to print */
    char a_name[512];
    char b_name[512];
};

/* Owner:   the caller finishes *ret_sets
 * Errors:  reported to the user */
int compare_sets(const struct compare_sets *sets, struct compared_sets *ret_sets);

void compared_sets_finish(struct compared_sets *sets);

/* ---- The option --fail-on: changes that make the exit status 1 ---------------------------------- */

/* The row of the option; parser: a function of the table's options, which calls fail_on_parse(). */
#define ROW_FAIL_ON(parser, text)                                                                                      \
    {                                                                                                                  \
        .name = "fail-on", .metavar = "LIST", WORDS("change", "slower", "calls", "total", "elapsed"), .help = (text),  \
        .kind = OPTION_PARSED, .parse = (parser)                                                                       \
    }

/* Reads words with commas between: "slower,calls".
 * ret_questions: VERDICT_ON_*
 * Returns NULL, or what is wrong, in `why` */
const char *fail_on_parse(const char *text, unsigned *ret_questions, char why[OPTION_TEXT_SIZE]);

#endif
