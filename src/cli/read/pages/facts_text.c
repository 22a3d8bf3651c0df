/* Sentences about the facts of a profile. */
#include "facts_text.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "base.h"

#define PLACE_COLUMNS 32
#define NAME_COLUMNS 20
#define BUSY_MIN_PERCENT 20 /* a disk that was less busy has delayed nobody */
#define PRECISE 0.1         /* both bounds differ by no more than this part of the larger one */

/* ---- Not measured ----------------------------------------------------------------------------- */

static const struct {
    const char *adjective;
    const char *noun;
    const char *rest;
} unseen[AGGSTATS_UNSEEN_KINDS] = {
    [AGGSTATS_UNSEEN_STATIC] = {"statically linked ", "program", ""},
    [AGGSTATS_UNSEEN_SET_ID] = {"set-id ", "program", ""},
    [AGGSTATS_UNSEEN_FOREIGN] = {"foreign ", "program", ""},
    [AGGSTATS_UNSEEN_SANDBOXED] = {"sandboxed ", "program", ""},
    [AGGSTATS_UNSEEN_GO] = {"", "program", " of Go"},
    [AGGSTATS_UNSEEN_BARE] = {"", "program", " without the environment"},
    [AGGSTATS_UNSEEN_STARVED] = {"", "program", " that lacked descriptors or memory"},
    [AGGSTATS_UNSEEN_ASYNC] = {"asynchronous ", "call", ""},
    [AGGSTATS_UNSEEN_IO_URING] = {"", "program", " with io_uring"},
    [AGGSTATS_UNSEEN_ROOT] = {"", "program", " in another root directory or mount namespace"},
    [AGGSTATS_UNSEEN_USER] = {"", "program", " of another user"},
    [AGGSTATS_UNSEEN_UNKNOWN] = {"", "program", " for an unknown reason"},
    [AGGSTATS_UNSEEN_CROWDED] = {"", "thread", " beyond "},
    [AGGSTATS_UNSEEN_BROKEN] = {"", "thread", " with counters that a program has overwritten"},
};

/* "busybox 1.90 s in 2 runs"; without the time, if it is not known. A program may have any name: characters that separate
 * names in the sentence become '?'. */
static void add_program(struct str *text, const struct aggstats_unseen_program *program) {
    const struct units nanoseconds = {.frequency_hz = 1000000000, .ascii = true};
    const double least = (double)program->least_ns;
    const double most = (double)program->most_ns;
    const bool is_exact = most > 0 && most - least <= PRECISE * most;
    const char *name = program->name;
    const char *character;
    for (size_t bytes; (bytes = next_character(&name, &character)) > 0;) {
        const bool is_harmless = bytes == 1 && *character > ' ' && *character < 0x7f && !strchr(",;()", *character);
        str_add_bytes(text, is_harmless ? character : "?", 1);
    }
    if (least > 0)
        str_addf(text, " %s%s", is_exact ? "" : "at least ", units_cycles(&nanoseconds, is_exact ? most : least).text);
    if (program->runs > 1)
        str_addf(text, " in %" PRIu64 " runs", program->runs);
}

/* " (busybox 1.90 s in 2 runs, mc and 3 others)" */
static void add_programs(struct str *text, const struct aggstats_profile *profile, enum aggstats_unseen kind,
                         size_t names_max) {
    uint64_t others = profile->not_seen[kind];
    size_t count = 0;
    for (size_t i = 0; i < profile->unseen_program_count; i++) {
        const struct aggstats_unseen_program *program = &profile->unseen_programs[i];
        if (program->kind != kind || count++ >= names_max)
            continue;
        str_add(text, count == 1 ? " (" : ", ");
        add_program(text, program);
        others -= program->runs < others ? program->runs : others;
    }
    if (count > names_max)
        str_add(text, ", ...");
    else if (count > 0 && others > 0)
        str_addf(text, " and %" PRIu64 " other%s", others, units_plural(others));
    str_add(text, count > 0 ? ")" : "");
}

void facts_text_add_not_seen(struct str *text, const struct aggstats_profile *profile, size_t names_max) {
    const size_t begin = text->length;
    for (unsigned kind = 0; kind < AGGSTATS_UNSEEN_KINDS; kind++) {
        const uint64_t count = profile->not_seen[kind];
        if (count == 0)
            continue;
        str_addf(text, "%s%" PRIu64 " %s%s%s%s", text->length > begin ? ", " : "", count, unseen[kind].adjective,
                 unseen[kind].noun, units_plural(count), unseen[kind].rest);
        if (kind == AGGSTATS_UNSEEN_CROWDED)
            str_addf(text, "%" PRIu64 " at a time", profile->threads_max);
        add_programs(text, profile, (enum aggstats_unseen)kind, names_max);
    }
}

