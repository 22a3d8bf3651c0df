/* Private: which options there are. */
#ifndef OPTIONS_ROWS_H
#define OPTIONS_ROWS_H

#include "option_table.h"

/* Into struct options. Names are those of -o, but for those that begin with "-". In the order of --help. */
extern const struct option_row options_rows[];

#endif
