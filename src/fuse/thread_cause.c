/* From /proc/self/task/N: stat tells whether the thread runs, stack and wchan where it waits, and schedstat for how
 * long it had no CPU although it could run. */
#include "thread_cause.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "log.h"
#include "proc_stat.h"

#define STACK_BYTES 8192
#define FILE_BYTES_MAX 1048576

static_assert(CAUSE_SIZE <= AGGSTATS_CAUSE_SIZE, "a cause fits");

/* ---- The tables --------------------------------------------------------------------------------- */

/* Does not wait for who writes to a FIFO: it is empty. */
static FILE *open_file(const char *path) {
    CLEANUP_FD int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
    if (stream)
        steal_fd(&fd);
    return stream;
}

static int read_file(const char *path, char **ret_text) {
    CLEANUP_STREAM FILE *stream = open_file(path);
    CLEANUP_FREE char *text = stream ? malloc(FILE_BYTES_MAX + 1) : NULL;
    if (!text)
        return stream ? -ENOMEM : negative_errno();
    errno = 0;
    size_t size_bytes = fread(text, 1, FILE_BYTES_MAX + 1, stream);
    if (ferror(stream))
        return negative_errno();
    if (size_bytes > FILE_BYTES_MAX)
        return -EFBIG;
    if (memchr(text, '\0', size_bytes))
        return -EILSEQ;
    text[size_bytes] = '\0';
    *ret_text = steal_pointer(&text);
    return 0;
}

static int load_own(const char *file, struct causes **ret_causes) {
    CLEANUP_FREE char *text = NULL;
    struct causes_error error = {0};
    int err = read_file(file, &text);
    if (err == 0)
        err = causes_parse(text, ret_causes, &error);
    if (err == -EBADMSG)
        log_message("causes=%s: line %zu: %s", file, error.line, error.message);
    else if (err < 0)
        log_message("causes=%s: cannot read it: %s", file, err == -EILSEQ ? "it is not a text" : strerror(-err));
    return err;
}

int thread_causes_init(struct thread_causes *causes, const char *file) {
    struct causes_error error = {0};
    int err = file ? load_own(file, &causes->own) : 0;
    return err < 0 ? err : causes_parse(causes_text, &causes->known, &error);
}

void thread_causes_finish(struct thread_causes *causes) {
    causes_free(causes->own);
    causes_free(causes->known);
}

/* ---- A thread ----------------------------------------------------------------------------------- */

static bool read_thread(uint64_t thread, const char *name, char *ret_text, size_t size_bytes) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%" PRIu64 "/%s", thread, name);
    return read_beginning(AT_FDCWD, path, ret_text, size_bytes);
}

static bool can_run(uint64_t thread) {
    struct proc_stat stat;
    return proc_stat_read(thread, &stat) && stat.state[0] == 'R';
}

/* How long it has waited for a CPU, in its life. */
static bool read_delay_ns(uint64_t thread, uint64_t *ret_ns) {
    char text[96]; /* time on a CPU, time waiting for one, how often it was on one */
    char *second = NULL;
    char *end = NULL;
    if (!read_thread(thread, "schedstat", text, sizeof(text)))
        return false;
    strtoull(text, &second, 10);
    *ret_ns = strtoull(second, &end, 10);
    return end > second;
}

/* memory: its delay at the last look, and 1: there was one */
static const char *name_running(const struct aggstats_look *look) {
    uint64_t delay_ns = 0;
    if (!read_delay_ns(look->thread, &delay_ns))
        return "running";
    bool has_waited = look->memory[1] && delay_ns > look->memory[0];
    look->memory[0] = delay_ns;
    look->memory[1] = 1;
    return has_waited ? "ready to run, but without a CPU" : "running";
}

static bool read_stack(uint64_t thread, struct kernel_stack *ret_stack) {
    char text[STACK_BYTES];
    if (!read_thread(thread, "stack", text, sizeof(text)) && !read_thread(thread, "wchan", text, sizeof(text)))
        return false;
    kernel_stack_parse(text, ret_stack);
    return ret_stack->count > 0;
}

/* Of one that is too long the innermost functions. */
static void format_stack(const struct kernel_stack *stack, char ret_text[AGGSTATS_STACK_SIZE]) {
    static const char more[] = " < ...";
    size_t length = 0;
    for (size_t i = 0; i < stack->count; i++) {
        size_t added = strlen(stack->functions[i]) + (i > 0 ? strlen(" < ") : 0);
        if (length + added + sizeof(more) > AGGSTATS_STACK_SIZE) {
            strcpy(ret_text + length, more);
            return;
        }
        snprintf(ret_text + length, AGGSTATS_STACK_SIZE - length, "%s%s", i > 0 ? " < " : "", stack->functions[i]);
        length += added;
    }
}

bool thread_cause(void *context, const struct aggstats_look *look, struct aggstats_wait *ret_wait) {
    const struct thread_causes *causes = context;
    struct kernel_stack stack = {.count = 0};
    if (can_run(look->thread)) {
        snprintf(ret_wait->cause, AGGSTATS_CAUSE_SIZE, "%s", name_running(look));
        return true;
    }
    if (!read_stack(look->thread, &stack)) {
        snprintf(ret_wait->cause, AGGSTATS_CAUSE_SIZE, "(where it waits cannot be seen)");
        return false;
    }
    format_stack(&stack, ret_wait->stack);
    const char *cause = causes->own ? causes_find(causes->own, &stack) : NULL;
    if (!cause)
        cause = causes_find(causes->known, &stack);
    if (cause)
        snprintf(ret_wait->cause, AGGSTATS_CAUSE_SIZE, "%s", cause);
    else
        snprintf(ret_wait->cause, AGGSTATS_CAUSE_SIZE, "in %s", kernel_stack_place(&stack));
    return true;
}
