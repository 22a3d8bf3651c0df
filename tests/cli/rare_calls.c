/* Calls on the file "f" of a directory that programs seldom make: a known number of each. With a second argument, those on
 * things that are no files. */
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "checked_calls.h"

#define SIZE_BYTES 8192
#define CACHESTAT 451 /* the same on all machines; older kernels refuse it */
#define TIMES(COUNT) for (int i = 0; i < (COUNT); i++)

static void call_by_name(int directory_fd) {
    int mount;
    struct file_handle *handle = malloc(sizeof(*handle) + MAX_HANDLE_SZ);
    const int watches = inotify_init();
    CHECK(handle != NULL && watches >= 0);
    handle->handle_bytes = MAX_HANDLE_SZ;
    TIMES(2) CHECK(fchdir(directory_fd) == 0);                                     /* CHDIR 2 */
    TIMES(3) CHECK(chdir("none") < 0);                                             /* CHDIR 5 */
    TIMES(4) CHECK(name_to_handle_at(AT_FDCWD, "f", handle, &mount, 0) == 0);      /* STAT 4 */
    TIMES(5) CHECK(close(open_by_handle_at(directory_fd, handle, O_RDONLY)) == 0); /* OPEN 5, CLOSE 5 */
    TIMES(3) CHECK(inotify_add_watch(watches, "f", IN_MODIFY) >= 0);               /* ACCESS 3 */
    free(handle);
}

static void call_by_descriptor(int fd) {
    unsigned long range[2] = {0}, answer[5];
    int flags;
    char *map = mmap(NULL, SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0); /* MMAP 1 */
    CHECK(map != MAP_FAILED);
    TIMES(7) readahead(fd, 0, SIZE_BYTES);                        /* FADVISE 7 */
    TIMES(8) CHECK(madvise(map, SIZE_BYTES, MADV_WILLNEED) == 0); /* FADVISE 15 */
    TIMES(5) CHECK(madvise(map, SIZE_BYTES, MADV_NORMAL) == 0);   /* not counted */
    TIMES(3) syscall(CACHESTAT, fd, range, answer, 0);            /* FADVISE 18 */
    TIMES(4) CHECK(msync(map, SIZE_BYTES, MS_ASYNC) == 0);        /* MSYNC 4 */
    TIMES(2) sync();                                              /* SYNCFS 2 */
    TIMES(3) CHECK(syncfs(fd) == 0);                              /* SYNCFS 5 */
    TIMES(5) ioctl(fd, FS_IOC_GETFLAGS, &flags);                  /* IOCTL 5 */
    TIMES(2) ioctl(fd, FICLONE, fd);                              /* IOCTL 7 */
}

static void call_on_files(const char *directory) {
    CHECK(chdir(directory) == 0); /* CHDIR 1 */
    const int fd = open("f", O_RDWR);
    const int directory_fd = open(".", O_RDONLY); /* OPEN 2 */
    CHECK(fd >= 0 && directory_fd >= 0);
    call_by_name(directory_fd);
    call_by_descriptor(fd);
}

static void call_on_others(void) {
    int bytes;
    int ends[2];
    char *map = mmap(NULL, SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED && pipe(ends) == 0);
    TIMES(6) madvise(map, SIZE_BYTES, MADV_WILLNEED);
    TIMES(6) CHECK(msync(map, SIZE_BYTES, MS_ASYNC) == 0);
    TIMES(6) CHECK(ioctl(ends[0], FIONREAD, &bytes) == 0);
    TIMES(6) CHECK(chdir("/proc/self") == 0);
}

int main(int count, char **arguments) {
    if (count > 2)
        call_on_others();
    else
        call_on_files(arguments[1]);
    return 0;
}
