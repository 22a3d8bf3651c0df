/* They are opened on /dev/null. */
#include "spare_fds.h"

#include <fcntl.h>

#include "base.h"

static void open_all(struct spare_fds *spare) {
    for (size_t index = 0; index < SPARE_FDS; index++) {
        if (spare->fds[index] < 0)
            spare->fds[index] = open("/dev/null", O_PATH | O_CLOEXEC);
    }
}

static void close_all(struct spare_fds *spare) {
    for (size_t index = 0; index < SPARE_FDS; index++)
        close_fd(&spare->fds[index]);
}

void spare_fds_init(struct spare_fds *spare) {
    pthread_mutex_init(&spare->lock, NULL);
    spare->users = 0;
    for (size_t index = 0; index < SPARE_FDS; index++)
        spare->fds[index] = -1;
    open_all(spare);
}

void spare_fds_finish(struct spare_fds *spare) {
    close_all(spare);
    pthread_mutex_destroy(&spare->lock);
}

void spare_fds_use(struct spare_fds *spare) {
    pthread_mutex_lock(&spare->lock);
    if (spare->users++ == 0)
        close_all(spare);
    pthread_mutex_unlock(&spare->lock);
}

void spare_fds_keep(struct spare_fds *spare) {
    pthread_mutex_lock(&spare->lock);
    if (--spare->users == 0)
        open_all(spare);
    pthread_mutex_unlock(&spare->lock);
}
