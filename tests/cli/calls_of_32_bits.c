/* Calls of 32-bit programs, by this 64-bit one, in the current directory: a known number of each. Exit status 77: the
 * kernel or the machine has none. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checked_calls.h"

#define LARGE_FILE 0100000         /* O_LARGEFILE */
#define SET_LARGE_LOCK 13          /* F_SETLK64 */
#define TERMINAL_ATTRIBUTES 0x5401 /* TCGETS */
#define MEMORY_BYTES 65536

#if defined(__x86_64__)
static long call(long number, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e) {
    long result;
    register long fourth __asm__("rsi") = d;
    register long fifth __asm__("rdi") = e;
    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(number), "b"((long)a), "c"((long)b), "d"((long)c), "r"(fourth), "r"(fifth)
                     : "memory", "r8", "r9", "r10", "r11");
    return (int)result;
}

static uint8_t *memory; /* that has an address of 32 bits */

static uint32_t put(unsigned offset, const void *bytes, size_t size) {
    memcpy(memory + offset, bytes, size);
    return (uint32_t)(uintptr_t)(memory + offset);
}

static void repeat(int times, long expected, long number, const uint32_t arguments[5]) {
    for (int i = 0; i < times; i++)
        CHECK(call(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]) == expected);
}

#define CALLS(TIMES, EXPECTED, NUMBER, ...) repeat(TIMES, EXPECTED, NUMBER, (const uint32_t[5]){__VA_ARGS__})

static void make_calls(void) {
    const uint32_t name = put(0, "file", 5);
    const uint32_t other = put(16, "other", 6);
    const uint32_t missing = put(32, "none", 5);
    const uint32_t bytes = put(4096, "", 1);
    const uint32_t parts = put(64, (const uint32_t[]){bytes, 100, bytes, 200}, 16);
    const uint32_t lock = put(128, &(struct flock){.l_type = F_WRLCK}, sizeof(struct flock));
    const uint32_t fd = (uint32_t)call(5, name, O_RDWR | O_CREAT | LARGE_FILE, 0600, 0, 0);
    CALLS(7, 10, 4, fd, bytes, 10);                     /* write */
    CALLS(5, 300, 146, fd, parts, 2);                   /* writev */
    CALLS(3, 10, 180, fd, bytes, 10);                   /* pread64 */
    CALLS(2, 10, 181, fd, bytes, 10, 4096, 1);          /* pwrite64, behind 4 GiB */
    CALLS(4, 10, 180, fd, bytes, 10, 4096, 1);          /* pread64, there */
    CALLS(11, 0, 195, name, bytes);                     /* stat64 */
    CALLS(6, -2, 195, missing, bytes);                  /* of none */
    CALLS(13, 0, 300, (uint32_t)AT_FDCWD, name, bytes); /* fstatat64 */
    CALLS(1, 0, 221, fd, SET_LARGE_LOCK, lock);         /* fcntl64 */
    CALLS(1, 0, 221, fd, F_SETFD);                      /* of no lock */
    CALLS(2, -ENOTTY, 54, fd, TERMINAL_ATTRIBUTES);     /* ioctl */
    CALLS(3, -EBADF, 292, (uint32_t)-1, name, 2);       /* inotify_add_watch */
    CALLS(4, -ENOENT, 12, missing);                     /* chdir */
    CALLS(1, 0, 38, name, other);                       /* rename */
    CALLS(1, 0, 10, other);                             /* unlink */
    CALLS(1, 0, 6, fd);                                 /* close */
}

static void skip(int signal) {
    (void)signal;
    _exit(77);
}

int main(void) {
    memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    CHECK(memory != MAP_FAILED);
    signal(SIGSEGV, skip);
    if (call(20, 0, 0, 0, 0, 0) != getpid())
        return 77;
    make_calls();
    return 0;
}
#else
int main(void) {
    return 77;
}
#endif
