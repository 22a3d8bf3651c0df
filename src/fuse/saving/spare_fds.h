/* Descriptors kept in reserve for saving: a user who has used up all others must not cost us the profile.
 * Threads: any */
#ifndef SPARE_FDS_H
#define SPARE_FDS_H

#include <pthread.h>

#define SPARE_FDS 6 /* a directory, a new file, the old one, its second place, and two that the library opens */

struct spare_fds {
    pthread_mutex_t lock;
    unsigned users;
    int fds[SPARE_FDS]; /* -1: none */
};

void spare_fds_init(struct spare_fds *spare);
void spare_fds_finish(struct spare_fds *spare);

/* They are closed at the first use, and opened again after the last, as far as possible. */
void spare_fds_use(struct spare_fds *spare);
void spare_fds_keep(struct spare_fds *spare);

#endif
