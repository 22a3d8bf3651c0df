/* Read from /proc/N: stat shows whether the thread can run, stack and wchan where it waits, and schedstat for how long
 * it waited for a CPU. Its CPU clock shows whether it is running. Its system call's descriptor shows the file system (place.h). */
#include "thread_cause.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggstats/slow.h"
#include "base.h"
#include "proc.h"

#define STACK_BYTES 8192
#define FILE_BYTES_MAX 1048576
#define MOMENT_NS 200000

static const struct aggstats_why running = {.kind = AGGSTATS_CAUSE_RUNNING, .id = "running", .words = "running"};

/* ---- The tables --------------------------------------------------------------------------------- */

static int read_file(const char *path, char **ret_text) {
    CLEANUP_FD int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO without a writer is empty */
    CLEANUP_STREAM FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
    if (!stream)
        return negative_errno();
    steal_fd(&fd);
    CLEANUP_FREE char *text = malloc(FILE_BYTES_MAX + 1);
    if (!text)
        return -ENOMEM;
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

int thread_causes_init(struct thread_causes *causes, const char *file, char ret_why[THREAD_CAUSES_WHY_SIZE]) {
    CLEANUP_FREE char *text = NULL;
    struct causes_error error = {0};
    int err = file ? read_file(file, &text) : 0;
    if (err == 0 && file)
        err = causes_parse(text, &causes->own, &error);
    if (err == -EBADMSG)
        snprintf(ret_why, THREAD_CAUSES_WHY_SIZE, "line %zu: %s", error.line, error.message);
    else if (err < 0)
        snprintf(ret_why, THREAD_CAUSES_WHY_SIZE, "cannot read it: %s",
                 err == -EILSEQ ? "it is not a text" : strerror(-err));
    return err < 0 ? err : causes_parse(causes_text, &causes->known, &error);
}

void thread_causes_finish(struct thread_causes *causes) {
    causes_free(causes->own);
    causes_free(causes->known);
}

/* ---- A thread ----------------------------------------------------------------------------------- */

static bool read_thread(uint64_t thread, const char *name, char *ret_text, size_t size_bytes) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/%s", thread, name);
    return read_beginning(AT_FDCWD, path, ret_text, size_bytes);
}

static bool can_run(uint64_t thread) {
    struct proc_stat stat;
    return proc_stat_read(thread, &stat) && stat.state[0] == 'R';
}

/* Scheduling of a thread, as of one look. */
struct ran {
    bool can_run;
    int64_t time_ns;    /* when it was read */
    uint64_t ran_ns;    /* CPU time since it began */
    uint64_t queued_ns; /* time in which it could run and had no CPU; a wait is counted when it is over */
};

/* "RAN QUEUED TIMES", in nanoseconds. */
static bool read_schedstat(uint64_t thread, uint64_t *ret_ran_ns, uint64_t *ret_queued_ns) {
    char text[96];
    char *queued = text;
    char *end = text;
    if (!read_thread(thread, "schedstat", text, sizeof(text)))
        return false;
    *ret_ran_ns = strtoull(text, &queued, 10);
    *ret_queued_ns = strtoull(queued, &end, 10);
    return queued > text && end > queued;
}

/* For a running thread schedstat lags by up to a tick. Its clock does not, but can be read only for threads of ours. */
static bool read_ran(uint64_t thread, struct ran *ret_ran) {
    const clockid_t cpu_clock = (clockid_t)(~(unsigned)thread << 3 | 6U); /* CPUCLOCK_SCHED of one thread */
    struct timespec ran;
    ret_ran->can_run = can_run(thread);
    ret_ran->time_ns = read_clock_ns(CLOCK_MONOTONIC);
    if (!read_schedstat(thread, &ret_ran->ran_ns, &ret_ran->queued_ns))
        return false;
    if (clock_gettime(cpu_clock, &ran) == 0)
        ret_ran->ran_ns = (uint64_t)ran.tv_sec * NS_PER_S + (uint64_t)ran.tv_nsec;
    return true;
}

