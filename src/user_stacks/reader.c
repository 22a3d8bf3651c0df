/* A process that reads programs, from inside: its answers. */
#include <ctype.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base.h"
#include "mapped.h"
#include "protocol.h"
#include "reader_rights.h"
#include "unwind.h"

#define FRAMES_MAX 48
#define ALARM_SECONDS 2 /* for a question, which nobody waits for any more then */
#define BETWEEN " < "
#define MORE "..."
#define REPLACEMENT '?'

/* ---- Names -------------------------------------------------------------------------------------- */

/* Blanks separate functions, and what terminals obey is somebody else's. A name that is too long is cut. */
static void copy_printable(const char *name, char ret_copy[AGGSTATS_FUNCTION_SIZE]) {
    const char *character;
    size_t used = 0;
    for (size_t length; (length = next_character(&name, &character)) > 0;) {
        const bool is_bad = length == 1 && (*character <= ' ' || *character == '<' || *character == 0x7f);
        if (used + (length < sizeof(MORE) ? sizeof(MORE) : length) >= AGGSTATS_FUNCTION_SIZE) {
            memcpy(ret_copy + used, MORE, sizeof(MORE));
            return;
        }
        if (is_bad || is_obeyed_by_terminals(character, length)) {
            ret_copy[used++] = REPLACEMENT;
            continue;
        }
        memcpy(ret_copy + used, character, length);
        used += length;
    }
    ret_copy[used] = '\0';
}

/* A function, with its name and kind. */
struct function {
    char name[AGGSTATS_FUNCTION_SIZE];
    bool is_of_program;
    bool is_of_c_library; /* in a static program */
    bool is_entry;        /* where the kernel begins the program: it makes no calls itself */
};

/* Names that begin so are the C library's by the standard; C++ and Rust encode their own in them. */
static bool is_reserved(const char *name) {
    return name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1])) && name[1] != 'Z' && name[1] != 'R';
}

static void name_function(const struct mapping *mapping, const struct frame *frame, const char *op,
                          struct function *ret_function) {
    uint64_t address = 0;
    char text[AGGSTATS_FUNCTION_SIZE + 32];
    const bool is_known = mapping && unwind_address(mapping, frame, &address);
    const struct elf_symbol *symbol = is_known ? elf_file_symbol(mapping->file, address) : NULL;
    *ret_function = (struct function){.is_of_program = mapping && mapping->is_program};
    if (symbol) {
        char name[2 * AGGSTATS_FUNCTION_SIZE];
        snprintf(name, sizeof(name), "%.*s", (int)symbol->name_bytes, symbol->name);
        ret_function->is_entry = mapping->file->entry - symbol->address < symbol->size_bytes;
        const bool is_called_as_op = op[0] != '\0' && strncasecmp(name, op, strlen(op)) == 0;
        ret_function->is_of_c_library = mapping->file->is_static && (is_reserved(name) || is_called_as_op);
        copy_printable(name, ret_function->name);
        return;
    }
    if (mapping && mapping->name[0] && is_known)
        snprintf(text, sizeof(text), "%s+0x%" PRIx64, mapping->name, address);
    else
        snprintf(text, sizeof(text), "%s", mapping && mapping->name[0] ? mapping->name : "[no-file]");
    copy_printable(text, ret_function->name);
}

/* ---- Stacks ------------------------------------------------------------------------------------- */

/* Returns false if there is no room for more. */
static bool add_function(const char *name, char stack[AGGSTATS_STACK_SIZE]) {
    const size_t used = strlen(stack);
    const size_t more = strlen(BETWEEN) + strlen(MORE) + 1;
    const bool fits = used + strlen(BETWEEN) + strlen(name) + more <= AGGSTATS_STACK_SIZE;
    snprintf(stack + used, AGGSTATS_STACK_SIZE - used, "%s%s", used > 0 ? BETWEEN : "", fits ? name : MORE);
    return fits;
}

/* What is known of a stack so far. */
struct followed {
    char caller[AGGSTATS_FUNCTION_SIZE];       /* the innermost one of the program itself; "": none so far */
    char of_c_library[AGGSTATS_FUNCTION_SIZE]; /* the same of the C library in a static program */
    bool is_sure;                              /* no function is missing so far */
    bool is_unreadable;                        /* the file of the next one */
};

static void be_unknown(const char *why, struct user_functions *ret_functions) {
    snprintf(ret_functions->caller, sizeof(ret_functions->caller), "(not known: %s)", why);
}

