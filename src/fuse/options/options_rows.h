/* Private: the table of options. */
#ifndef OPTIONS_ROWS_H
#define OPTIONS_ROWS_H

#include "option_table.h"

/* Parsed into struct options. Names are those of -o, except those that begin with "-". In the order of --help. */
extern const struct option_row options_rows[];

#endif
