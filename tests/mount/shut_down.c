/* shut_down DIR: makes the file system of DIR (ext4, xfs) fail everything from now on, as a lost device would. Exit
 * status 1 if it cannot. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>

#define SHUTDOWN_IOCTL _IOR('X', 125, uint32_t) /* EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN */
#define WITHOUT_FLUSHING 2U

int main(int argc, char **argv) {
    int fd = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;
    uint32_t how = WITHOUT_FLUSHING;
    return fd >= 0 && ioctl(fd, SHUTDOWN_IOCTL, &how) == 0 ? 0 : 1;
}