char *facts_text_not_seen(const struct aggstats_profile *profile, const struct screen *screen, int columns) {
    CLEANUP_STR struct str text = {0};
    facts_text_add_not_seen(&text, profile, FACTS_TEXT_ALL_NAMES);
    return text.length > 0 ? screen_cut(screen, str_text(&text), columns, SCREEN_BEGINNING) : NULL;
}

void facts_text_add_not_told(struct str *text, const struct aggstats_profile *profile) {
    static const char *const whose[] = {
        [AGGSTATS_UNTOLD_OF_MACHINE] = "of all programs of this machine",
        [AGGSTATS_UNTOLD_OF_PROCESSES] = "of these processes",
        [AGGSTATS_UNTOLD_OF_CGROUP] = "of this control group",
    };
    static const struct {
        enum aggstats_untold kind;
        const char *before;
        const char *noun;
        const char *behind;
    } rows[] = {
        {AGGSTATS_UNTOLD_UNTIMED, "the latency of ", "request", " of io_uring (they asked for no completion)"},
        {AGGSTATS_UNTOLD_BEGUN, "the latency of ", "call", " (begun before osprof attached)"},
        {AGGSTATS_UNTOLD_PROCESSES, "calls of ", "descendant",
         " and of what they started (no room for more processes)"},
        {AGGSTATS_UNTOLD_CAUSES, "the cause of ", "slow call", " (too many ended at once)"},
    };
    const bool is_of_one = aggstats_profile_label(profile, "fstype") != NULL;
    for (size_t i = 0; i < ARRAY_SIZE(whose); i++) {
        const uint64_t calls = profile->not_told[i];
        if (calls > 0)
            str_addf(text, "%s%" PRIu64 " call%s by name (unresolved: %s, %s; %" PRIu64 " failed)",
                     text->length > 0 ? "; " : "", calls, units_plural(calls),
                     is_of_one ? "here or on another file system" : "here or on pseudo file systems such as /proc",
                     whose[i], profile->not_told[AGGSTATS_UNTOLD_FAILED]);
    }
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const uint64_t count = profile->not_told[rows[i].kind];
        if (count > 0)
            str_addf(text, "%s%s%" PRIu64 " %s%s%s", text->length > 0 ? "; " : "", rows[i].before, count, rows[i].noun,
                     units_plural(count), rows[i].behind);
    }
}

/* ---- Other sentences ---------------------------------------------------------------------------- */

void facts_text_add_cost(struct str *text, const struct aggstats_profile *profile, const struct units *units) {
    if (profile->has_cost)
        str_addf(text, "about %s more for each of %s system calls of this machine, %s for those counted",
                 units_seconds(units, (double)profile->cost_ns.each / 1e9).text, units_count(profile->cost_calls).text,
                 units_seconds(units, (double)profile->cost_ns.counted / 1e9).text);
}

void facts_text_add_exit(struct str *text, const struct aggstats_profile *profile) {
    const struct aggstats_exit *exit = &profile->exit;
    const bool are_several = profile->has_runs || profile->merged > 0;
    if (!profile->has_exit)
        return;
    if (exit->signal > 0 && exit->signal < NSIG)
        str_addf(text, "signal %" PRIu64 " (%s)", exit->signal, strsignal((int)exit->signal));
    else if (exit->signal > 0)
        str_addf(text, "signal %" PRIu64, exit->signal);
    else
        str_addf(text, "status %" PRIu64, exit->status);
    if (are_several)
        str_add(text, exit->signal > 0 || exit->status > 0 ? ", in the first run that failed" : ", in all runs");
}

/* For how much of the time the disk had something to do; 0 also if that is not known. */
static unsigned disk_busy_percent(const struct aggstats_profile *profile) {
    const double watched_ns = (double)profile->disk_ns.watched;
    return watched_ns > 0 ? (unsigned)(100 * fmin((double)profile->disk_ns.busy / watched_ns, 1) + 0.5) : 0;
}

static void add_disk(struct str *text, const struct aggstats_profile *profile) {
    const bool is_read = profile->disk_bytes.read > 0;
    if (!profile->has_disk)
        return;
    str_addf(text, "%s %s",
             units_bytes((double)(is_read ? profile->disk_bytes.read : profile->disk_bytes.written)).text,
             is_read ? "read" : "written");
    str_addf(text, ", %s by the command", units_bytes((double)profile->disk_bytes.own).text);
    if (profile->disk_other_bytes > 0)
        str_addf(text, ", %s by disk_other", units_bytes((double)profile->disk_other_bytes).text);
    if (profile->disk_ns.watched > 0)
        str_addf(text, "; busy for %u %% of the time", disk_busy_percent(profile));
}

