/* The current directory of this process, as far as it is known. All functions except directory_path() keep errno. */
#ifndef DIRECTORY_H
#define DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "below.h"

/* Where the file of a name relative to it is. */
enum below_place directory_place_of(const char *path);

/* True if all files below it count, and that is known. */
bool directory_counts(void);

/* Its path. Returns the length; 0: it has none, or does not fit. May change errno */
size_t directory_path(char *ret_path, size_t size_bytes);

/* This process has changed it. A child without a thread area may call this (wrapper.h). */
void directory_changed(void);

#endif
