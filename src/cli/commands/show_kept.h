/* osprof show --list: the results that osprof run has kept, a line each. */
#ifndef SHOW_KEPT_H
#define SHOW_KEPT_H

#include "command.h"

enum status show_kept(void);

#endif
