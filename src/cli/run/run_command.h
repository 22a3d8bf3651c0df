/* A run, from opening what is profiled to the report. */
#ifndef RUN_COMMAND_H
#define RUN_COMMAND_H

#include "run_options.h"

/* Runs the command, as often as it is to be run, and reports or saves what was profiled. Returns an exit status, that
 * of the command or one of run_status.h.
 * Errors:  told to the user */
int run_command(const struct run_options *options);

#endif
