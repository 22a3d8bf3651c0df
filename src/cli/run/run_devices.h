/* Which devices without a disk have files that count, among all files, at the layer user: those of which the preloaded
 * library must not ask the kernel (src/interpose/common/include/scope.h). */
#ifndef RUN_DEVICES_H
#define RUN_DEVICES_H

#include <stdio.h>

/* Writes them as the library's variable has them: pMINOR for pseudo file systems, dMINOR for file systems of a daemon or
 * a server, which would be asked too. */
void run_devices_write(FILE *stream);

#endif