/* The last look is kept in two numbers: its time, with the last bit saying whether the thread could run; and both
 * counts in units of 65 us, of which 32 bits last three days. */
#define COUNT_SHIFT 16
#define COUNT_MASK 0xffffffffU

static void keep_ran(const struct ran *ran, uint64_t memory[2]) {
    memory[0] = ((uint64_t)ran->time_ns & ~UINT64_C(1)) | ran->can_run;
    memory[1] = (ran->queued_ns >> COUNT_SHIFT) << 32 | (ran->ran_ns >> COUNT_SHIFT & COUNT_MASK);
}

static uint64_t grown_ns(uint64_t count_ns, uint64_t kept) {
    return (uint64_t)((uint32_t)(count_ns >> COUNT_SHIFT) - (uint32_t)kept) << COUNT_SHIFT;
}

/* Nothing is known of the time before the first look. So it waits a moment, in which a thread that has a CPU runs. */
static const struct aggstats_why *name_moment(uint64_t thread, const struct ran *first) {
    struct ran second;
    if (!first->can_run)
        return NULL;
    nanosleep(&(struct timespec){.tv_nsec = MOMENT_NS}, NULL);
    if (!read_ran(thread, &second) || !second.can_run)
        return &running;
    uint64_t passed_ns = (uint64_t)(second.time_ns - first->time_ns);
    return second.ran_ns - first->ran_ns > passed_ns / 4 ? &running : &cause_no_cpu;
}

/* What it did most since the last look; NULL if it waited in the kernel. A thread that has just been woken counts as
 * still waiting. */
static const struct aggstats_why *name_run(const struct ran *ran, const uint64_t memory[2]) {
    uint64_t half_ns = (uint64_t)(ran->time_ns - (int64_t)memory[0]) / 2;
    bool has_run = grown_ns(ran->ran_ns, memory[1]) > half_ns;
    bool was_queued = grown_ns(ran->queued_ns, memory[1] >> 32) > half_ns;
    bool is_queued = ran->can_run && memory[0] & 1 && !has_run;
    if (was_queued || is_queued)
        return &cause_no_cpu;
    return ran->can_run && has_run ? &running : NULL;
}

static const struct aggstats_why *find_run(const struct aggstats_look *look, bool *ret_can_run, uint64_t *ret_ran_ns) {
    struct ran ran;
    bool is_known = read_ran(look->thread, &ran);
    *ret_can_run = ran.can_run;
    *ret_ran_ns = is_known ? ran.ran_ns : 0;
    if (!is_known)
        return ran.can_run ? &running : NULL;
    const struct aggstats_why *name =
        look->memory[0] == 0 ? name_moment(look->thread, &ran) : name_run(&ran, look->memory);
    keep_ran(&ran, look->memory);
    return name;
}

/* The same of what was seen. */
static const struct aggstats_why *find_run_seen(const struct thread_seen *seen, uint64_t memory[2]) {
    const struct ran ran = {
        .can_run = seen->can_run, .time_ns = seen->time_ns, .ran_ns = seen->ran_ns, .queued_ns = seen->queued_ns};
    const struct aggstats_why *at_first = !seen->can_run ? NULL : seen->has_cpu ? &running : &cause_no_cpu;
    const struct aggstats_why *name = memory[0] == 0 ? at_first : name_run(&ran, memory);
    keep_ran(&ran, memory);
    return name;
}

/* ---- Its cause ---- */

struct cause thread_causes_find(const struct thread_causes *causes, const struct kernel_stack *stack,
                                const char *type) {
    const struct cause *own = causes->own ? causes_find(causes->own, stack, type) : NULL;
    const struct cause *known = own && own->has_class ? NULL : causes_find(causes->known, stack, type);
    if (!own)
        return known ? *known : (struct cause){.why = kernel_stack_why(stack)};
    struct cause found = *own;
    if (!own->has_class)
        found.why.kind = known ? known->why.kind : own->is_work ? AGGSTATS_CAUSE_WORK : AGGSTATS_CAUSE_OTHER;
    return found;
}

