/* Stacks are read once, as long as there is room, and matched with the table of causes (causes.h). */
#include "wait_causes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "mounts.h"
#include "number_map.h"

#define SEEN_MAX WAITED_STACKS_MAX /* the kernel has no more either */

/* A stack that has been read. */
struct seen {
    const struct wait_cause *causes[WAITED_FOR_CPU]; /* by kind; NULL: not looked for yet */
    bool needs_type;                                 /* of the file system, for its cause */
    char (*functions)[CAUSE_FUNCTION_SIZE];          /* [count], the innermost first */
    size_t count;
};

/* A file system that is mounted somewhere. */
struct filesystem {
    uint32_t device; /* as the kernel has it */
    char type[32];
};

struct wait_causes {
    struct waits *waits;
    const struct thread_causes *table;
    struct wait_cause **causes; /* [cause_count] */
    size_t cause_count;
    struct seen **seen; /* [seen_count] */
    size_t seen_count;
    struct number_map places;       /* of stacks in seen, from 1 */
    struct filesystem *filesystems; /* [filesystem_count] */
    size_t filesystem_count;
    char *text; /* of the stack that was asked for last; NULL: none was */
};

const char *wait_class_name(enum wait_class class) {
    static const char *const names[] = {[WAIT_COUNTS] = "held up", [WAIT_FOR_CPU] = "cpu", [WAIT_IS_WORK] = "work"};
    return names[class];
}

struct wait_causes *wait_causes_create(struct waits *waits, const struct thread_causes *table) {
    struct wait_causes *causes = calloc(1, sizeof(*causes));
    if (causes)
        *causes = (struct wait_causes){.waits = waits, .table = table};
    return causes;
}

static void forget_seen(struct wait_causes *causes) {
    for (size_t i = 0; i < causes->seen_count; i++) {
        free(causes->seen[i]->functions);
        free(causes->seen[i]);
    }
    causes->seen_count = 0;
    number_map_finish(&causes->places);
}

void wait_causes_destroy(struct wait_causes *causes) {
    if (!causes)
        return;
    for (size_t i = 0; i < causes->cause_count; i++)
        free(causes->causes[i]);
    forget_seen(causes);
    free(causes->causes);
    free(causes->filesystems);
    free(causes->seen);
    free(causes->text);
    free(causes);
}

/* ---- File systems ------------------------------------------------------------------------------- */

/* Reads which are mounted now, where this process sees them. */
static void read_filesystems(struct wait_causes *causes) {
    CLEANUP_MOUNTS struct mounts_table table = {0};
    struct mounts_entry entry;
    mounts_open(&table);
    causes->filesystem_count = 0;
    while (mounts_next(&table, &entry) &&
           grow_array(&causes->filesystems, causes->filesystem_count, sizeof(*causes->filesystems)) == 0) {
        struct filesystem *filesystem = &causes->filesystems[causes->filesystem_count++];
        filesystem->device = mounts_kernel_device(entry.device);
        snprintf(filesystem->type, sizeof(filesystem->type), "%s", entry.type);
    }
}

/* "": it is not known. */
static const char *type_of(struct wait_causes *causes, uint32_t device) {
    for (unsigned attempt = 0; device > 0 && attempt < 2; attempt++) {
        if (attempt > 0)
            read_filesystems(causes);
        for (size_t i = 0; i < causes->filesystem_count; i++)
            if (causes->filesystems[i].device == device)
                return causes->filesystems[i].type;
    }
    return "";
}

/* ---- Stacks ------------------------------------------------------------------------------------- */

