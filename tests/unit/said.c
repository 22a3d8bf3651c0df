/* stderr into memory. */
#include "said.h"

#include <check.h>
#include <sys/mman.h>
#include <unistd.h>

static int memory_fd = -1;

void said_listen(void) {
    memory_fd = memfd_create("stderr", MFD_CLOEXEC);
    ck_assert_int_ge(memory_fd, 0);
    ck_assert_int_eq(dup2(memory_fd, STDERR_FILENO), STDERR_FILENO);
}

const char *said(void) {
    static char text[8192];
    ssize_t size_bytes = pread(memory_fd, text, sizeof(text) - 1, 0);
    ck_assert_int_ge(size_bytes, 0);
    text[size_bytes] = '\0';
    return text;
}

size_t said_lines(void) {
    size_t lines = 0;
    for (const char *at = said(); *at; at++)
        lines += *at == '\n';
    return lines;
}
