/* Private: what the live file must have that this object counts in. */
#ifndef JOINING_H
#define JOINING_H

#include "preload.h"

extern const struct preload_ops posix_ops;

#endif
