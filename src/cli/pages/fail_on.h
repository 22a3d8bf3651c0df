/* The option --fail-on of osprof compare and osprof run: which changes make the exit status 1. */
#ifndef FAIL_ON_H
#define FAIL_ON_H

#include "option_table.h"
#include "verdict.h"

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