/* Returns NULL if the kernel knows it no more, or without memory. */
static struct seen *see(struct wait_causes *causes, uint64_t stack) {
    const uint64_t place = number_map_get(&causes->places, stack);
    CLEANUP_FREE char *names = NULL;
    struct kernel_stack functions = {.count = 0};
    if (place > 0)
        return causes->seen[place - 1];
    if (causes->seen_count == SEEN_MAX)
        forget_seen(causes); /* stacks in use are read again */
    CLEANUP_FREE struct seen *seen = calloc(1, sizeof(*seen));
    if (!seen || grow_array(&causes->seen, causes->seen_count, sizeof(struct seen *)) != 0 ||
        waits_name_stack(causes->waits, stack, &names) != 0)
        return NULL;
    kernel_stack_parse(names, &functions);
    seen->needs_type = thread_causes_need_type(causes->table, &functions);
    seen->count = functions.count;
    CLEANUP_FREE void *copy = malloc(sizeof(functions.functions[0]) * (functions.count + 1));
    if (!copy || number_map_set(&causes->places, stack, causes->seen_count + 1) != 0)
        return NULL;
    memcpy(copy, functions.functions, sizeof(functions.functions[0]) * functions.count);
    seen->functions = steal_pointer(&copy);
    return causes->seen[causes->seen_count++] = steal_pointer(&seen);
}

const char *wait_causes_stack(struct wait_causes *causes, uint64_t stack) {
    const struct seen *seen = stack != 0 ? see(causes, stack) : NULL;
    if (!seen || seen->count == 0)
        return NULL;
    free(causes->text);
    causes->text = malloc(seen->count * (CAUSE_FUNCTION_SIZE + strlen(" < ")));
    char *end = causes->text;
    for (size_t i = 0; end && i < seen->count; i++)
        end = stpcpy(stpcpy(end, i > 0 ? " < " : ""), seen->functions[i]);
    return causes->text;
}

static void copy_functions(const struct seen *seen, struct kernel_stack *ret_functions) {
    ret_functions->count = seen ? seen->count : 0;
    for (size_t i = 0; i < ret_functions->count; i++)
        memcpy(ret_functions->functions[i], seen->functions[i], CAUSE_FUNCTION_SIZE);
}

bool wait_causes_functions(struct wait_causes *causes, uint64_t stack, struct kernel_stack *ret_functions) {
    copy_functions(stack != 0 ? see(causes, stack) : NULL, ret_functions);
    return ret_functions->count > 0;
}

/* ---- Causes ------------------------------------------------------------------------------------- */

/* Returns NULL without memory. */
static const struct wait_cause *keep_cause(struct wait_causes *causes, const struct wait_cause *cause) {
    for (size_t i = 0; i < causes->cause_count; i++)
        if (aggstats_why_is_same(&causes->causes[i]->why, &cause->why) && causes->causes[i]->class == cause->class)
            return causes->causes[i];
    CLEANUP_FREE struct wait_cause *kept = malloc(sizeof(*kept));
    if (!kept || grow_array(&causes->causes, causes->cause_count, sizeof(struct wait_cause *)) != 0)
        return NULL;
    *kept = *cause;
    return causes->causes[causes->cause_count++] = steal_pointer(&kept);
}

const struct wait_cause *wait_causes_find(struct wait_causes *causes, const struct waited_cell *cell) {
    static const struct aggstats_why of_group = {
        .kind = AGGSTATS_CAUSE_CPU,
        .id = "no_cpu_quota",
        .words = "waiting for a CPU: its control group had used up its quota",
    };
    struct kernel_stack functions;
    if (cell->kind >= WAITED_FOR_CPU)
        return keep_cause(causes, &(struct wait_cause){.why = cell->kind == WAITED_FOR_CPU ? cause_no_cpu : of_group,
                                                       .class = WAIT_FOR_CPU,
                                                       .is_named = true});
    struct seen *seen = cell->stack != 0 ? see(causes, cell->stack) : NULL;
    if (seen && seen->causes[cell->kind])
        return seen->causes[cell->kind];
    copy_functions(seen, &functions);
    const struct cause found = thread_causes_find(causes->table, &functions, type_of(causes, cell->device));
    const bool is_named = found.why.kind != AGGSTATS_CAUSE_FUNCTION && found.why.kind != AGGSTATS_CAUSE_UNKNOWN;
    /* If a signal would end a wait that no line of the table fits, it may be for work. */
    const bool is_work = is_named ? found.is_work : cell->kind == WAITED_ASLEEP;
    const struct wait_cause *cause = keep_cause(
        causes,
        &(struct wait_cause){.why = found.why, .class = is_work ? WAIT_IS_WORK : WAIT_COUNTS, .is_named = is_named});
    if (seen && !seen->needs_type)
        seen->causes[cell->kind] = cause;
    return cause;
}