static void settle_caller(const struct followed *followed, enum unwound unwound, bool is_too_deep,
                          struct user_functions *ret_functions) {
    const char *known = followed->caller[0] ? followed->caller : followed->of_c_library;
    if (known[0])
        memcpy(ret_functions->caller, known, sizeof(ret_functions->caller));
    else if (followed->is_sure && unwound == UNWOUND_OUTERMOST)
        snprintf(ret_functions->caller, sizeof(ret_functions->caller), USER_STACKS_NONE);
    else if (followed->is_unreadable)
        be_unknown("its program cannot be read", ret_functions);
    else
        be_unknown(is_too_deep ? "its stack is too deep" : "its stack cannot be followed", ret_functions);
}

static void follow(const struct question *question, const struct process *process,
                   struct user_functions *ret_functions) {
    struct frame frame = unwind_begin(&question->from);
    struct followed followed = {.is_sure = true};
    enum unwound unwound = UNWOUND_CALLER;
    bool fits = true;
    for (unsigned i = 0; i < FRAMES_MAX && unwound <= UNWOUND_BY_FRAME; i++) {
        struct function function;
        const struct mapping *mapping = mapped_at(process, frame.instruction);
        if (!mapped_begin(mapping) || (mapping && mapping->place.inode > 0 && !mapping->file)) {
            followed.is_unreadable = true;
            unwound = UNWOUND_LOST;
            break;
        }
        name_function(mapping, &frame, question->op, &function);
        fits = fits && add_function(function.name, ret_functions->stack);
        unwound = unwind(&question->from, process, &frame);
        mapped_end(mapping);
        function.is_entry = function.is_entry || unwound == UNWOUND_OUTERMOST;
        char *caller = function.is_of_c_library ? followed.of_c_library : followed.caller;
        if (followed.is_sure && function.is_of_program && !function.is_entry && !caller[0])
            memcpy(caller, function.name, sizeof(function.name));
        followed.is_sure = followed.is_sure && (unwound == UNWOUND_CALLER || unwound == UNWOUND_OUTERMOST);
    }
    if (unwound != UNWOUND_OUTERMOST && fits)
        add_function(MORE, ret_functions->stack);
    const bool is_too_deep =
        unwound <= UNWOUND_BY_FRAME || (frame.is_beyond && question->from.part_count == COLLECTED_USER_PARTS);
    settle_caller(&followed, unwound, is_too_deep, ret_functions);
}

/* ---- Answers ------------------------------------------------------------------------------------ */

static void answer(const struct question *question, struct answer *ret_answer) {
    const struct process *process = mapped_find(question->process, question->start_stack);
    if (question->has_stack && !process)
        be_unknown("its program had ended", &ret_answer->functions);
    else if (question->has_stack && mapped_at(process, question->from.instruction))
        follow(question, process, &ret_answer->functions);
    else if (question->has_stack)
        be_unknown("its stack cannot be followed", &ret_answer->functions);
    /* Otherwise reads the names of the program while its call still lasts. */
    for (size_t i = 0; !question->has_stack && process && i < process->count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        if (!mapping->is_program || !mapping->file || !mapped_begin(mapping))
            continue;
        elf_file_read(mapping->file);
        mapped_end(mapping);
    }
}

/* ---- Programs that are truncated while being read ------------------------------------------------ */

#define SHORTER_MAX 64 /* each time the reader abandons the memory of all files read so far; then it restarts */

static sigjmp_buf shorter;

static void note_shorter(int signal_number) {
    (void)signal_number;
    siglongjmp(shorter, 1);
}

static void answer_safely(const struct question *question, struct answer *ret_answer) {
    static unsigned count;
    *ret_answer = (struct answer){.number = question->number};
    if (sigsetjmp(shorter, 1) == 0) {
        answer(question, ret_answer);
        return;
    }
    mapped_note_unreadable();
    if (++count == SHORTER_MAX)
        _exit(1);
    mapped_abandon();
    *ret_answer = (struct answer){.number = question->number};
    be_unknown("its program cannot be read", &ret_answer->functions);
}

/* Ends this process if osprof does not: it may be stopped, or have nothing more to ask. */
static void set_alarm(time_t seconds) {
    const struct itimerval alarm = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_REAL, &alarm, NULL);
}

void reader_run(int socket, unsigned number, struct unreadable *unreadable) {
    static struct question question;
    static struct answer answered;
    signal(SIGBUS, note_shorter);
    mapped_init(unreadable, &unreadable->at[number]);
    if (reader_rights_filter() < 0)
        return;
    for (;;) {
        question = (struct question){.number = 0};
        if (recv(socket, &question, sizeof(question), 0) <= 0)
            return;
        const int64_t begin_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        question.op[sizeof(question.op) - 1] = '\0';
        set_alarm(ALARM_SECONDS);
        answer_safely(&question, &answered);
        set_alarm(0);
        mapped_rest();
        answered.spent_ns = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
        const size_t size_bytes = question.has_stack ? sizeof(answered) : offsetof(struct answer, functions);
        if (send(socket, &answered, size_bytes, MSG_NOSIGNAL) < 0)
            return;
    }
}
