/* Private: the table of options. */
#ifndef OPTIONS_ROWS_H
#define OPTIONS_ROWS_H

#include "option_table.h"

/* The rows are parsed into struct options, and stand in the order of --help. A name is an argument of -o, unless it
 * begins with "-". */
extern const struct option_row options_rows[];

#endif
