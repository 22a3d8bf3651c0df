/* Prints what threads wait for: cause_of TID..., a line for each,
 *     TID work|wait|none CAUSE | FUNCTION < FUNCTION...
 * work: it waits for work. none: no line of the table matches. Gone threads are left out. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggstats/slow.h"
#include "thread_cause.h"

/* The stack of a wait has its functions with " < " between them. */
static const struct cause *find(const struct thread_causes *causes, const struct aggstats_wait *wait) {
    struct kernel_stack stack;
    char lines[AGGSTATS_STACK_SIZE];
    snprintf(lines, sizeof(lines), "%s", wait->stack);
    for (char *between = lines; (between = strstr(between, " < "));)
        memcpy(between, "\n  ", strlen(" < "));
    kernel_stack_parse(lines, &stack);
    return thread_causes_find(causes, &stack, "");
}

static const char *kind_of(const struct thread_causes *causes, const struct aggstats_wait *wait) {
    static const char unknown[] = "waiting in the kernel function ";
    const struct cause *cause = find(causes, wait);
    if (strncmp(wait->cause, unknown, strlen(unknown)) == 0)
        return "none";
    return cause && cause->is_work && strcmp(cause->words, wait->cause) == 0 ? "work" : "wait";
}

int main(int argc, char **argv) {
    struct thread_causes causes = {.own = NULL};
    char why[THREAD_CAUSES_WHY_SIZE];
    if (thread_causes_init(&causes, NULL, why) < 0)
        return 1;
    for (int i = 1; i < argc; i++) {
        uint64_t memory[2] = {0, 0};
        const struct aggstats_look look = {.thread = strtoull(argv[i], NULL, 10), .memory = memory};
        struct aggstats_wait wait = {.cause = ""};
        if (thread_cause(&causes, &look, &wait))
            printf("%" PRIu64 " %s %s | %s\n", look.thread, kind_of(&causes, &wait), wait.cause, wait.stack);
    }
    thread_causes_finish(&causes);
    return 0;
}