static void put_entry(struct sheet *sheet, const char *key, struct str *text) {
    if (text->length > 0)
        sheet_entry(sheet, FORM_ENTRY, key, "%s", str_text(text));
    str_cut(text, 0);
}

void facts_text_put(struct sheet *sheet, const struct aggstats_profile *profile) {
    const struct {
        const char *key;
        const struct aggstats_bytes *bytes;
        bool is_known;
        const char *of;
    } bytes[] = {
        {"bytes", &profile->bytes_seen, profile->has_witness, ", in the calls below"},
        {"kernel", &profile->bytes_kernel, profile->has_witness, ", by the kernel's count, less the start of programs"},
        {"elsewhere", &profile->bytes_elsewhere, profile->has_elsewhere,
         ", of files that do not count here, pipes, sockets and terminals"},
    };
    const struct {
        const char *key;
        uint64_t number;
        bool is_known;
    } numbers[] = {
        {"waiting_requests", profile->waiting_requests, profile->has_waiting_requests},
        {"runs", profile->runs, profile->has_runs},
        {"merged", profile->merged, profile->merged > 0},
    };
    CLEANUP_STR struct str text = {0};
    facts_text_add_exit(&text, profile);
    put_entry(sheet, "exit", &text);
    if (profile->has_page_faults)
        sheet_entry(sheet, FORM_ENTRY, "page_faults", "%" PRIu64 " minor, %" PRIu64 " major",
                    profile->page_faults.minor, profile->page_faults.major);
    facts_text_add_not_seen(&text, profile, FACTS_TEXT_ALL_NAMES);
    put_entry(sheet, "not_seen", &text);
    facts_text_add_not_told(&text, profile);
    put_entry(sheet, "not_told", &text);
    for (size_t i = 0; i < ARRAY_SIZE(bytes); i++)
        if (bytes[i].is_known)
            sheet_entry(sheet, FORM_ENTRY, bytes[i].key, "%s read, %s written%s",
                        units_bytes((double)bytes[i].bytes->read).text,
                        units_bytes((double)bytes[i].bytes->written).text, bytes[i].of);
    add_disk(&text, profile);
    put_entry(sheet, "disk_bytes", &text);
    facts_text_add_cost(&text, profile, &sheet->units);
    put_entry(sheet, "cost", &text);
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        if (numbers[i].is_known)
            sheet_entry(sheet, FORM_ENTRY, numbers[i].key, "%" PRIu64, numbers[i].number);
}

/* ---- Outcomes of an operation -------------------------------------------------------------------- */

unsigned facts_text_commonest_failure(const struct aggstats_op_profile *op) {
    unsigned best = AGGSTATS_FAILURES;
    for (unsigned failure = 0; failure < AGGSTATS_FAILURES; failure++)
        if (op->failures[failure] > 0 && (best == AGGSTATS_FAILURES || op->failures[failure] > op->failures[best]))
            best = failure;
    return best;
}

void facts_text_put_outcome(struct sheet *sheet, const struct aggstats_op_profile *op) {
    struct aggstats_op_profile left = *op; /* failures that are not in the text yet */
    CLEANUP_STR struct str text = {0};
    if (aggstats_failed_calls(op) > 0)
        str_addf(&text, "%s failed: ", units_count(aggstats_failed_calls(op)).text);
    for (unsigned failure; (failure = facts_text_commonest_failure(&left)) < AGGSTATS_FAILURES;) {
        const bool is_first = failure == facts_text_commonest_failure(op);
        str_addf(&text, "%s%s %s", is_first ? "" : ", ", aggstats_failure_name(failure),
                 units_count(op->failures[failure]).text);
        left.failures[failure] = 0;
    }
    if (op->asked_bytes > 0 || op->moved_bytes > 0) {
        str_separate(&text, "; ");
        str_addf(&text, "%s moved", screen_firm(units_bytes((double)op->moved_bytes)).text);
        if (op->moved_bytes != op->asked_bytes)
            str_addf(&text, " of %s asked", screen_firm(units_bytes((double)op->asked_bytes)).text);
    }
    if (text.length > 0)
        sheet_sentence(sheet, 2, "%s", str_text(&text));
}

/* ---- Others at the disk --------------------------------------------------------------------------- */

