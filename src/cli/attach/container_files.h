/* Names of containers in the files of their runtimes. A user's containers are looked for below his home directory, so he
 * can name only his own; what is there is not trusted. */
#ifndef CONTAINER_FILES_H
#define CONTAINER_FILES_H

#include "container_names.h"

/* Sets the name, unless it cannot be read.
 * root: where "/var/lib/docker" and so on are; "": the root directory */
void container_files_read_name(const char *root, struct container *container);

#endif