bool thread_causes_need_type(const struct thread_causes *causes, const struct kernel_stack *stack) {
    return (causes->own && causes_need_type(causes->own, stack)) || causes_need_type(causes->known, stack);
}

/* run: NULL: it has not run. is_able: it can. Returns false if it waits, and where is not known */
static bool name_without_stack(const struct aggstats_why *run, bool is_able, struct aggstats_why *ret_why) {
    static const struct aggstats_why hidden = {
        .kind = AGGSTATS_CAUSE_UNKNOWN, .id = "hidden", .words = "(where it waits cannot be seen)"};
    *ret_why = run ? *run : is_able ? running : hidden;
    return run || is_able;
}

/* The type of the file system is read only if a cause depends on it, since that takes much longer than the stack. */
bool thread_read(const struct thread_causes *causes, const struct aggstats_look *look,
                 struct thread_reading *ret_reading) {
    struct kernel_stack *stack = &ret_reading->stack;
    char text[STACK_BYTES];
    bool is_able = false;
    stack->count = 0;
    ret_reading->has_place = false;
    const struct aggstats_why *run = find_run(look, &is_able, &ret_reading->ran_ns);
    if (!run && (read_thread(look->thread, "stack", text, sizeof(text)) ||
                 read_thread(look->thread, "wchan", text, sizeof(text))))
        kernel_stack_parse(text, stack);
    if (stack->count == 0)
        return name_without_stack(run, is_able, &ret_reading->why);
    if (thread_causes_need_type(causes, stack))
        thread_reading_read_place(ret_reading, look->thread);
    ret_reading->why = thread_causes_find(causes, stack, ret_reading->has_place ? ret_reading->place.type : "").why;
    return true;
}

bool thread_read_seen(const struct thread_causes *causes, const struct thread_seen *seen, uint64_t memory[2],
                      struct thread_reading *ret_reading) {
    const struct aggstats_why *run = find_run_seen(seen, memory);
    ret_reading->ran_ns = seen->ran_ns;
    ret_reading->stack.count = 0;
    ret_reading->has_place = false;
    if (run || seen->stack->count == 0)
        return name_without_stack(run, seen->can_run, &ret_reading->why);
    ret_reading->stack = *seen->stack;
    ret_reading->why = thread_causes_find(causes, seen->stack, seen->type).why;
    return true;
}

void thread_reading_read_place(struct thread_reading *reading, uint64_t thread) {
    if (reading->has_place)
        return;
    call_read(thread, &reading->call);
    place_read(thread, &reading->call, &reading->place);
    reading->has_place = true;
}

void thread_reading_wait(const struct thread_reading *reading, struct aggstats_wait *ret_wait) {
    static const char more[] = " < ...";
    size_t length = 0;
    ret_wait->cause = reading->why;
    ret_wait->stack[0] = '\0';
    for (size_t i = 0; i < reading->stack.count; i++) {
        const char *function = reading->stack.functions[i];
        size_t added = strlen(function) + (i > 0 ? strlen(" < ") : 0);
        if (length + added + sizeof(more) > AGGSTATS_STACK_SIZE) { /* keeps the innermost functions */
            memcpy(ret_wait->stack + length, more, sizeof(more));
            return;
        }
        snprintf(ret_wait->stack + length, AGGSTATS_STACK_SIZE - length, "%s%s", i > 0 ? " < " : "", function);
        length += added;
    }
}

/* Where the kernel keeps no CPU times, both are 0. */
bool thread_reading_holds(const struct thread_reading *reading, uint64_t thread) {
    uint64_t ran_ns;
    uint64_t queued_ns;
    if (!read_schedstat(thread, &ran_ns, &queued_ns))
        ran_ns = 0;
    return ran_ns == reading->ran_ns && !can_run(thread);
}