/* "...; backupd (4711) with its children wrote 300 MiB into files, of this or other disks" */
bool facts_text_add_disk_others(struct str *text, const struct aggstats_profile *profile, const struct screen *screen) {
    const bool was_idle = profile->disk_ns.watched > 0 && disk_busy_percent(profile) < BUSY_MIN_PERCENT;
    const bool is_read = profile->disk_bytes.read > 0;
    const char *name = aggstats_profile_label(profile, "disk");
    const char *at = aggstats_profile_label(profile, "disk_place");
    const char *other = aggstats_profile_label(profile, "disk_other");
    const char *parent = aggstats_profile_label(profile, "disk_other_parent");
    const char *process = parent ? parent : aggstats_profile_label(profile, "disk_other_process");
    if (!profile->has_disk || profile->merged > 0 || was_idle || !at ||
        !at[0]) /* sums of profiles tell nothing of it */
        return false;
    CLEANUP_FREE char *disk = screen_cut(screen, name ? name : "", PLACE_COLUMNS, SCREEN_BEGINNING);
    CLEANUP_FREE char *place = screen_cut(screen, at, PLACE_COLUMNS, SCREEN_END);
    CLEANUP_FREE char *other_name = other ? screen_cut(screen, other, NAME_COLUMNS, SCREEN_BEGINNING) : NULL;
    CLEANUP_FREE char *number = process ? screen_cut(screen, process, NAME_COLUMNS, SCREEN_BEGINNING) : NULL;
    str_addf(text, "Meanwhile %s were %s /dev/%s, the disk of %s, mostly for others: the command %s %s",
             screen_firm(units_bytes((double)(is_read ? profile->disk_bytes.read : profile->disk_bytes.written))).text,
             is_read ? "read from" : "written to", disk ? disk : "", place ? place : "", is_read ? "read" : "wrote",
             screen_firm(units_bytes((double)profile->disk_bytes.own)).text);
    if (profile->disk_ns.watched > 0)
        str_addf(text, "; the disk was busy for %u%c%% of the time", disk_busy_percent(profile), FIRM_BLANK);
    if (other_name && number && profile->disk_other_bytes > 0)
        str_addf(text, "; %s (%s)%s %s %s%s this or other disks", other_name, number,
                 parent ? " with its children" : "", is_read ? "read" : "wrote",
                 screen_firm(units_bytes((double)profile->disk_other_bytes)).text,
                 is_read ? ", from" : " into files, of");
    return true;
}

/* ---- Callers ------------------------------------------------------------------------------------ */

/* How functions begin that are none, up to the reason, and what is said of them. */
static const struct {
    const char *begin;
    const char *words;
} others[] = {
    {"", NULL}, /* it is one */
    {"(not known: ", "an unknown function"},
    {"(none: ", "no function of its own"},
};

/* The caller that made half of an op's calls, or more. ret_calls: all of them */
static const struct aggstats_caller *find_decisive(const struct aggstats_profile *profile, const char *op,
                                                   wide_count *ret_calls) {
    const struct aggstats_caller *first = NULL;
    *ret_calls = 0;
    for (size_t i = 0; i < profile->caller_count; i++) {
        const struct aggstats_caller *caller = &profile->callers[i];
        if (strcmp(caller->op, op) != 0)
            continue;
        *ret_calls += caller->calls;
        if (caller->program[0] && (!first || caller->calls > first->calls))
            first = caller;
    }
    return first && 2 * (wide_count)first->calls >= *ret_calls ? first : NULL;
}

bool facts_text_add_callers(struct str *text, const struct aggstats_profile *profile, const char *op) {
    wide_count calls;
    const struct aggstats_caller *caller = find_decisive(profile, op, &calls);
    size_t kind = ARRAY_SIZE(others) - 1;
    if (!caller)
        return false;
    while (strncmp(caller->function, others[kind].begin, strlen(others[kind].begin)) != 0)
        kind--;
    const char *function = caller->function + strlen(others[kind].begin);
    str_addf(text, "%s of %s %s%s", units_count(caller->calls).text, units_count(calls).text, op, units_plural(calls));
    if (others[kind].words)
        str_addf(text, " of %s from %s: %.*s", caller->program, others[kind].words, (int)strcspn(function, ")"),
                 function);
    else
        str_addf(text, " from %s of %s", function, caller->program);
    return true;
}

const char *facts_text_first_called(const struct aggstats_profile *profile) {
    const char *op = NULL;
    wide_count most = 0;
    for (size_t i = 0; i < profile->caller_count; i++) {
        wide_count calls;
        if (find_decisive(profile, profile->callers[i].op, &calls) && calls > most) {
            op = profile->callers[i].op;
            most = calls;
        }
    }
    return op;
}
