/* A slow lower file system for osproffs: some calls of some operations take longer, by a known time.
 *
 * The program slow_osproffs is osproffs, linked with --wrap=pass_layer: the daemon asks for the pass layer and gets the
 * layer below instead, which waits and then calls the pass layer. So the delay is in what the profiler times, as if the
 * lower directory had taken it.
 *
 * The environment variable SLOW_OSPROFFS says what is slow: "READ:20000:0.1,OPEN:5000:1" delays one READ of ten by 20
 * µs and every OPEN by 5 µs. Which calls are hit is the same in every run, without a period: the n-th is if the
 * fraction of n times the golden ratio is below the share, so that any stretch of calls has about its share of slow
 * ones. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fs_ops.h"
#include "pass.h"

#define SPIN_NS_MAX 100000       /* a longer wait sleeps, as for a disk; a shorter one works, as more code would */
#define DELAY_NS_MAX 60000000000 /* a minute */
#define GOLDEN_RATIO 0.6180339887498949

struct slowness {
    long delay_ns; /* 0: not slow */
    double share;
    uint64_t call_count;
};

struct slow {
    struct fs_layer layer;
    struct slowness ops[FS_OP_COUNT];
};

/* The linker's names for the original and for what takes its place. */
struct fs_layer *__real_pass_layer(struct pass *pass); // NOLINT(bugprone-reserved-identifier)
struct fs_layer *__wrap_pass_layer(struct pass *pass); // NOLINT(bugprone-reserved-identifier)

/* ---- Waiting ---- */

static long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void wait_ns(long delay_ns) {
    const long end_ns = now_ns() + delay_ns;
    if (delay_ns > SPIN_NS_MAX) {
        struct timespec end = {.tv_sec = end_ns / 1000000000L, .tv_nsec = end_ns % 1000000000L};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
    }
    while (now_ns() < end_ns)
        ;
}

static void be_slow(struct fs_layer *layer, enum fs_op op) {
    struct slowness *slowness = &((struct slow *)layer)->ops[op];
    if (slowness->delay_ns == 0)
        return;
    uint64_t number = __atomic_fetch_add(&slowness->call_count, 1, __ATOMIC_RELAXED);
    double place = (double)number * GOLDEN_RATIO;
    if (place - floor(place) < slowness->share)
        wait_ns(slowness->delay_ns);
}

/* ---- The layer ---- */

#define SLOW_OP(NAME, member, params, ...)                                                                             \
    static int slow_##member(struct fs_layer *layer, FS_PARAMETERS(params)) {                                          \
        be_slow(layer, FS_OP_##NAME);                                                                                  \
        return layer->next->ops->member(layer->next, FS_ARGUMENTS(params));                                            \
    }
FS_OPS(SLOW_OP)

static void forget(struct fs_layer *layer, fs_ino ino, uint64_t count) {
    layer->next->ops->forget(layer->next, ino, count);
}

#define SLOW_ROW(NAME, member, params, ...) .member = slow_##member,
static const struct fs_ops slow_ops = {FS_OPS(SLOW_ROW).forget = forget};

/* ---- What is slow ---- */

static _Noreturn void refuse(const char *item) {
    fprintf(stderr, "slow_osproffs: SLOW_OSPROFFS: '%s' must be OP:NANOSECONDS:SHARE\n", item);
    exit(2);
}

static struct slowness *find_op(struct slow *slow, const char *name, size_t length) {
    for (int op = 0; op < FS_OP_COUNT; op++)
        if (strlen(fs_op_names[op]) == length && strncmp(fs_op_names[op], name, length) == 0)
            return &slow->ops[op];
    return NULL;
}

static void parse_item(struct slow *slow, const char *item) {
    const size_t length = strcspn(item, ":");
    struct slowness *slowness = find_op(slow, item, length);
    char *end;
    if (!slowness || item[length] == '\0')
        refuse(item);
    slowness->delay_ns = strtol(item + length + 1, &end, 10);
    if (*end != ':' || slowness->delay_ns <= 0 || slowness->delay_ns > DELAY_NS_MAX)
        refuse(item);
    slowness->share = strtod(end + 1, &end);
    if (*end != '\0' || !(slowness->share > 0 && slowness->share <= 1))
        refuse(item);
}

/* Asked for once, while the daemon is set up. */
struct fs_layer *__wrap_pass_layer(struct pass *pass) {
    static struct slow slow;
    const char *told = getenv("SLOW_OSPROFFS");
    char *text = strdup(told ? told : "");
    char *rest = text;
    if (!text)
        abort();
    slow.layer = (struct fs_layer){.ops = &slow_ops, .next = __real_pass_layer(pass)};
    for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ","))
        if (*item)
            parse_item(&slow, item);
    free(text);
    return &slow.layer;
}
