/* The readers of causes and of kernel stacks: any text becomes a table or an error with its line, and any stack has a
 * cause of that table or none. Input: the table, and behind its first NUL the stack. */
#include <errno.h>
#include <string.h>

#include "causes.h"
#include "fuzz.h"

static void promise_cause(const struct causes *causes, const struct kernel_stack *stack) {
    const struct cause *cause = causes_find(causes, stack, "ext4");
    FUZZ_PROMISE(!cause || aggstats_why_valid(&cause->why));
    FUZZ_PROMISE(causes_need_type(causes, stack) || causes_find(causes, stack, "") == cause);
}

static void look_up(const struct causes *causes, const char *text) {
    struct kernel_stack stack;
    kernel_stack_parse(text, &stack);
    FUZZ_PROMISE(stack.count <= CAUSE_FUNCTIONS_MAX);
    for (size_t i = 0; i < stack.count; i++)
        FUZZ_PROMISE(stack.functions[i][0] != '\0' && strlen(stack.functions[i]) < CAUSE_FUNCTION_SIZE);
    FUZZ_PROMISE((kernel_stack_place(&stack) != NULL) == (stack.count > 0));
    promise_cause(causes, &stack);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    struct causes *causes = NULL;
    struct causes_error error = {0};
    char *text = strndup((const char *)data, size_bytes);
    FUZZ_PROMISE(text != NULL);
    size_t table_bytes = strlen(text);
    size_t stack_at = table_bytes < size_bytes ? table_bytes + 1 : size_bytes;
    char *stack = strndup((const char *)data + stack_at, size_bytes - stack_at);
    FUZZ_PROMISE(stack != NULL);
    int err = causes_parse(text, &causes, &error);
    FUZZ_PROMISE(err == 0 || (err == -EBADMSG && error.line > 0 && error.message[0] != '\0'));
    if (err == 0)
        look_up(causes, stack);
    causes_free(causes);
    free(stack);
    free(text);
    return 0;
}
